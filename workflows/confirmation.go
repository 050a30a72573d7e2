package workflows

import (
	"slices"
	"strings"

	"go.temporal.io/sdk/workflow"

	"github.com/hermes-orchestrator/hermes/conversation"
)

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
