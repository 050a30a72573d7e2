package activities

import (
	"context"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"

	"github.com/hermes-orchestrator/hermes/contract"
	"github.com/hermes-orchestrator/hermes/conversation"
	"github.com/hermes-orchestrator/hermes/tool"
)

// Invoker calls tools.
type Invoker interface {
	Invoke(ctx context.Context, request tool.Request) (conversation.Answer, error)
	Fallback(ctx context.Context, request tool.Request, reason string) (conversation.Answer, error)
	VerifyCompletion(completion conversation.Completion) (conversation.Answer, error)
}

// Invoking makes tool calls: the tool itself, its fallback, and the check of an answer that came later.
type Invoking struct{ tools Invoker }

// NewInvoking returns the activities.
func NewInvoking(tools Invoker) *Invoking { return &Invoking{tools: tools} }

// heartbeatEvery is well below the heartbeat timeout that the workflow sets.
const heartbeatEvery = time.Second

// InvokeTool makes one attempt of a call. Retries are Temporal's; the cancellation of its cycle reaches the tool as a
// closed request.
func (i *Invoking) InvokeTool(ctx context.Context, e contract.Envelope) (conversation.Answer, error) {
	request, err := toolRequest(ctx, e)
	if err != nil {
		return conversation.Answer{}, err
	}
	if request.Call.Unhealthy != "" && request.Call.Fallback && e.Metadata.Effect != contract.EffectWrite {
		// Planning saw that neither the tool nor its alternate is well (SPEC T1): its fallback answers at once. The
		// error is final, because a retry would ask the same.
		return conversation.Answer{}, temporal.NewNonRetryableApplicationError(
			request.Call.Unhealthy, string(conversation.CodeToolUnavailable), nil)
	}
	stop := heartbeat(ctx)
	defer stop()
	return i.tools.Invoke(ctx, request)
}

// Fallback answers for a call that failed, the way its operation declares (SPEC T3).
func (i *Invoking) Fallback(ctx context.Context, e contract.Envelope) (conversation.Answer, error) {
	request, err := toolRequest(ctx, e)
	if err != nil {
		return conversation.Answer{}, err
	}
	stop := heartbeat(ctx)
	defer stop()
	return i.tools.Fallback(ctx, request, request.Call.Unhealthy)
}

// VerifyCompletion checks the signed answer that a tool gave later (task_complete).
func (i *Invoking) VerifyCompletion(_ context.Context, e contract.Envelope) (conversation.Answer, error) {
	completion, err := arguments[conversation.Completion](e)
	if err != nil {
		return conversation.Answer{}, err
	}
	return i.tools.VerifyCompletion(completion)
}

func toolRequest(ctx context.Context, e contract.Envelope) (tool.Request, error) {
	call, err := arguments[conversation.ToolCall](e)
	if err != nil {
		return tool.Request{}, err
	}
	return tool.Request{
		Call: call, MessageID: e.MessageID, TraceID: e.TraceID, CycleID: e.CycleID,
		SessionID: e.Payload.Context.SessionID, UserID: e.Payload.Context.UserID,
		IdempotencyKey: e.Metadata.IdempotencyKey, Snapshot: contract.SnapshotHeader(ctx),
		Timeout: time.Duration(e.Metadata.TimeoutMS) * time.Millisecond,
	}, nil
}

// heartbeat tells the server that the call is alive until the returned function is called. It is also how a
// cancellation arrives.
func heartbeat(ctx context.Context) (stop func()) {
	done := make(chan struct{})
	finished := make(chan struct{})
	go func() {
		defer close(finished)
		ticker := time.NewTicker(heartbeatEvery)
		defer ticker.Stop()
		for {
			select {
			case <-done:
				return
			case <-ctx.Done():
				return
			case <-ticker.C:
				activity.RecordHeartbeat(ctx)
			}
		}
	}()
	return func() { close(done); <-finished }
}
