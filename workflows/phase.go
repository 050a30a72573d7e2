package workflows

import (
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/hermes-orchestrator/hermes/contract"
	"github.com/hermes-orchestrator/hermes/conversation"
)

// phaseResult is how the waves of a phase ended.
type phaseResult struct {
	plan conversation.Plan
	// failed are calls without an answer that did not break the cycle (optional ones), and the one that did.
	failed []conversation.FailedStep
	// broke is the failure that broke the cycle.
	broke *contract.Failure
	// timedOut says that the limit of the state was over before all calls had answered.
	timedOut bool
	// estimated is what a tool that answers later has promised ("30s").
	estimated string
	// err is a plan that could not be made: a bug of the flow.
	err *conversation.Error
}

// planRequest is what planning needs to know, as of now.
func (r *run) planRequest(cy *cycle, phase conversation.Phase) conversation.PlanRequest {
	return conversation.PlanRequest{
		Flow: r.Flow, Phase: phase, Now: cy.now, Zone: cy.zone, Locale: cy.locale, Case: r.Case,
		Preferences: r.Preferences, MessageID: cy.messageID(),
	}
}

// plan asks for the next wave and takes over what the flow made of the answers.
func (r *run) plan(cy *cycle, request conversation.PlanRequest) (conversation.Plan, *conversation.Error) {
	var p conversation.Plan
	if err := r.local(cy.ctx, cy, conversation.ActivityPlan, contract.ComponentDispatcher, request, &p); err != nil {
		return p, contract.FromTemporal(err)
	}
	r.Case, r.Missing = p.Case, p.Missing
	if p.Summary != "" {
		r.Summary = p.Summary
	}
	r.Limits = r.input.Limits.Or(p.Limits).WithDefaults()
	if p.SymbolsChanged {
		cy.ledger.WroteSymbols()
	}
	cy.writes = append(cy.writes, p.Writes...)
	return p, nil
}

// phase runs the waves of one phase: plan, recall where memory or symbols were written since, dispatch in parallel,
// plan again with the answers, until nothing is left to call.
func (r *run) phase(cy *cycle, request conversation.PlanRequest) phaseResult {
	p, err := r.plan(cy, request)
	if err != nil {
		return phaseResult{err: err}
	}
	return r.drive(cy, request, p, "")
}

// drive runs the waves from a plan that has been made. key is the Idempotency-Key of write operations.
func (r *run) drive(cy *cycle, request conversation.PlanRequest, p conversation.Plan, key string) phaseResult {
	result := phaseResult{plan: p}
	var until time.Time
	if request.Phase == conversation.PhaseValidate {
		until = workflow.Now(cy.ctx).Add(time.Duration(r.Limits.Validation))
	}
	for len(p.Calls) > 0 {
		if cy.ledger.NeedsRecall() {
			r.recall(cy.ctx, cy)
		}
		answers, failed := r.wave(cy, request.Phase, p.Calls, key, until)
		result.failed = append(result.failed, failed...)
		for _, a := range answers {
			if a.Status == conversation.AnswerProcessing {
				result.estimated = a.Estimated
			}
		}
		result.broke = cy.ledger.Broken()
		if result.broke == nil {
			result.broke = refusedCall(p.Calls, failed)
		}
		result.timedOut = !until.IsZero() && len(failed) > 0 && !workflow.Now(cy.ctx).Before(until)

		next := r.planRequest(cy, request.Phase)
		next.Answers, next.Failed = answers, failed
		var err *conversation.Error
		if p, err = r.plan(cy, next); err != nil {
			result.err = err
			return result
		}
		result.plan = p
		if result.broke != nil || result.timedOut || len(answers) == 0 {
			return result
		}
		if r.waitsFor(request.Phase) {
			return result // The rest of the phase needs what a tool answers later.
		}
	}
	return result
}

// refusedCall is the first required call that failed without breaking the cycle: the contract refused to dispatch it.
// The phase cannot go on without it all the same.
func refusedCall(calls []conversation.ToolCall, failed []conversation.FailedStep) *contract.Failure {
	for _, f := range failed {
		for i := range calls {
			if calls[i].Step == f.Step && !calls[i].Optional {
				return &contract.Failure{Component: "tool:" + f.Tool, Step: f.Step, Stage: "admit", Code: f.Code, Reason: f.Reason}
			}
		}
	}
	return nil
}

func (r *run) waitsFor(phase conversation.Phase) bool {
	for _, p := range r.Pending {
		if p.Phase == phase {
			return true
		}
	}
	return false
}

// wave dispatches calls in parallel and waits for all of them. A failed call goes to its fallback at once, while the
// others go on.
func (r *run) wave(
	cy *cycle, phase conversation.Phase, calls []conversation.ToolCall, key string, until time.Time,
) ([]conversation.Answer, []conversation.FailedStep) {
	type outcome struct {
		answer conversation.Answer
		err    *conversation.Error
	}
	reading := r.uninspectedFiles()
	outcomes := make([]outcome, len(calls))
	group := workflow.NewWaitGroup(cy.ctx)
	for i, call := range calls {
		group.Add(1)
		workflow.Go(cy.ctx, func(ctx workflow.Context) {
			defer group.Done()
			outcomes[i].answer, outcomes[i].err = r.call(ctx, cy, call, key, until)
		})
	}
	group.Wait(cy.ctx)

	var answers []conversation.Answer
	var failed []conversation.FailedStep
	for i, call := range calls {
		o := outcomes[i]
		trace := conversation.ToolTrace{
			Tool: call.Tool, Operation: call.Operation, ArgumentDigest: digestOf(call.Arguments),
			Status: o.answer.Status,
		}
		switch {
		case o.err != nil:
			trace.Status = string(o.err.Code)
			failed = append(failed,
				conversation.FailedStep{Step: call.Step, Tool: call.Tool, Code: o.err.Code, Reason: o.err.Message})
		case o.answer.Status == conversation.AnswerProcessing:
			r.Pending = append(r.Pending, pendingCall{
				Phase: phase, MessageID: o.answer.MessageID, Step: call.Step, Tool: o.answer.Tool, Operation: call.Operation,
				Deadline: workflow.Now(cy.ctx).Add(time.Duration(r.Limits.Task)), Files: reading,
			})
			answers = append(answers, o.answer)
		default:
			if o.answer.Degraded != nil {
				trace.Status = "degraded"
			}
			cy.verification = append(cy.verification, o.answer.Verification...)
			answers = append(answers, o.answer)
		}
		r.trace(trace)
	}
	return answers, failed
}

// call makes one tool call: the activity with its retries, then the operation's fallback. The contract's interceptor
// admits it, and breaks the cycle when both fail.
func (r *run) call(
	ctx workflow.Context, cy *cycle, call conversation.ToolCall, key string, until time.Time,
) (conversation.Answer, *conversation.Error) {
	var answer conversation.Answer
	call.Async = call.Async && call.Effect != contract.EffectWrite // The outcome of an effect is known before it is told.
	metadata := contract.Metadata{
		TimeoutMS:   call.TimeoutMS,
		RetryPolicy: contract.RetryPolicy{MaxAttempts: call.MaxAttempts, BackoffMS: call.BackoffMS},
		Step:        call.Step, Effect: call.Effect, Fallback: call.Fallback, Optional: call.Optional, Async: call.Async,
	}
	e, err := r.envelope(cy, "tool:"+call.Tool, call.Operation, call, metadata)
	if err != nil {
		return answer, contract.FromTemporal(err)
	}
	// One effect, one key: the receipt's id for what the user approved, the message and operation for the rest.
	e.Metadata.IdempotencyKey = e.MessageID + "/" + call.Operation
	if call.Effect == contract.EffectWrite {
		e.Metadata.IdempotencyKey = key
	}
	options := workflow.ActivityOptions{
		StartToCloseTimeout: time.Duration(call.TimeoutMS) * time.Millisecond,
		HeartbeatTimeout:    heartbeatTimeout,
		RetryPolicy: &temporal.RetryPolicy{
			InitialInterval: time.Duration(max(call.BackoffMS, 1)) * time.Millisecond, MaximumAttempts: call.MaxAttempts,
		},
		Summary: call.Tool + "." + call.Operation,
	}
	if !until.IsZero() {
		options.ScheduleToCloseTimeout = max(until.Sub(workflow.Now(ctx)), time.Millisecond)
	}
	ctx = workflow.WithActivityOptions(ctx, options)
	failure := workflow.ExecuteActivity(ctx, conversation.ActivityInvoke, e).Get(ctx, &answer)
	if failure == nil {
		return answer, nil
	}
	coded := contract.FromTemporal(failure)
	if !call.Fallback || coded.Code == conversation.CodeToolRefused || cy.ledger.Broken() != nil {
		return answer, coded
	}
	options.Summary += " fallback"
	options.ScheduleToCloseTimeout = 0
	options.RetryPolicy = &temporal.RetryPolicy{MaximumAttempts: 2}
	ctx = workflow.WithActivityOptions(ctx, options)
	call.Unhealthy = conversation.Clip(coded.Message, 200)
	fallback := e
	if err := reseal(&fallback, call); err != nil {
		return answer, contract.FromTemporal(err)
	}
	if err := workflow.ExecuteActivity(ctx, conversation.ActivityFallback, fallback).Get(ctx, &answer); err != nil {
		return answer, coded // The cause is the primary's failure; that of the fallback is in the history.
	}
	return answer, nil
}

// heartbeatTimeout is how soon the death of a worker is noticed and its call given to another.
const heartbeatTimeout = 5 * time.Second
