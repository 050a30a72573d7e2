package workflows

import (
	"encoding/json"

	"go.temporal.io/sdk/workflow"

	"github.com/hermes-orchestrator/hermes/conversation"
)

// shouldContinueAsNew says whether the run has grown enough. It is only asked between cycles.
func (r *run) shouldContinueAsNew(ctx workflow.Context) bool {
	if r.input.MaxMessages > 0 && r.handled >= r.input.MaxMessages {
		return true
	}
	return workflow.GetInfo(ctx).GetContinueAsNewSuggested()
}

// continueAsNew hands everything over: handlers have returned, channels are drained, and what they held is answered in
// this run before the state is carried.
func (r *run) continueAsNew(ctx workflow.Context) (conversation.ConversationResult, error) {
	for {
		for len(r.inbox) > 0 && r.State != conversation.StateEnd {
			item := r.inbox[0]
			r.inbox = r.inbox[1:]
			r.process(ctx, item)
		}
		if r.State == conversation.StateEnd {
			return r.finish(ctx)
		}
		err := workflow.Await(ctx, func() bool { return workflow.AllHandlersFinished(ctx) || len(r.inbox) > 0 })
		if err != nil {
			return r.result(), err
		}
		if len(r.inbox) == 0 && !r.drain(ctx) && len(r.inbox) == 0 {
			break
		}
	}
	carried, err := json.Marshal(r.state)
	if err != nil {
		return r.result(), conversation.Errorf(conversation.CodeInternal,
			"carry state of session %q: %w", r.input.SessionID, err)
	}
	input := r.input
	input.Carried = carried
	return conversation.ConversationResult{}, workflow.NewContinueAsNewError(ctx, Conversation, input)
}
