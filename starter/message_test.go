package starter_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/mock"
	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/mocks"
	"go.temporal.io/sdk/temporal"

	"github.com/hermes-orchestrator/hermes/conversation"
	"github.com/hermes-orchestrator/hermes/starter"
)

func jsonText(t *testing.T, v any) string {
	t.Helper()
	data, err := json.Marshal(v)
	require.NoError(t, err)
	return strings.Trim(string(data), `"`)
}

// sent returns the message of the n-th update.
func (b *bundle) sent(t *testing.T, n int) (client.UpdateWorkflowOptions, conversation.UserMessage) {
	t.Helper()
	for _, call := range b.temporal.Calls {
		if call.Method != "UpdateWorkflow" {
			continue
		}
		if n--; n < 0 {
			options, ok := call.Arguments.Get(1).(client.UpdateWorkflowOptions)
			require.True(t, ok)
			message, ok := options.Args[0].(conversation.UserMessage)
			require.True(t, ok)
			return options, message
		}
	}
	require.Fail(t, "no such update")
	return client.UpdateWorkflowOptions{}, conversation.UserMessage{}
}

func TestSendMessage(t *testing.T) {
	t.Parallel()

	t.Run("Reply", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		file := b.upload(t, "发票.png")
		b.update(conversation.Reply{
			MessageID: "m1", Verdict: conversation.VerdictUsed, Text: "请确认 <b>", State: conversation.StateConfirmation,
			Options: []conversation.Option{{ID: "confirm", Label: "确认"}}, Path: "S1→S2→S3→S4", Revision: 7,
			Degraded:          []conversation.Degraded{{Component: "tool:a", Strategy: "cache", Reason: "down"}},
			VerificationSteps: []string{"已比对"},
		}, nil)
		body, err := json.Marshal(map[string]any{
			"message_id": "m1", "text": "好", "attachments": []any{file}, "sent_at": "2024-06-03T10:00:00+08:00", "revision": 6,
		})
		require.NoError(t, err)
		got := b.post(t, "/v1/conversations/s1/messages", string(body))
		require.Equal(t, http.StatusOK, got.status, got.body)
		require.Equal(t, map[string]any{
			"message_id": "m1", "verdict": "used", "text": "请确认 <b>", "state": "S4", "path": "S1→S2→S3→S4", "revision": 7.0,
			"options":            []any{map[string]any{"id": "confirm", "label": "确认"}},
			"degraded":           []any{map[string]any{"component": "tool:a", "strategy": "cache", "reason": "down"}},
			"verification_steps": []any{"已比对"},
		}, got.json(t))
		options, message := b.sent(t, 0)
		require.Equal(t, "m1", options.UpdateID)
		require.Equal(t, "conversation/s1", options.WorkflowID)
		require.Equal(t, conversation.UpdateConverse, options.UpdateName)
		require.Equal(t, conversation.UserMessage{
			MessageID: "m1", Text: "好", Attachments: []conversation.Attachment{file}, Revision: 6,
			SentAt: time.Date(2024, 6, 3, 2, 0, 0, 0, time.UTC),
		}, message)
	})

	t.Run("SentAtDefaultsToArrival", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		b.update(conversation.Reply{}, nil)
		require.Equal(t, http.StatusOK, b.post(t, "/v1/conversations/s1/messages", `{"message_id":"m1","choice":"confirm"}`).status)
		_, message := b.sent(t, 0)
		require.Equal(t, arrival, message.SentAt)
	})

	t.Run("RefusedBeforeTheConversation", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		sum := strings.Repeat("0", 64)
		for body, code := range map[string]conversation.Code{
			`{"text":"hi"}`:                                                    conversation.CodeInvalidArgument,
			`{"message_id":"m1"}`:                                              conversation.CodeInvalidArgument,
			`{"message_id":"m1","text":"hi","zone":"x"}`:                       conversation.CodeInvalidArgument,
			`{"message_id":"m1","text":"hi","flow":"f"}`:                       conversation.CodeInvalidArgument,
			`{"message_id":"m1","text":"hi","locale":"x"}`:                     conversation.CodeInvalidArgument,
			`{"message_id":"m1","text":"` + strings.Repeat("长", 50_000) + `"}`: conversation.CodeTooLarge,
			`{"message_id":"m1","attachments":[{"uri":"file:///etc/passwd"}]}`: conversation.CodeInvalidArgument,
			`{"message_id":"m1","attachments":[{"sha256":"` + sum + `","uri":"blob:sha256/` + sum[1:] + `1"}]}`: conversation.CodeInvalidArgument,
			`{"message_id":"m1","attachments":[{"sha256":"` + sum + `"}]}`:                                      conversation.CodeNotFound,
		} {
			b.post(t, "/v1/conversations/s1/messages", body).refused(t, code)
		}
		b.temporal.AssertNotCalled(t, "UpdateWorkflow")
	})

	t.Run("RefusedByTheConversation", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		b.update(conversation.Reply{}, temporal.NewNonRetryableApplicationError("too late", string(conversation.CodeReceiptInvalid), nil))
		got := b.post(t, "/v1/conversations/s1/messages", `{"message_id":"m1","choice":"confirm"}`)
		require.Equal(t, "too late", got.refused(t, conversation.CodeReceiptInvalid))
	})

	t.Run("UnknownAndEnded", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		b.temporal.On("UpdateWorkflow", mock.Anything, mock.Anything).Return(nil, serviceerror.NewNotFound("none"))
		b.absent("s1")
		b.exists("s2", "", enumspb.WORKFLOW_EXECUTION_STATUS_COMPLETED)
		message := b.post(t, "/v1/conversations/s1/messages", `{"message_id":"m1","text":"hi"}`).refused(t, conversation.CodeNotFound)
		require.Contains(t, message, "user_id")
		b.post(t, "/v1/conversations/s2/messages", `{"message_id":"m1","text":"hi"}`).refused(t, conversation.CodeConversationEnded)
	})

	t.Run("RunEndedMeanwhile", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		b.update(conversation.Reply{}, temporal.NewNonRetryableApplicationError("…", "AcceptedUpdateCompletedWorkflow", nil))
		b.update(conversation.Reply{Text: "from the next run"}, nil)
		got := b.post(t, "/v1/conversations/s1/messages", `{"message_id":"m1","text":"hi"}`)
		require.Equal(t, "from the next run", got.json(t)["text"])
		_, first := b.sent(t, 0)
		_, second := b.sent(t, 1)
		require.Equal(t, first, second)
	})

	t.Run("NoReplyInTime", func(t *testing.T) {
		t.Parallel()
		b := setup(t, func(c *starter.Config) { c.ReplyTimeout = 10 * time.Millisecond })
		handle := &mocks.WorkflowUpdateHandle{}
		handle.On("Get", mock.Anything, mock.Anything).Run(func(args mock.Arguments) {
			ctx, ok := args.Get(0).(context.Context)
			if ok {
				<-ctx.Done()
			}
		}).Return(client.NewWorkflowUpdateServiceTimeoutOrCanceledError(context.DeadlineExceeded))
		b.temporal.On("UpdateWorkflow", mock.Anything, mock.Anything).Return(handle, nil)
		got := b.post(t, "/v1/conversations/s1/messages", `{"message_id":"m1","text":"hi"}`)
		require.Contains(t, got.refused(t, conversation.CodeUnavailable), "same message_id")
	})
}

func TestSendMessageStarts(t *testing.T) {
	t.Parallel()
	startWith := func(b *bundle, err error) {
		handle := &mocks.WorkflowUpdateHandle{}
		handle.On("Get", mock.Anything, mock.Anything).Return(nil)
		b.temporal.On("NewWithStartWorkflowOperation", mock.Anything, conversation.WorkflowType, mock.Anything).Return(nil)
		if err != nil {
			b.temporal.On("UpdateWithStartWorkflow", mock.Anything, mock.Anything).Return(nil, err)
			return
		}
		b.temporal.On("UpdateWithStartWorkflow", mock.Anything, mock.Anything).Return(handle, nil)
	}
	const body = `{"message_id":"m1","text":"hi","user_id":"u1","flow":"expense","locale":"en"}`

	t.Run("New", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		b.absent("s1")
		startWith(b, nil)
		require.Equal(t, http.StatusOK, b.post(t, "/v1/conversations/s1/messages", body).status)
		b.temporal.AssertCalled(t, "NewWithStartWorkflowOperation", mock.MatchedBy(func(o client.StartWorkflowOptions) bool {
			return o.WorkflowIDConflictPolicy == enumspb.WORKFLOW_ID_CONFLICT_POLICY_USE_EXISTING &&
				o.WorkflowIDReusePolicy == enumspb.WORKFLOW_ID_REUSE_POLICY_REJECT_DUPLICATE && o.ID == "conversation/s1"
		}), conversation.WorkflowType, conversation.ConversationInput{
			SessionID: "s1", UserID: "u1", UserHash: "hash-of-u1", Flow: "expense", Locale: "en",
		})
	})

	t.Run("OwnersAreAskedOnce", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		b.exists("s1", "hash-of-u1", enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING)
		startWith(b, nil)
		for range 3 {
			require.Equal(t, http.StatusOK, b.post(t, "/v1/conversations/s1/messages", body).status)
		}
		b.temporal.AssertNumberOfCalls(t, "DescribeWorkflowExecution", 1)
		other := strings.Replace(body, "u1", "u2", 1)
		b.post(t, "/v1/conversations/s1/messages", other).refused(t, conversation.CodeConflict)
	})

	t.Run("Ended", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		b.exists("s1", "hash-of-u1", enumspb.WORKFLOW_EXECUTION_STATUS_COMPLETED)
		startWith(b, fmt.Errorf("failed workflow start: %w", serviceerror.NewWorkflowExecutionAlreadyStarted("x", "", "")))
		b.post(t, "/v1/conversations/s1/messages", body).refused(t, conversation.CodeConversationEnded)
	})
}

func TestViews(t *testing.T) {
	t.Parallel()
	b := setup(t)
	query := func(name string, answer any) {
		payloads, err := converter.GetDefaultDataConverter().ToPayloads(answer)
		require.NoError(t, err)
		value := client.NewValue(payloads)
		b.temporal.On("QueryWorkflow", mock.Anything, "conversation/s1", "", name).Return(value, nil)
	}
	fact := conversation.Fact{
		Name: "total", Value: json.RawMessage(`{"amount":"8240.00"}`), Status: conversation.FactVerified, Source: "tool:t", At: arrival,
	}
	query(conversation.QuerySnapshot, conversation.Snapshot{
		State: conversation.StateReview, Summary: "已上传2张发票", Facts: []conversation.Fact{fact}, EnteredAt: arrival,
	})
	query(conversation.QueryTranscript, []conversation.Turn{{Role: "user", Text: "hi", At: arrival}})
	query(conversation.QueryCase, conversation.CaseView{
		State: conversation.StateReview, Path: conversation.Path{{State: conversation.StateIntent, At: arrival}, {State: conversation.StateReview}},
		Case: conversation.Case{
			Facts: []conversation.Fact{fact}, Symbols: []conversation.Symbol{{Name: "A表", Entity: json.RawMessage(`"a"`), ValidFor: conversation.SymbolValidFor}},
			Findings: []conversation.Finding{{ID: "blur", Kind: conversation.FindingReview}},
		},
	})
	require.Equal(t, map[string]any{
		"state": "S3.1", "summary": "已上传2张发票", "entered_at": "2024-06-03T09:30:00Z", "facts": []any{map[string]any{
			"name": "total", "value": map[string]any{"amount": "8240.00"}, "status": "verified", "source": "tool:t", "at": "2024-06-03T09:30:00Z",
		}},
	}, b.get(t, "/v1/conversations/s1/snapshot").json(t))
	require.Equal(t, "S1→S3.1", b.get(t, "/v1/conversations/s1/path").json(t)["path"])
	require.Contains(t, b.get(t, "/v1/conversations/s1/transcript").body, `"hi"`)
	view := b.get(t, "/v1/conversations/s1/case")
	require.Contains(t, view.body, `"A表"`)
	require.Contains(t, view.body, `"600s"`)

	b.temporal.On("QueryWorkflow", mock.Anything, "conversation/s2", "", mock.Anything).Return(nil, serviceerror.NewNotFound("x"))
	b.absent("s2")
	b.get(t, "/v1/conversations/s2/path").refused(t, conversation.CodeNotFound)
	b.temporal.On("QueryWorkflow", mock.Anything, "conversation/s3", "", mock.Anything).Return(nil, serviceerror.NewQueryFailed("x"))
	b.get(t, "/v1/conversations/s3/case").refused(t, conversation.CodeInternal)
}
