package workflows

import (
	"encoding/json"
	"time"

	"go.temporal.io/sdk/log"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/hermes-orchestrator/hermes/contract"
	"github.com/hermes-orchestrator/hermes/conversation"
)

// Conversation is the workflow of one user's session (SPEC C). It ends in S5, or continues as new when its history
// has grown or a bound of messages is reached.
func Conversation(ctx workflow.Context, input conversation.ConversationInput) (conversation.ConversationResult, error) {
	r, err := setup(ctx, input)
	if err != nil {
		return conversation.ConversationResult{}, contract.ApplicationError(err)
	}
	return r.run(ctx)
}

// run is one run of a conversation: its input, its carried state, and what lives only as long as the run does.
type run struct {
	state

	input  conversation.ConversationInput
	logger log.Logger

	inbox     []inboxItem
	handled   int                            // Messages handled in this run.
	alarm     *alarm                         // The one outstanding deadline timer.
	published attributes                     // Search attributes as last written.
	opened    bool                           // The first activity has answered.
	refusals  map[string]*conversation.Reply // Of messages that were refused for a passing reason.
}

// setup restores or begins the state and registers every handler before the first await, so that no message can come
// too early.
func setup(ctx workflow.Context, input conversation.ConversationInput) (*run, error) {
	if input.SessionID == "" || input.UserID == "" {
		return nil, conversation.Errorf(conversation.CodeInvalidArgument,
			"conversation input: session_id %q and user_id must both be given", input.SessionID)
	}
	r := &run{input: input, logger: workflow.GetLogger(ctx), refusals: map[string]*conversation.Reply{}}
	if len(input.Carried) > 0 {
		if err := json.Unmarshal(input.Carried, &r.state); err != nil {
			return nil, conversation.Errorf(conversation.CodeInternal, "carried state of session %q: %w", input.SessionID, err)
		}
		r.opened = true
	} else {
		r.begin(ctx)
	}
	if err := r.handle(ctx); err != nil {
		return nil, err
	}
	r.listen(ctx)
	return r, nil
}

func (r *run) begin(ctx workflow.Context) {
	now := workflow.Now(ctx)
	r.UserHash, r.Locale, r.Zone = r.input.UserHash, r.input.Locale, r.input.Zone
	if r.Locale == "" {
		r.Locale = conversation.LocaleChinese
	}
	if r.Zone == "" {
		r.Zone = "Asia/Shanghai"
	}
	r.TraceID = traceID(workflow.GetInfo(ctx).OriginalRunID)
	r.Limits = r.input.Limits.WithDefaults()
	r.State, r.EnteredAt = conversation.StateIntent, now
	r.Path = conversation.Path{{State: conversation.StateIntent, At: now}}
}

// run handles one message or event after the other until the conversation has ended.
func (r *run) run(ctx workflow.Context) (conversation.ConversationResult, error) {
	if err := r.open(ctx); err != nil {
		return r.refuseAll(ctx, err)
	}
	for r.State != conversation.StateEnd {
		r.await(ctx)
		if err := ctx.Err(); err != nil {
			return r.result(), err // The workflow was cancelled from outside.
		}
		switch {
		case len(r.inbox) > 0:
			item := r.inbox[0]
			r.inbox = r.inbox[1:]
			r.process(ctx, item)
		default:
			r.expire(ctx)
		}
		if r.State != conversation.StateEnd && r.shouldContinueAsNew(ctx) {
			return r.continueAsNew(ctx)
		}
	}
	return r.finish(ctx)
}

// finish writes what is left to remember, answers those who came too late, and ends the workflow.
func (r *run) finish(ctx workflow.Context) (conversation.ConversationResult, error) {
	written := false
	workflow.Go(ctx, func(ctx workflow.Context) {
		r.flushAll(ctx)
		written = true
	})
	for {
		r.drain(ctx)
		for len(r.inbox) > 0 {
			item := r.inbox[0]
			r.inbox = r.inbox[1:]
			r.process(ctx, item)
		}
		// Handlers of update converse return in coroutines of their own: leaving before them would lose their answer.
		err := workflow.Await(ctx, func() bool { return (written && workflow.AllHandlersFinished(ctx)) || len(r.inbox) > 0 })
		if err != nil {
			return r.result(), err
		}
		if len(r.inbox) == 0 && !r.drain(ctx) {
			break
		}
	}
	r.logger.Info("conversation ended", "path", r.Path.String(), "outcome", string(r.Outcome), "trace_id", r.TraceID)
	return r.result(), nil
}

func (r *run) result() conversation.ConversationResult {
	return conversation.ConversationResult{
		SessionID: r.input.SessionID, Outcome: r.Outcome, Path: r.Path.String(), TraceID: r.TraceID, Revision: r.Revision,
	}
}

// open asks for what a new conversation must know. An error that will not go away (unknown flow) ends it.
func (r *run) open(ctx workflow.Context) error {
	if r.opened {
		return nil
	}
	cy := r.openCycle(ctx, nil)
	defer r.closeCycle(cy)
	var opened conversation.Opened
	err := r.local(cy.ctx, cy, conversation.ActivityOpen, contract.ComponentDispatcher,
		conversation.OpenRequest{Input: r.input}, &opened,
		workflow.LocalActivityOptions{ScheduleToCloseTimeout: 10 * time.Minute, StartToCloseTimeout: 5 * time.Second})
	if err != nil {
		return err
	}
	r.Flows, r.opened = opened.Flows, true
	if r.UserHash == "" {
		r.UserHash = opened.UserHash
	}
	if r.input.Flow != "" && len(r.Flows) == 1 {
		r.Flow = r.Flows[0]
	}
	r.publishAttributes(cy.ctx)
	return nil
}

// refuseAll answers everyone who is waiting with err and ends the workflow with it.
func (r *run) refuseAll(ctx workflow.Context, err error) (conversation.ConversationResult, error) {
	refusal := contract.FromTemporal(err)
	r.drain(ctx)
	for _, item := range r.inbox {
		r.settle(item, r.refused(item.message, refusal))
	}
	r.inbox = nil
	if err := workflow.Await(ctx, func() bool { return workflow.AllHandlersFinished(ctx) }); err != nil {
		return r.result(), err
	}
	return r.result(), temporal.NewNonRetryableApplicationError(refusal.Message, string(refusal.Code), nil)
}
