package workflows

import (
	"slices"
	"strings"

	"github.com/hermes-orchestrator/hermes/conversation"
)

func (r *run) uninspected() bool {
	return slices.ContainsFunc(r.Case.Materials, func(m conversation.Material) bool { return !m.Inspected })
}

// inMaterials handles S2: collect what is missing.
func (r *run) inMaterials(cy *cycle, u conversation.Understanding) {
	if u.Event == conversation.EventGaveUp {
		r.transition(cy, conversation.EventGaveUp, "the user cannot deliver the materials")
		r.reply(cy, conversation.ReplyRequest{Kind: conversation.ReplyCancelOffer})
		return
	}
	changed := r.declare(u.Facts)
	received := len(cy.message.Attachments) > 0 || (changed && r.Asked == conversation.ReplyManual)
	retry := u.Choice == conversation.ChoiceRetry
	switch {
	case received:
		r.transition(cy, conversation.EventMaterialReceived, arrival(cy.message))
	case u.Event == conversation.EventContinue:
		r.transition(cy, conversation.EventContinue, "the user goes on")
		if r.Asked == conversation.ReplyUnread {
			r.leaveOut()
		}
		r.goOnCollecting(cy)
		return
	case !retry && !changed && len(u.Clear) == 0:
		if len(r.Pending) > 0 {
			r.processing(cy, "")
			return
		}
		if len(r.Missing) == 0 && r.Asked != conversation.ReplyUnread {
			r.goOnCollecting(cy) // Nothing was changed and nothing is missing: back to the checks.
			return
		}
		kind := conversation.ReplyMaterials
		if r.Asked == conversation.ReplyManual || r.Asked == conversation.ReplyUnread {
			kind = r.Asked
		}
		r.reply(cy, conversation.ReplyRequest{Kind: kind, About: r.AskedOf, Missing: r.Missing})
		return
	}
	request := r.planRequest(cy, conversation.PhaseInspect)
	request.Clear = u.Clear
	r.collect(cy, request)
}

// goOnCollecting asks for what is missing, or goes on to the checks when nothing is.
func (r *run) goOnCollecting(cy *cycle) {
	if len(r.Missing) > 0 {
		r.reply(cy, conversation.ReplyRequest{Kind: conversation.ReplyMaterials, Missing: r.Missing})
		return
	}
	r.collect(cy, r.planRequest(cy, conversation.PhaseInspect))
}

// leaveOut makes unread uploads count as inspected: the user has decided to go on without them.
func (r *run) leaveOut() {
	for i := range r.Case.Materials {
		r.Case.Materials[i].Inspected = true
	}
}

func arrival(m *conversation.UserMessage) string {
	if len(m.Attachments) > 0 {
		return "received " + strings.Join(fileNames(m), ", ")
	}
	return "received figures"
}

// collect inspects what has arrived and goes on to S3 as soon as nothing is missing.
func (r *run) collect(cy *cycle, request conversation.PlanRequest) {
	result := r.phase(cy, request)
	if r.stopped(cy, result) {
		return
	}
	if r.uninspected() && result.plan.Unread == 0 && result.plan.Manual == "" && !r.waitsFor(conversation.PhaseInspect) {
		// Uploads that came while a tool was still busy with earlier ones have their turn now.
		if result = r.phase(cy, r.planRequest(cy, conversation.PhaseInspect)); r.stopped(cy, result) {
			return
		}
	}
	switch {
	case result.plan.Unread > 0:
		r.reply(cy, conversation.ReplyRequest{Kind: conversation.ReplyUnread, Failed: first(result.failed, request.Failed)})
	case len(r.Pending) > 0:
		r.processing(cy, result.estimated)
	case result.plan.Manual != "":
		r.reply(cy, conversation.ReplyRequest{
			Kind: conversation.ReplyManual, About: result.plan.Manual, Missing: r.Missing,
			Failed: first(result.failed, request.Failed),
		})
	case len(r.Missing) > 0:
		kind := conversation.ReplyMaterials
		if unusable := r.unusable(); len(unusable) > 0 {
			kind = conversation.ReplyNotUsable
		}
		r.reply(cy, conversation.ReplyRequest{Kind: kind, Missing: r.Missing, Findings: r.Case.Findings})
	default:
		r.transition(cy, conversation.EventMaterialsComplete, "nothing is missing")
		r.validateNow(cy)
	}
}

func (r *run) unusable() []conversation.Finding {
	var list []conversation.Finding
	for _, f := range r.Case.Findings {
		if strings.HasPrefix(f.ID, "unusable:") {
			list = append(list, f)
		}
	}
	return list
}
