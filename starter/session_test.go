package starter_test

import (
	"context"
	"errors"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"

	"github.com/hermes-orchestrator/hermes/conversation"
	"github.com/hermes-orchestrator/hermes/starter"
)

type refs []conversation.FlowRef

func (r refs) Refs() []conversation.FlowRef { return r }

func TestStartConversation(t *testing.T) {
	t.Parallel()

	t.Run("Created", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		got := b.post(t, "/v1/conversations",
			`{"user_id":"u1","session_id":"s1","flow":"expense","locale":"en","zone":"Europe/Berlin",
			"limits":{"materials":"1.5s"}}`)
		require.Equal(t, http.StatusOK, got.status, got.body)
		require.Equal(t, map[string]any{
			"session_id": "s1", "workflow_id": "conversation/s1", "run_id": "run-1", "created": true,
		}, got.json(t))

		options, input := b.temporal.options[0], b.temporal.inputs[0]
		require.Equal(t, "conversation/s1", options.ID)
		require.Equal(t, conversation.DefaultTaskQueue, options.TaskQueue)
		require.Equal(t, enumspb.WORKFLOW_ID_REUSE_POLICY_REJECT_DUPLICATE, options.WorkflowIDReusePolicy)
		require.Equal(t, "hash-of-u1", options.Memo["user_hash"])
		require.NotContains(t, options.StaticSummary+options.StaticDetails, "`u1`", "user ids are not for operators")
		require.Equal(t, "1.5s", jsonText(t, input.Limits.Materials))
		input.Limits = conversation.Limits{}
		require.Equal(t, conversation.ConversationInput{
			SessionID: "s1", UserID: "u1", UserHash: "hash-of-u1", Flow: "expense", Locale: "en", Zone: "Europe/Berlin",
		}, input)
	})

	t.Run("GeneratedSession", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		require.NotEmpty(t, b.post(t, "/v1/conversations", `{"user_id":"张三"}`).json(t)["session_id"])
	})

	started := serviceerror.NewWorkflowExecutionAlreadyStarted("started", "", "run-1")
	t.Run("OpenAlready", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		b.temporal.startErr = started
		b.temporal.add("s1", "hash-of-u1", running)
		got := b.post(t, "/v1/conversations", `{"user_id":"u1","session_id":"s1"}`)
		require.Equal(t, http.StatusOK, got.status)
		require.Equal(t, false, got.json(t)["created"])
		got = b.post(t, "/v1/conversations", `{"user_id":"u2","session_id":"s1"}`)
		require.Contains(t, got.refused(t, conversation.CodeConflict), "another user")
	})

	t.Run("Ended", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		b.temporal.startErr = started
		b.temporal.add("s1", "hash-of-u1", completed)
		b.post(t, "/v1/conversations", `{"user_id":"u1","session_id":"s1"}`).refused(t, conversation.CodeConversationEnded)
	})

	t.Run("Refused", func(t *testing.T) {
		t.Parallel()
		b := setup(t, func(c *starter.Config) { c.Flows = refs{{ID: "expense", Version: "1f"}} })
		for body, code := range map[string]conversation.Code{
			`{}`:                           conversation.CodeInvalidArgument,
			`{"user_id":"u","flow":"tax"}`: conversation.CodeUnknownFlow,
			`{"user_id":"u","flow":"expense","flow_version":"00"}`: conversation.CodeUnknownFlow,
			`{"user_id":"u","flow_version":"00"}`:                  conversation.CodeInvalidArgument,
			`{"user_id":"u","session_id":"a/b"}`:                   conversation.CodeInvalidArgument,
			`{"user_id":"u","locale":"fr"}`:                        conversation.CodeInvalidArgument,
			`{"user_id":"u","zone":"Mars/Olympus"}`:                conversation.CodeInvalidArgument,
			`{"user_id":"u","zone":"Local"}`:                       conversation.CodeInvalidArgument,
			`{"user_id":"u","limits":{"materials":"soon"}}`:        conversation.CodeInvalidArgument,
		} {
			b.post(t, "/v1/conversations", body).refused(t, code)
		}
		message := b.post(t, "/v1/conversations", `{"user_id":"u","flow":"tax"}`).refused(t, conversation.CodeUnknownFlow)
		require.Contains(t, message, `"expense"`)
	})
}

// TestTemporalErrors is how what Temporal says reaches a client.
func TestTemporalErrors(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		err  error
		code conversation.Code
		says string
	}{
		"Unavailable": {serviceerror.NewUnavailable("connection refused"), conversation.CodeUnavailable, "again"},
		"Deadline":    {context.DeadlineExceeded, conversation.CodeUnavailable, "worker"},
		"Namespace":   {serviceerror.NewNamespaceNotFound("ns"), conversation.CodeInvalidConfig, "HERMES_NAMESPACE"},
		"Invalid":     {serviceerror.NewInvalidArgument("too large"), conversation.CodeInvalidArgument, "too large"},
		"Denied":      {serviceerror.NewPermissionDenied("no", ""), conversation.CodeInvalidConfig, "API key"},
		"Unknown":     {errors.New("boom"), conversation.CodeInternal, "boom"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			b.temporal.startErr = test.err
			got := b.post(t, "/v1/conversations", `{"user_id":"u","session_id":"s1"}`)
			require.Contains(t, got.refused(t, test.code), test.says)
			require.Equal(t, test.code.Retryable(), got.header.Get("Retry-After") != "")
		})
	}
}
