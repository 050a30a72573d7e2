package workflows

import (
	"slices"
	"strings"

	"github.com/hermes-orchestrator/hermes/conversation"
)

// findingToolFailed begins the id of a finding that stands for a tool without an answer.
const findingToolFailed = "tool_failed:"

// validateNow runs S3 with what is known. It must be called in S3.
func (r *run) validateNow(cy *cycle) {
	r.judge(cy, r.phase(cy, r.planRequest(cy, conversation.PhaseValidate)))
}

// validate leads back into S3 and runs it.
func (r *run) validate(cy *cycle, request conversation.PlanRequest) {
	r.transition(cy, conversation.EventRevalidate, "checks run again")
	r.Case.Findings = slices.DeleteFunc(r.Case.Findings, func(f conversation.Finding) bool {
		return strings.HasPrefix(f.ID, findingToolFailed)
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
	if strings.HasPrefix(finding.ID, findingToolFailed) {
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

func isFatal(f conversation.Finding) bool { return f.Kind == conversation.FindingFatal }

func (r *run) hasFatal() bool { return slices.ContainsFunc(r.Case.Findings, isFatal) }
