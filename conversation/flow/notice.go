package flow

import (
	"slices"
	"strings"
	"time"

	"github.com/hermes-orchestrator/hermes/conversation"
)

// notices are lines below the reply: full warnings, what is degraded, what was to be remembered.
func (r *rendering) notices() []string {
	var lines []string
	switch r.request.Kind {
	case conversation.ReplyConfirmation:
		shorts := r.warnings(r.facts, true)
		for _, full := range r.warnings(r.facts, false) {
			if !slices.Contains(shorts, full) {
				lines = append(lines, r.core.notice(noticeWarning, full))
			}
		}
	case conversation.ReplyMaterials,
		conversation.ReplyReview,
		conversation.ReplyManual,
		conversation.ReplyResumeOffer,
		conversation.ReplyUnclear:
	default:
		return r.reminders(lines)
	}
	for _, d := range r.request.Reply.Degraded {
		if line := r.degraded(d); line != "" {
			lines = append(lines, line)
		}
	}
	return r.reminders(lines)
}

func (r *rendering) reminders(lines []string) []string {
	for _, reminder := range r.request.Reminders {
		lines = append(lines, r.core.notice(noticeReminder, reminder))
	}
	return lines
}

// degraded is the notice of one degraded component, in the words of the flow where it has some (SPEC T3).
func (r *rendering) degraded(d conversation.Degraded) string {
	if strings.HasPrefix(d.Component, "memory:") {
		return r.core.notice(noticeMemory, nil)
	}
	view := map[string]any{"label": "", "as_of": ""}
	if at, err := time.Parse(time.RFC3339Nano, d.AsOf); err == nil {
		view["as_of"] = clock(at, r.request.Zone, r.request.Snapshot.EnteredAt)
	}
	if s := r.degradedStep(d); s != nil {
		view["label"] = s.Label.in(r.locale)
		if t := s.degraded[r.locale]; t != nil && view["as_of"] != "" {
			if text, err := execute(t, view); err == nil {
				return text
			}
		}
	}
	switch {
	case view["as_of"] != "":
		return r.core.notice(noticeDegraded, view)
	case d.Strategy == "absent":
		return r.core.notice(noticeDegradedAbsent, view)
	}
	return r.core.notice(noticeDegradedOther, view)
}

// degradedStep is the step whose answer was degraded.
func (r *rendering) degradedStep(d conversation.Degraded) *step {
	if r.flow == nil {
		return nil
	}
	return r.flow.step(d.Step)
}
