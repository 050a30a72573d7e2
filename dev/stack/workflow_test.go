package stack_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/hermes-orchestrator/hermes/conversation"
	"github.com/hermes-orchestrator/hermes/dev/stack"
)

const queue = "stack-test"

// talk is the smallest workflow with everything that a conversation asks of a server: an update that runs a local
// activity and an activity, changes a search attribute and describes itself.
func talk(ctx workflow.Context) (int, error) {
	state := temporal.NewSearchAttributeKeyKeyword(conversation.AttributeState)
	said, ended := 0, false
	err := workflow.SetUpdateHandler(ctx, "say", func(ctx workflow.Context, text string) (string, error) {
		local := workflow.WithLocalActivityOptions(ctx, workflow.LocalActivityOptions{ScheduleToCloseTimeout: time.Minute})
		var heard string
		if err := workflow.ExecuteLocalActivity(local, hear, text).Get(ctx, &heard); err != nil {
			return "", err
		}
		remote := workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
			StartToCloseTimeout: time.Minute, Summary: "answer " + heard,
		})
		var answered string
		if err := workflow.ExecuteActivity(remote, answer, heard).Get(ctx, &answered); err != nil {
			return "", err
		}
		said++
		workflow.SetCurrentDetails(ctx, "**Last words**: "+heard)
		return answered, workflow.UpsertTypedSearchAttributes(ctx, state.ValueSet(text))
	})
	if err != nil {
		return 0, err
	}
	workflow.Go(ctx, func(ctx workflow.Context) {
		workflow.GetSignalChannel(ctx, "end").Receive(ctx, nil)
		ended = true
	})
	err = workflow.Await(ctx, func() bool { return ended && workflow.AllHandlersFinished(ctx) })
	return said, err
}

func hear(_ context.Context, text string) (string, error) { return text, nil }

func answer(_ context.Context, text string) (string, error) { return "you said " + text, nil }

// connect returns a client of the stack and keeps a worker for talk running until the test ends or stop is called.
func connect(t *testing.T, s *stack.Stack) (c client.Client, stop func()) {
	t.Helper()
	c, err := s.Client(t.Context())
	require.NoError(t, err)
	w := worker.New(c, queue, worker.Options{})
	w.RegisterWorkflow(talk)
	w.RegisterActivity(hear)
	w.RegisterActivity(answer)
	require.NoError(t, w.Start())
	stopped := false
	stop = func() {
		if !stopped {
			stopped = true
			w.Stop()
			c.Close()
		}
	}
	t.Cleanup(stop)
	return c, stop
}

// begin starts a talk.
func begin(t *testing.T, c client.Client, id string) client.WorkflowRun {
	t.Helper()
	run, err := c.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{
		ID: id, TaskQueue: queue, StaticSummary: "a talk for a test", WorkflowTaskTimeout: 2 * time.Second,
	}, talk)
	require.NoError(t, err)
	return run
}

// say sends an update and returns the answer.
func say(t *testing.T, c client.Client, id, text string) string {
	t.Helper()
	handle, err := c.UpdateWorkflow(t.Context(), client.UpdateWorkflowOptions{
		WorkflowID: id, UpdateName: "say", Args: []any{text}, WaitForStage: client.WorkflowUpdateStageCompleted,
	})
	require.NoError(t, err)
	var answered string
	require.NoError(t, handle.Get(t.Context(), &answered))
	return answered
}
