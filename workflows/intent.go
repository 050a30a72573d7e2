package workflows

import (
	"github.com/hermes-orchestrator/hermes/conversation"
)

// inIntent handles S1: what does the user want?
func (r *run) inIntent(cy *cycle, u conversation.Understanding) {
	if r.Asked == conversation.ReplyResumeOffer && r.Offer != nil {
		switch u.Choice {
		case conversation.ChoiceResume:
			r.resume(cy)
			return
		case conversation.ChoiceRestart:
			cy.writes = append(cy.writes, conversation.Write{Kind: conversation.WriteFinished, Name: r.Offer.SessionID})
			r.Offer = nil
			r.prepare(cy)
			return
		}
		if u.Intent == "" {
			r.reply(cy, conversation.ReplyRequest{Kind: conversation.ReplyResumeOffer, Offer: r.Offer})
			return
		}
	}
	if r.Case.Intent != "" &&
		(u.Choice == conversation.ChoiceRetry || (u.Intent == "" && r.Asked == conversation.ReplyToolFailed)) {
		r.prepare(cy)
		return
	}
	if u.Intent == "" {
		r.Unclear++
		if r.Unclear > 1 {
			r.transition(cy, conversation.EventIntentAbandoned, "the intent stayed unclear after asking")
			r.reply(cy, conversation.ReplyRequest{Kind: conversation.ReplyAbandoned})
			return
		}
		r.transition(cy, conversation.EventIntentUnclear, "no flow claims the sentence")
		r.reply(cy, conversation.ReplyRequest{Kind: conversation.ReplyUnclear})
		return
	}
	r.Flow, r.Case.Intent = u.Flow, u.Intent
	r.declare(u.Facts)
	if r.Offer != nil && !r.Offered && r.Offer.Flow.ID == r.Flow.ID {
		r.Offered = true
		r.reply(cy, conversation.ReplyRequest{Kind: conversation.ReplyResumeOffer, Offer: r.Offer})
		return
	}
	r.prepare(cy)
}

// resume takes over an unfinished flow: its facts and uploads, none of its checks.
func (r *run) resume(cy *cycle) {
	declared := r.Case
	r.Flow, r.Case, r.Summary = r.Offer.Flow, r.Offer.Case.Clone(), r.Offer.Summary
	for _, f := range declared.Facts {
		if _, known := r.Case.Fact(f.Name); !known {
			r.Case.SetFact(f)
		}
	}
	r.Case.Materials = append(r.Case.Materials, declared.Materials...)
	r.OpenKey = r.Offer.OpenKey
	r.Case.Findings = nil
	cy.writes = append(cy.writes, conversation.Write{Kind: conversation.WriteFinished, Name: r.Offer.SessionID})
	r.Offer = nil
	// What tools once said of budgets and rules may have changed: the flow asks them again.
	r.Case.Done = nil
	r.prepare(cy)
}

// prepare runs the calls that need no material, and leaves S1.
func (r *run) prepare(cy *cycle) {
	result := r.phase(cy, r.planRequest(cy, conversation.PhasePrepare))
	if r.stopped(cy, result) {
		return
	}
	if len(r.Missing) == 0 && !r.uninspected() {
		r.transition(cy, conversation.EventMaterialsComplete, "intent "+r.Case.Intent+", nothing is missing")
		r.validateNow(cy)
		return
	}
	r.transition(cy, conversation.EventIntentRecognized, "intent "+r.Case.Intent+", materials are missing")
	if r.uninspected() {
		r.transition(cy, conversation.EventMaterialReceived, "files came with the first message")
		r.collect(cy, r.planRequest(cy, conversation.PhaseInspect))
		return
	}
	r.reply(cy, conversation.ReplyRequest{Kind: conversation.ReplyMaterials, Missing: r.Missing})
}
