package contract_test

import (
	"context"
	"encoding/json"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/interceptor"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/hermes-orchestrator/hermes/contract"
	"github.com/hermes-orchestrator/hermes/conversation"
)

// author is a workflow author who dispatches what a test tells; the interceptors are the real ones.
type author struct {
	env       *testsuite.TestWorkflowEnvironment
	invoked   atomic.Int64
	cancelled atomic.Int64
	header    atomic.Value
}

// fails is the argument of a tool call that fails for good, waits that of one that ends when it is cancelled.
const (
	fails = `"fails"`
	waits = `"waits"`
)

func newAuthor() *author {
	var suite testsuite.WorkflowTestSuite
	a := &author{env: suite.NewTestWorkflowEnvironment()}
	a.env.SetWorkerOptions(worker.Options{Interceptors: []interceptor.WorkerInterceptor{contract.NewInterceptor()}})
	register := func(name string, function any) {
		a.env.RegisterActivityWithOptions(function, activity.RegisterOptions{Name: name})
	}
	register(conversation.ActivityInvoke, func(ctx context.Context, e contract.Envelope) (string, error) {
		a.invoked.Add(1)
		a.header.Store(contract.SnapshotHeader(ctx))
		switch string(e.Payload.Context.Arguments) {
		case fails:
			return "", conversation.Errorf(conversation.CodeToolMisbehaved, "no good answer")
		case waits:
			<-ctx.Done()
			a.cancelled.Add(1)
			return "", ctx.Err()
		}
		return "answer", nil
	})
	register(conversation.ActivityFallback, func(context.Context, contract.Envelope) (string, error) { return "fallback", nil })
	register(conversation.ActivityRecall, func(context.Context, contract.Envelope) (string, error) { return "", nil })
	register(conversation.ActivityRemember, func(context.Context, contract.Envelope) (string, error) { return "", nil })
	return a
}

func (a *author) run(t *testing.T, function func(ctx workflow.Context) error) error {
	t.Helper()
	a.env.RegisterWorkflowWithOptions(function, workflow.RegisterOptions{Name: "author"})
	a.env.ExecuteWorkflow("author")
	require.True(t, a.env.IsWorkflowCompleted())
	return a.env.GetWorkflowError()
}

func call(id, tool, arguments string) contract.Envelope {
	e := contract.Envelope{
		MessageID: id, Timestamp: 1, Source: "conversation:S1", Target: "tool:" + tool, TraceID: "t", CycleID: "c",
		Payload: contract.Payload{Task: "read", Context: contract.Context{UserID: "u", SessionID: "s", Arguments: json.RawMessage(arguments)}},
	}
	if err := e.Seal(); err != nil {
		panic(err)
	}
	return e
}

func options(ctx workflow.Context) workflow.Context {
	ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		StartToCloseTimeout: time.Minute, HeartbeatTimeout: time.Minute, RetryPolicy: &temporal.RetryPolicy{MaximumAttempts: 1},
	})
	return workflow.WithLocalActivityOptions(ctx, workflow.LocalActivityOptions{ScheduleToCloseTimeout: time.Minute})
}

func recall(ctx workflow.Context) error {
	e := call("r", "x", `null`)
	e.Target = contract.ComponentMemory
	return workflow.ExecuteLocalActivity(ctx, conversation.ActivityRecall, e).Get(ctx, nil)
}

func invoke(ctx workflow.Context, e contract.Envelope) error {
	return workflow.ExecuteActivity(ctx, conversation.ActivityInvoke, e).Get(ctx, nil)
}

// A workflow author who forgets something gets a typed error at once, and no tool hears of it.
func TestForgetfulAuthor(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		run  func(ctx workflow.Context) error
		code conversation.Code
	}{
		"no cycle": {func(ctx workflow.Context) error {
			return invoke(options(ctx), call("1", "a", `null`))
		}, conversation.CodeNoOpenCycle},
		"closed cycle": {func(ctx workflow.Context) error {
			ctx, ledger := contract.Open(options(ctx), 1, "t", "c")
			contract.Close(ctx, ledger)
			return recall(ctx)
		}, conversation.CodeNoOpenCycle},
		"no recall": {func(ctx workflow.Context) error {
			ctx, _ = contract.Open(options(ctx), 1, "t", "c")
			return invoke(ctx, call("1", "a", `null`))
		}, conversation.CodeMemoryFirst},
		"no recall after a write": {func(ctx workflow.Context) error {
			ctx, _ = contract.Open(options(ctx), 1, "t", "c")
			if err := recall(ctx); err != nil {
				return err
			}
			e := call("w", "x", `null`)
			e.Target = contract.ComponentLongterm
			if err := workflow.ExecuteActivity(ctx, conversation.ActivityRemember, e).Get(ctx, nil); err != nil {
				return err
			}
			return invoke(ctx, call("1", "a", `null`))
		}, conversation.CodeMemoryFirst},
		"no envelope": {func(ctx workflow.Context) error {
			ctx, _ = contract.Open(options(ctx), 1, "t", "c")
			return workflow.ExecuteActivity(ctx, conversation.ActivityInvoke, "a string").Get(ctx, nil)
		}, conversation.CodeMalformedEnvelope},
		"no trace": {func(ctx workflow.Context) error {
			ctx, _ = contract.Open(options(ctx), 1, "t", "c")
			e := call("1", "a", `null`)
			e.TraceID = ""
			return invoke(ctx, e)
		}, conversation.CodeMalformedEnvelope},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := newAuthor()
			err := a.run(t, tt.run)
			require.Equal(t, tt.code, contract.FromTemporal(err).Code)
			require.Zero(t, a.invoked.Load())
		})
	}
}

func TestSecondDispatchIsRefusedUntilContinue(t *testing.T) {
	t.Parallel()
	a := newAuthor()
	require.NoError(t, a.run(t, func(ctx workflow.Context) error {
		ctx, ledger := contract.Open(options(ctx), 1, "t", "c")
		if err := recall(ctx); err != nil {
			return err
		}
		if err := invoke(ctx, call("1", "a", `null`)); err != nil {
			return err
		}
		if code := contract.FromTemporal(invoke(ctx, call("2", "a", `null`))).Code; code != conversation.CodeSingleWrite {
			return conversation.Errorf(conversation.CodeInternal, "second dispatch: %q", code)
		}
		ledger.Continue("tool:a")
		return invoke(ctx, call("3", "a", `null`))
	}))
	require.EqualValues(t, 2, a.invoked.Load())
}

// A failed call ends every unfinished call of its cycle, and nothing more can be called in it.
func TestFailureBreaksTheCycle(t *testing.T) {
	t.Parallel()
	a := newAuthor()
	var broke *contract.Failure
	require.NoError(t, a.run(t, func(ctx workflow.Context) error {
		ctx, ledger := contract.Open(options(ctx), 1, "t", "c")
		if err := recall(ctx); err != nil {
			return err
		}
		waiting := workflow.ExecuteActivity(ctx, conversation.ActivityInvoke, call("1", "slow", waits))
		failing := workflow.ExecuteActivity(ctx, conversation.ActivityInvoke, call("2", "bad", fails))
		if code := contract.FromTemporal(failing.Get(ctx, nil)).Code; code != conversation.CodeToolMisbehaved {
			return conversation.Errorf(conversation.CodeInternal, "failing call: %q", code)
		}
		if code := contract.FromTemporal(waiting.Get(ctx, nil)).Code; code != conversation.CodeCycleBroken {
			return conversation.Errorf(conversation.CodeInternal, "waiting call: %q", code)
		}
		if code := contract.FromTemporal(invoke(ctx, call("3", "other", `null`))).Code; code != conversation.CodeCycleBroken {
			return conversation.Errorf(conversation.CodeInternal, "later call: %q", code)
		}
		broke = ledger.Broken()
		return nil
	}))
	require.Equal(t, "tool:bad", broke.Component)
	require.Equal(t, "verify", broke.Stage)
	require.Equal(t, conversation.CodeToolMisbehaved, broke.Code)
}

func TestFallbackKeepsTheCycle(t *testing.T) {
	t.Parallel()
	a := newAuthor()
	require.NoError(t, a.run(t, func(ctx workflow.Context) error {
		ctx, ledger := contract.Open(options(ctx), 1, "t", "c")
		if err := recall(ctx); err != nil {
			return err
		}
		e := call("1", "bad", fails)
		e.Metadata.Fallback = true
		if invoke(ctx, e) == nil {
			return conversation.Errorf(conversation.CodeInternal, "the call did not fail")
		}
		if err := workflow.ExecuteActivity(ctx, conversation.ActivityFallback, e).Get(ctx, nil); err != nil {
			return err
		}
		if ledger.Broken() != nil {
			return conversation.Errorf(conversation.CodeInternal, "the cycle is broken")
		}
		return invoke(ctx, call("2", "other", `null`))
	}))
}

func TestSnapshotTravelsAsHeader(t *testing.T) {
	t.Parallel()
	a := newAuthor()
	snapshot := conversation.Snapshot{State: conversation.StateMaterials, Summary: "已上传2张发票，待OCR识别", UserHash: "h"}
	require.NoError(t, a.run(t, func(ctx workflow.Context) error {
		ctx, _ = contract.Open(options(ctx), 1, "t", "c")
		if err := recall(ctx); err != nil {
			return err
		}
		return invoke(contract.WithSnapshot(ctx, snapshot), call("1", "a", `null`))
	}))
	header, _ := a.header.Load().(string)
	got, err := conversation.ParseSnapshot(header)
	require.NoError(t, err)
	require.Equal(t, snapshot.Summary, got.Summary)
}

// What was changed between sender and receiver is refused by the receiver.
func TestReceiverChecksTheDigest(t *testing.T) {
	t.Parallel()
	a := newAuthor()
	err := a.run(t, func(ctx workflow.Context) error {
		ctx, _ = contract.Open(options(ctx), 1, "t", "c")
		if err := recall(ctx); err != nil {
			return err
		}
		e := call("1", "a", `{"approver":"张主管"}`)
		e.Payload.Context.Arguments = json.RawMessage(`{"approver":"李总监"}`)
		return invoke(ctx, e)
	})
	require.Equal(t, conversation.CodeMalformedEnvelope, contract.FromTemporal(err).Code)
	require.Zero(t, a.invoked.Load())
}
