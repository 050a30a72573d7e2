package flow

import (
	"fmt"
	"slices"
	"strings"
	"text/template"
	"time"

	"github.com/hermes-orchestrator/hermes/conversation"
)

// Render writes a reply. It reads facts from the snapshot of the request and from nowhere else (SPEC G): what a tool,
// a queue or a cache may hold meanwhile cannot reach the user.
func (f *Flow) Render(request conversation.ReplyRequest) (conversation.Rendered, error) {
	r := &rendering{flow: f, request: request, locale: f.locale(request.Reply.Locale)}
	return r.render()
}

// RenderCore writes a reply of a conversation that has no flow yet. titles are what it can be about.
func RenderCore(request conversation.ReplyRequest, titles []string) (conversation.Rendered, error) {
	r := &rendering{request: request, locale: request.Reply.Locale, titles: titles}
	return r.render()
}

// locale is the requested one, or the flow's first: half a reply in another language would be worse.
func (f *Flow) locale(wanted string) string {
	if slices.Contains(f.locales, wanted) {
		return wanted
	}
	return f.locales[0]
}

type rendering struct {
	flow    *Flow // nil without a flow.
	request conversation.ReplyRequest
	locale  string
	titles  []string
	core    *catalog
}

func (r *rendering) render() (conversation.Rendered, error) {
	core, err := catalogOf(r.locale)
	if err != nil {
		return conversation.Rendered{}, err
	}
	r.core = core
	text, err := r.text()
	if err != nil {
		return conversation.Rendered{}, conversation.Errorf(conversation.CodeInvalidFlow, "reply %q in %q: %w", r.request.Kind, r.locale, err)
	}
	lines := append([]string{text}, r.notices()...)
	return conversation.Rendered{Text: strings.Join(lines, "\n"), Options: r.options()}, nil
}

// text is the reply itself.
func (r *rendering) text() (string, error) {
	kind := string(r.request.Kind)
	var t *template.Template
	if r.flow != nil {
		t = r.flow.texts[kind][r.locale]
		if r.request.Kind == conversation.ReplyConfirmation {
			t = r.flow.confirmation[r.locale]
		}
	}
	if t == nil {
		t = r.core.texts[kind]
	}
	if t == nil {
		return "", fmt.Errorf("there is no text of this kind")
	}
	view, err := r.view()
	if err != nil {
		return "", err
	}
	var b strings.Builder
	if err := t.Execute(&b, view); err != nil {
		return "", err
	}
	return b.String(), nil
}

// view is what templates may show.
func (r *rendering) view() (map[string]any, error) {
	facts := map[string]any{}
	for _, fact := range r.request.Snapshot.Facts {
		value, err := fromJSON(fact.Value)
		if err != nil {
			return nil, fmt.Errorf("fact %q: %w", fact.Name, err)
		}
		facts[fact.Name] = value
	}
	view := map[string]any{
		"facts": facts, "warnings": r.warnings(true), "missing": r.labels(r.request.Missing), "manual": r.manual(),
		"estimated": r.request.Reply.EstimatedTime, "key": r.request.Key, "flows": r.titles,
		"reasons": r.texts(conversation.FindingFatal, ""), "unusable": r.texts(conversation.FindingWarning, findingUnusable),
		"failed": "", "failed_tool": "", "offer_title": "", "offer_summary": "", "about": "",
	}
	if failed := r.request.Failed; failed != nil {
		view["failed"], view["failed_tool"] = failed.Reason, failed.Tool
	}
	if offer := r.request.Offer; offer != nil {
		view["offer_title"], view["offer_summary"] = offer.Flow.ID, offer.Summary
		if r.flow != nil && r.flow.ref.ID == offer.Flow.ID {
			view["offer_title"] = r.flow.Title(r.locale)
		}
	}
	about, err := r.about(facts)
	if err != nil {
		return nil, err
	}
	view["about"] = about
	return view, nil
}

// about is the question of a review, asked in the reply's locale from the snapshot's facts.
func (r *rendering) about(facts map[string]any) (string, error) {
	if r.request.Kind != conversation.ReplyReview || r.flow == nil {
		return "", nil
	}
	if def := r.flow.finding(r.request.About); def != nil {
		return renderFinding(def, r.locale, facts)
	}
	for _, f := range r.request.Findings {
		if f.ID == r.request.About {
			return r.core.notice(noticeCannotCheck, strings.TrimPrefix(f.ID, findingCannotCheck)), nil
		}
	}
	return "", fmt.Errorf("there is no finding %q", r.request.About)
}

// labels names materials for people.
func (r *rendering) labels(materials []string) []string {
	labels := []string{}
	for _, name := range materials {
		label := name
		if r.flow != nil {
			for _, m := range r.flow.def.Materials {
				if m.Name == name {
					label = m.Label.in(r.locale)
				}
			}
		}
		labels = append(labels, label)
	}
	return labels
}

// manual names the figures that are asked for instead of the missing materials.
func (r *rendering) manual() []string {
	labels := []string{}
	if r.flow == nil {
		return labels
	}
	for _, m := range r.flow.def.Materials {
		if !slices.Contains(r.request.Missing, m.Name) {
			continue
		}
		for _, field := range m.Manual {
			labels = append(labels, field.Label.in(r.locale))
		}
	}
	return labels
}

// texts are the findings of a kind: in the reply's locale where the flow wrote them, unchanged where a tool did.
func (r *rendering) texts(kind conversation.FindingKind, prefix string) []string {
	list := []string{}
	for _, f := range r.request.Findings {
		if f.Kind == kind && strings.HasPrefix(f.ID, prefix) {
			list = append(list, f.Text)
		}
	}
	return list
}

// warnings are the tools' warnings; in their short form where the flow has one and it is wanted.
func (r *rendering) warnings(short bool) []string {
	list := []string{}
	for _, f := range r.request.Findings {
		if f.Kind != conversation.FindingWarning || strings.HasPrefix(f.ID, findingUnusable) {
			continue
		}
		text := f.Text
		if r.flow != nil && short {
			for _, w := range r.flow.warnings {
				if w.match.MatchString(text) {
					text = w.short.in(r.locale)
					break
				}
			}
		}
		if !slices.Contains(list, text) {
			list = append(list, text)
		}
	}
	return list
}

// notices are lines below the reply: full warnings, what is degraded, what was to be remembered.
func (r *rendering) notices() []string {
	var lines []string
	switch r.request.Kind {
	case conversation.ReplyConfirmation:
		shorts := r.warnings(true)
		for _, full := range r.warnings(false) {
			if !slices.Contains(shorts, full) {
				lines = append(lines, r.core.notice(noticeWarning, full))
			}
		}
	case conversation.ReplyMaterials, conversation.ReplyReview, conversation.ReplyManual, conversation.ReplyResumeOffer, conversation.ReplyUnclear:
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
	tool := strings.TrimPrefix(d.Component, "tool:")
	data := map[string]any{"tool": tool, "as_of": r.clock(d.AsOf)}
	if r.flow != nil && d.AsOf != "" {
		for i := range r.flow.steps {
			s := &r.flow.steps[i]
			if t := s.degraded[r.locale]; t != nil && s.Tool == tool {
				var b strings.Builder
				if t.Execute(&b, data) == nil {
					return b.String()
				}
			}
		}
	}
	if d.AsOf == "" {
		return r.core.notice(noticeDegradedUnknown, data)
	}
	return r.core.notice(noticeDegraded, data)
}

// clock writes a time of day in the user's zone, with the date when it is not of the same day as the snapshot.
func (r *rendering) clock(asOf string) string {
	at, err := time.Parse(time.RFC3339Nano, asOf)
	if err != nil {
		return asOf
	}
	if zone, err := time.LoadLocation(r.request.Zone); err == nil {
		at = at.In(zone)
		if at.Format(time.DateOnly) != r.request.Snapshot.EnteredAt.In(zone).Format(time.DateOnly) {
			return at.Format("2006-01-02 15:04")
		}
	}
	return at.Format("15:04")
}

func (r *rendering) options() []conversation.Option {
	ids := optionsOf(r.request.Kind)
	options := make([]conversation.Option, 0, len(ids))
	for _, id := range ids {
		label := r.core.options[id]
		if r.request.Kind == conversation.ReplyReview && r.flow != nil {
			if def := r.flow.finding(r.request.About); def != nil {
				if own := def.Options[id].in(r.locale); own != "" {
					label = own
				}
			}
		}
		options = append(options, conversation.Option{ID: id, Label: label})
	}
	return options
}
