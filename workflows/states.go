package workflows

import (
	"slices"
	"strings"

	"go.temporal.io/sdk/workflow"

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

// validateNow runs S3 with what is known. It must be called in S3.
func (r *run) validateNow(cy *cycle) {
	r.judge(cy, r.phase(cy, r.planRequest(cy, conversation.PhaseValidate)))
}

// validate leads back into S3 and runs it.
func (r *run) validate(cy *cycle, request conversation.PlanRequest) {
	r.transition(cy, conversation.EventRevalidate, "checks run again")
	r.Case.Findings = slices.DeleteFunc(r.Case.Findings, func(f conversation.Finding) bool {
		return strings.HasPrefix(f.ID, "tool_failed:") || f.ID == "time_limit"
	})
	request.Case = r.Case
	r.judge(cy, r.phase(cy, request))
}

// judge leads from S3 (or from an accepted review) to where the findings point.
func (r *run) judge(cy *cycle, result phaseResult) {
	if result.err != nil {
		if r.State != conversation.StateValidation {
			cy.reply = r.refused(cy.message, result.err)
			return
		}
		// S3 has no wait of its own: S3.1 has, and offers to try again.
		r.transition(cy, conversation.EventToolFailed, string(result.err.Code))
		r.reply(cy, conversation.ReplyRequest{Kind: conversation.ReplyToolFailed, Failed: &conversation.FailedStep{
			Code: result.err.Code, Reason: result.err.Message,
		}})
		return
	}
	if fatal := slices.IndexFunc(r.Case.Findings, isFatal); fatal >= 0 {
		r.transition(cy, conversation.EventValidationFailed, "fatal finding "+r.Case.Findings[fatal].ID)
		r.reply(cy, conversation.ReplyRequest{
			Kind: conversation.ReplyFailed, About: r.Case.Findings[fatal].ID,
			Findings: r.Case.Findings,
		})
		return
	}
	if r.waitsFor(conversation.PhaseValidate) {
		r.transition(cy, conversation.EventReviewNeeded, "a check is not answered yet")
		r.processing(cy, result.estimated)
		return
	}
	if open := r.Case.OpenReviews(); len(open) > 0 {
		event, reason := conversation.EventReviewNeeded, "a person must decide: "+open[0].ID
		switch {
		case r.State == conversation.StateReview:
		case result.timedOut:
			event, reason = conversation.EventTimeLimit, "validation took longer than its limit"
		case result.broke != nil:
			event, reason = conversation.EventToolFailed, result.broke.Component+": "+string(result.broke.Code)
		}
		r.transition(cy, event, reason)
		r.askReview(cy, open[0], result)
		return
	}
	if r.State == conversation.StateReview {
		r.transition(cy, conversation.EventReviewAccepted, "the user accepted what was to be reviewed")
	} else {
		r.transition(cy, conversation.EventValidated, "all checks done")
	}
	r.askConfirmation(cy, result.plan.Digest)
}

func (r *run) askReview(cy *cycle, finding conversation.Finding, result phaseResult) {
	request := conversation.ReplyRequest{Kind: conversation.ReplyReview, About: finding.ID, Findings: r.Case.Findings}
	if strings.HasPrefix(finding.ID, "tool_failed:") || finding.ID == "time_limit" {
		request.Kind, request.Failed = conversation.ReplyToolFailed, first(result.failed, nil)
	}
	r.reply(cy, request)
}

// inReview handles S3.1: only an explicit answer decides (SPEC C2).
func (r *run) inReview(cy *cycle, u conversation.Understanding) {
	open := r.Case.OpenReviews()
	switch {
	case len(cy.message.Attachments) > 0, u.Event == conversation.EventReviewRejected:
		clear := u.Clear
		r.transition(cy, conversation.EventReviewRejected, "the user sends something else")
		if len(cy.message.Attachments) > 0 {
			r.transition(cy, conversation.EventMaterialReceived, arrival(cy.message))
		}
		request := r.planRequest(cy, conversation.PhaseInspect)
		request.Clear = clear
		if len(open) > 0 {
			request.Clear = append(request.Clear, "finding:"+open[0].ID)
		}
		r.collect(cy, request)
	case r.waitsFor(conversation.PhaseValidate):
		r.processing(cy, "")
	case u.Choice == conversation.ChoiceRetry:
		r.validate(cy, r.planRequest(cy, conversation.PhaseValidate))
	case u.Event == conversation.EventReviewAccepted && len(open) > 0 && r.Asked == conversation.ReplyReview:
		request := r.planRequest(cy, conversation.PhaseValidate)
		request.Accept = open[0].ID
		if r.AskedOf != "" {
			request.Accept = r.AskedOf
		}
		r.judge(cy, r.phase(cy, request))
	case u.Event == conversation.EventContinue && len(open) > 0:
		r.transition(cy, conversation.EventContinue, "the user goes on")
		r.askReview(cy, open[0], phaseResult{})
	case len(open) > 0:
		r.askReview(cy, open[0], phaseResult{})
	default: // A late answer has removed what was to be reviewed.
		r.judge(cy, r.phase(cy, r.planRequest(cy, conversation.PhaseValidate)))
	}
}

// inConfirmation handles S4: nothing shown changes without a new confirmation.
func (r *run) inConfirmation(cy *cycle, u conversation.Understanding) {
	offered := r.Asked == conversation.ReplyCancelOffer
	switch {
	case len(cy.message.Attachments) > 0:
		r.transition(cy, conversation.EventModify, "new files")
		r.transition(cy, conversation.EventMaterialReceived, arrival(cy.message))
		request := r.planRequest(cy, conversation.PhaseInspect)
		request.Clear = slices.Concat(u.Clear, []string{"phase:validate"})
		r.collect(cy, request)
	case u.Event == conversation.EventModify:
		r.transition(cy, conversation.EventModify, "the user wants to change "+strings.Join(u.Clear, ", "))
		request := r.planRequest(cy, conversation.PhaseInspect)
		request.Clear = slices.Concat(u.Clear, []string{"phase:validate"})
		if len(u.Clear) == 0 {
			if _, err := r.plan(cy, request); err != nil {
				cy.reply = r.refused(cy.message, err)
				return
			}
			r.reply(cy, conversation.ReplyRequest{Kind: conversation.ReplyModify})
			return
		}
		r.collect(cy, request)
	case offered && (u.Event == conversation.EventContinue || u.Choice == conversation.ChoiceGoOn):
		r.transition(cy, conversation.EventContinue, "the user goes on")
		if len(r.Pending) > 0 {
			r.processing(cy, "")
			return
		}
		r.goOnCollecting(cy)
	case offered:
		r.reply(cy, conversation.ReplyRequest{Kind: conversation.ReplyCancelOffer})
	case u.Choice == conversation.ChoiceConfirm && r.Asked == conversation.ReplyConfirmation:
		r.commit(cy)
	case r.declare(u.Facts):
		request := r.planRequest(cy, conversation.PhaseValidate)
		request.Clear = []string{"phase:validate"}
		r.validate(cy, request)
	default:
		r.showConfirmation(cy)
	}
}

// showConfirmation shows again what the receipt is for. Without one (the first time it could not be shown) the checks
// run again and issue a new one.
func (r *run) showConfirmation(cy *cycle) {
	if r.Receipt == nil {
		r.validate(cy, r.planRequest(cy, conversation.PhaseValidate))
		return
	}
	r.reply(cy, conversation.ReplyRequest{Kind: conversation.ReplyConfirmation, Findings: r.Case.Findings})
}

// askConfirmation issues the approval receipt over what is shown and asks.
func (r *run) askConfirmation(cy *cycle, digest string) {
	r.Receipt = &receipt{ID: "receipt-" + cy.id, Digest: digest, ExpiresAt: r.Deadline}
	if r.OpenKey != "" {
		r.Receipt.ID = r.OpenKey // The tool knows by it what it did: it answers that, and does nothing twice.
	}
	r.reply(cy, conversation.ReplyRequest{Kind: conversation.ReplyConfirmation, Findings: r.Case.Findings})
}

// commit executes what was confirmed, once: the receipt's id is the key of the effect.
func (r *run) commit(cy *cycle) {
	request := r.planRequest(cy, conversation.PhaseCommit)
	p, err := r.plan(cy, request)
	if err != nil {
		cy.reply = r.refused(cy.message, err)
		return
	}
	// Late by the server's clock and by the sender's: such a click never executes.
	late := r.Receipt != nil && workflow.Now(cy.ctx).After(r.Receipt.ExpiresAt) && cy.now.After(r.Receipt.ExpiresAt)
	if len(r.Missing) > 0 || len(r.Pending) > 0 || len(r.Case.OpenReviews()) > 0 || r.hasFatal() {
		// Something has turned up since it was shown.
		r.validate(cy, r.planRequest(cy, conversation.PhaseValidate))
		return
	}
	if r.Receipt == nil || r.Receipt.Used || late || p.Digest == "" || r.Receipt.Digest != p.Digest {
		r.transition(cy, conversation.EventReissued, "what was shown is not what would be done")
		r.askConfirmation(cy, p.Digest)
		return
	}
	if cy.ledger.NeedsRecall() {
		r.recall(cy.ctx, cy)
	}
	if cy.ledger.NeedsRecall() || memoryDown(cy.degraded) {
		// A writing tool is not called while memory cannot be asked (SPEC P2). The receipt stays good.
		r.showConfirmation(cy)
		return
	}
	r.Receipt.Used = true
	key, reopened := r.Receipt.ID, r.OpenKey != ""
	result := r.drive(cy, request, p, key)
	if uncertain := result.err != nil || len(result.failed) > 0 || r.waitsFor(conversation.PhaseCommit); uncertain {
		r.OpenKey = key
	}
	switch {
	case result.err != nil:
		// The flow cannot go on from the answer; whether the effect took place is told by the ledger.
		r.transition(cy, conversation.EventCommitFailed, string(result.err.Code))
		r.reply(cy, conversation.ReplyRequest{Kind: conversation.ReplyUnknown, Key: key})
	case result.broke != nil && !reopened && len(cy.ledger.TookEffect()) == 0 && allRefused(result.failed):
		// The tool itself says, signed, that it did nothing. Under a key that was used before it says that only of
		// this attempt, and the outcome of the first stays open.
		r.OpenKey = ""
		r.transition(cy, conversation.EventCommitFailed, result.broke.Reason)
		r.reply(cy, conversation.ReplyRequest{
			Kind: conversation.ReplyFailed, Failed: first(result.failed, nil),
			Findings: r.Case.Findings,
		})
	case result.broke != nil || len(result.failed) > 0 || r.waitsFor(conversation.PhaseCommit):
		r.transition(cy, conversation.EventCommitFailed, "outcome unknown, key "+key)
		r.reply(cy, conversation.ReplyRequest{Kind: conversation.ReplyUnknown, Key: key, Failed: first(result.failed, nil)})
	default:
		r.OpenKey = ""
		r.transition(cy, conversation.EventCommitted, "executed once, key "+key)
		r.reply(cy, conversation.ReplyRequest{Kind: conversation.ReplyCommitted, Key: key})
	}
}

// stopped says so when a phase broke or could not be planned, and has answered the user then.
func (r *run) stopped(cy *cycle, result phaseResult) bool {
	switch {
	case result.err != nil:
		cy.reply = r.refused(cy.message, result.err)
		return true
	case result.broke != nil && result.plan.Manual == "":
		r.transition(cy, conversation.EventToolFailed, result.broke.Component+": "+string(result.broke.Code))
		r.reply(cy, conversation.ReplyRequest{Kind: conversation.ReplyToolFailed, Failed: first(result.failed, nil)})
		return true
	}
	return false
}

func isFatal(f conversation.Finding) bool { return f.Kind == conversation.FindingFatal }

func (r *run) hasFatal() bool { return slices.ContainsFunc(r.Case.Findings, isFatal) }

// allRefused reports whether every failed call was refused by its tool; one that was cancelled or timed out may have
// taken effect.
func allRefused(failed []conversation.FailedStep) bool {
	return !slices.ContainsFunc(failed, func(f conversation.FailedStep) bool {
		return f.Code != conversation.CodeToolRefused
	})
}

// memoryDown reports whether a tier could not be asked.
func memoryDown(degraded []conversation.Degraded) bool {
	return slices.ContainsFunc(degraded, func(d conversation.Degraded) bool {
		return strings.HasPrefix(d.Component, "memory:")
	})
}

func first(lists ...[]conversation.FailedStep) *conversation.FailedStep {
	for _, list := range lists {
		if len(list) > 0 {
			return &list[0]
		}
	}
	return nil
}
