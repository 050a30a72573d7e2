package contract

import (
	"go.temporal.io/sdk/workflow"

	"github.com/hermes-orchestrator/hermes/conversation"
)

type (
	ledgerKey   struct{}
	snapshotKey struct{}
)

// Open opens a message cycle: the returned context carries its ledger, and everything dispatched with it is checked by
// the interceptor against it. A context without a cycle can dispatch nothing.
func Open(ctx workflow.Context, ruleSet int, traceID, cycleID string) (workflow.Context, *Ledger) {
	ledger := NewLedger(ruleSet, traceID, cycleID)
	return workflow.WithValue(ctx, ledgerKey{}, ledger), ledger
}

// Close closes the cycle. A failed call whose fallback nobody asked for is a violation of break-on-failure: it would
// otherwise have passed in silence (SPEC P5).
func Close(ctx workflow.Context, ledger *Ledger) {
	for _, f := range ledger.Unresolved() {
		if ledger.broken != nil {
			break // Another failure ended all calls of the cycle, those that waited for a fallback as well.
		}
		report(ctx, &Violation{
			Rule: RuleBreakOnFailure, Component: f.Component, Task: f.Step,
			MessageID: f.MessageID, TraceID: ledger.traceID, CycleID: ledger.cycleID,
		})
	}
	ledger.closed = true
}

// WithSnapshot returns a context whose dispatches carry the snapshot as a Temporal header (SPEC C4).
func WithSnapshot(ctx workflow.Context, snapshot conversation.Snapshot) workflow.Context {
	return workflow.WithValue(ctx, snapshotKey{}, snapshot.Header())
}

func ledgerOf(ctx workflow.Context) *Ledger {
	ledger, _ := ctx.Value(ledgerKey{}).(*Ledger)
	return ledger
}

// report makes a violation visible: counted, logged with its trace, never silent (SPEC P5).
func report(ctx workflow.Context, v *Violation) {
	workflow.GetMetricsHandler(ctx).WithTags(map[string]string{"rule": string(v.Rule)}).
		Counter("hermes_contract_violations").Inc(1)
	workflow.GetLogger(ctx).Error("contract violation", "rule", string(v.Rule), "component", v.Component,
		"task", v.Task, "message_id", v.MessageID, "trace_id", v.TraceID, "cycle_id", v.CycleID)
}
