package contract

import (
	"context"

	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/interceptor"
	"go.temporal.io/sdk/workflow"

	"github.com/hermes-orchestrator/hermes/conversation"
)

// NewInterceptor returns the worker interceptor of the contract. On the workflow's side it admits or refuses each
// dispatch by the ledger of its cycle and settles it when it ends; on the activity's side it checks each envelope and
// hands the snapshot header over. It checks, it never performs: no activity is run by it.
func NewInterceptor() interceptor.WorkerInterceptor { return &workerInterceptor{} }

type workerInterceptor struct {
	interceptor.WorkerInterceptorBase
}

func (*workerInterceptor) InterceptWorkflow(
	_ workflow.Context, next interceptor.WorkflowInboundInterceptor,
) interceptor.WorkflowInboundInterceptor {
	return &workflowInbound{interceptor.WorkflowInboundInterceptorBase{Next: next}}
}

func (*workerInterceptor) InterceptActivity(
	_ context.Context, next interceptor.ActivityInboundInterceptor,
) interceptor.ActivityInboundInterceptor {
	return &activityInbound{interceptor.ActivityInboundInterceptorBase{Next: next}}
}

type workflowInbound struct {
	interceptor.WorkflowInboundInterceptorBase
}

func (i *workflowInbound) Init(outbound interceptor.WorkflowOutboundInterceptor) error {
	return i.Next.Init(&workflowOutbound{interceptor.WorkflowOutboundInterceptorBase{Next: outbound}})
}

type workflowOutbound struct {
	interceptor.WorkflowOutboundInterceptorBase
}

func (o *workflowOutbound) ExecuteActivity(ctx workflow.Context, activityType string, args ...any) workflow.Future {
	kind, e, refused := admit(ctx, activityType, args)
	if refused != nil {
		return refused
	}
	if kind != KindTool {
		return settled(ctx, kind, e, o.Next.ExecuteActivity(ctx, activityType, args...))
	}
	callCtx, cancel := workflow.WithCancel(ctx)
	ledgerOf(ctx).Start(e.MessageID, cancel)
	return settled(ctx, kind, e, o.Next.ExecuteActivity(callCtx, activityType, args...))
}

func (o *workflowOutbound) ExecuteLocalActivity(
	ctx workflow.Context, activityType string, args ...any,
) workflow.Future {
	kind, e, refused := admit(ctx, activityType, args)
	if refused != nil {
		return refused
	}
	return settled(ctx, kind, e, o.Next.ExecuteLocalActivity(ctx, activityType, args...))
}

// admit finds the envelope and asks the ledger. The third result is the failed future of a refused dispatch.
func admit(ctx workflow.Context, activityType string, args []any) (Kind, *Envelope, workflow.Future) {
	kind := kindOf(activityType)
	e := envelopeOf(args)
	if e == nil {
		return kind, nil, failed(ctx, conversation.Errorf(conversation.CodeMalformedEnvelope,
			"activity %q: its one argument must be a contract.Envelope", activityType))
	}
	if err := e.checkShape(); err != nil {
		return kind, e, failed(ctx, err)
	}
	ledger := ledgerOf(ctx)
	var violation *Violation
	if ledger == nil {
		violation = refuse(RuleOpenCycle, e)
	} else {
		violation = ledger.Admit(kind, e)
	}
	if violation != nil {
		report(ctx, violation)
		return kind, e, failed(ctx, violation)
	}
	if header, _ := ctx.Value(snapshotKey{}).(string); header != "" {
		if payload, err := converter.GetDefaultDataConverter().ToPayload(header); err == nil {
			if headers := interceptor.WorkflowHeader(ctx); headers != nil {
				headers[conversation.HeaderSnapshot] = payload
			}
		}
	}
	return kind, e, nil
}

// settled returns a future that becomes ready only after the ledger knows how the dispatch ended, so that whoever
// waits for it meets an up-to-date ledger.
func settled(ctx workflow.Context, kind Kind, e *Envelope, future workflow.Future) workflow.Future {
	out, settable := workflow.NewFuture(ctx)
	ledger := ledgerOf(ctx)
	// The wait must not end early when the call's context is cancelled: the future itself ends then.
	waitCtx, _ := workflow.NewDisconnectedContext(ctx)
	workflow.Go(waitCtx, func(ctx workflow.Context) {
		var failure *Failure
		if err := future.Get(ctx, nil); err != nil {
			coded := FromTemporal(err)
			failure = &Failure{
				MessageID: e.MessageID, Component: e.Target, Step: e.Metadata.Step,
				Stage: stageOf(coded.Code), Code: coded.Code, Reason: coded.Message,
			}
		}
		ledger.Settle(kind, e, failure)
		settable.Chain(future)
	})
	return out
}

func failed(ctx workflow.Context, err error) workflow.Future {
	future, settable := workflow.NewFuture(ctx)
	settable.SetError(ApplicationError(err))
	return future
}

// kindOf maps activity names to kinds. An activity that is not listed is the conversation's own work.
func kindOf(activityType string) Kind {
	switch activityType {
	case conversation.ActivityRecall:
		return KindQuery
	case conversation.ActivityInvoke:
		return KindTool
	case conversation.ActivityFallback:
		return KindFallback
	case conversation.ActivityRemember:
		return KindWrite
	}
	return KindThink
}

// stageOf names the protocol stage at which a code arises (SPEC P4).
func stageOf(code conversation.Code) string {
	switch code {
	case conversation.CodeBadSignature, conversation.CodeToolMisbehaved:
		return "verify"
	case conversation.CodeUnknownTool, conversation.CodeMalformedEnvelope:
		return "dispatch"
	case conversation.CodeNoOpenCycle, conversation.CodeMemoryFirst, conversation.CodeSingleWrite,
		conversation.CodeCycleBroken:
		return "admit"
	}
	return "execute"
}

func envelopeOf(args []any) *Envelope {
	if len(args) != 1 {
		return nil
	}
	switch e := args[0].(type) {
	case Envelope:
		return &e
	case *Envelope:
		return e
	}
	return nil
}

type activityInbound struct {
	interceptor.ActivityInboundInterceptorBase
}

// ExecuteActivity checks the envelope at the receiver (SPEC G) and puts the snapshot header where tools' client finds
// it.
func (i *activityInbound) ExecuteActivity(ctx context.Context, in *interceptor.ExecuteActivityInput) (any, error) {
	if e := envelopeOf(in.Args); e != nil {
		if err := e.Check(); err != nil {
			return nil, ApplicationError(err)
		}
	}
	if payload := interceptor.Header(ctx)[conversation.HeaderSnapshot]; payload != nil {
		ctx = context.WithValue(ctx, snapshotKey{}, headerText(payload))
	}
	result, err := i.Next.ExecuteActivity(ctx, in)
	return result, ApplicationError(err)
}

func headerText(payload *commonpb.Payload) string {
	var text string
	if err := converter.GetDefaultDataConverter().FromPayload(payload, &text); err != nil {
		return ""
	}
	return text
}

// SnapshotHeader returns the snapshot header of the dispatch that an activity serves, or "".
func SnapshotHeader(ctx context.Context) string {
	header, _ := ctx.Value(snapshotKey{}).(string)
	return header
}
