package workflows

import (
	"github.com/hermes-orchestrator/hermes/conversation"
)

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

func first(lists ...[]conversation.FailedStep) *conversation.FailedStep {
	for _, list := range lists {
		if len(list) > 0 {
			return &list[0]
		}
	}
	return nil
}
