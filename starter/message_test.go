package starter_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
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

func TestSendMessage(t *testing.T) {
	t.Parallel()

	t.Run("Reply", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		file := b.upload(t, "发票.png")
		b.temporal.replies = []reply{{reply: conversation.Reply{
			MessageID: "m1", Verdict: conversation.VerdictUsed, Text: "请确认 <b>", State: conversation.StateConfirmation,
			Options: []conversation.Option{{ID: "confirm", Label: "确认"}}, Path: "S1→S2→S3→S4", Revision: 7,
			Degraded:          []conversation.Degraded{{Component: "tool:a", Strategy: "cache", Reason: "down"}},
			VerificationSteps: []string{"已比对"},
		}}}
		body, err := json.Marshal(map[string]any{
			"message_id": "m1", "text": "好", "attachments": []any{file}, "revision": 6,
			"sent_at": "2024-06-03T10:00:00+08:00",
		})
		require.NoError(t, err)
		got := b.post(t, "/v1/conversations/s1/messages", string(body))
		require.Equal(t, http.StatusOK, got.status, got.body)
		require.Equal(t, map[string]any{
			"message_id": "m1", "verdict": "used", "text": "请确认 <b>", "state": "S4", "path": "S1→S2→S3→S4",
			"revision":           7.0,
			"options":            []any{map[string]any{"id": "confirm", "label": "确认"}},
			"degraded":           []any{map[string]any{"component": "tool:a", "strategy": "cache", "reason": "down"}},
			"verification_steps": []any{"已比对"},
		}, got.json(t))
		options := b.temporal.updates[0]
		require.Equal(t, "m1", options.UpdateID)
		require.Equal(t, "conversation/s1", options.WorkflowID)
		require.Equal(t, conversation.UpdateConverse, options.UpdateName)
		require.Equal(t, conversation.UserMessage{
			MessageID: "m1", Text: "好", Attachments: []conversation.Attachment{file}, Revision: 6,
			SentAt: time.Date(2024, 6, 3, 2, 0, 0, 0, time.UTC),
		}, b.temporal.sent()[0])
	})

	t.Run("SentAtDefaultsToArrival", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		got := b.post(t, "/v1/conversations/s1/messages", `{"message_id":"m1","choice":"confirm"}`)
		require.Equal(t, http.StatusOK, got.status)
		require.Equal(t, arrival, b.temporal.sent()[0].SentAt)
	})

	t.Run("RefusedBeforeTheConversation", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		sum := strings.Repeat("0", 64)
		long := strings.Repeat("长", 50_000)
		twoFiles := `{"sha256":"` + sum + `","uri":"blob:sha256/` + sum[1:] + `1"}`
		for _, test := range []struct {
			body string
			code conversation.Code
		}{
			{`{"text":"hi"}`, conversation.CodeInvalidArgument},
			{`{"message_id":"m1"}`, conversation.CodeInvalidArgument},
			{`{"message_id":"m1","text":"hi","zone":"x"}`, conversation.CodeInvalidArgument},
			{`{"message_id":"m1","text":"hi","flow":"f"}`, conversation.CodeInvalidArgument},
			{`{"message_id":"m1","text":"hi","locale":"x"}`, conversation.CodeInvalidArgument},
			{`{"message_id":"m1","text":"` + long + `"}`, conversation.CodeTooLarge},
			{`{"message_id":"m1","attachments":[{"uri":"file:///etc/passwd"}]}`, conversation.CodeInvalidArgument},
			{`{"message_id":"m1","attachments":[` + twoFiles + `]}`, conversation.CodeInvalidArgument},
			{`{"message_id":"m1","attachments":[{"sha256":"` + sum + `"}]}`, conversation.CodeNotFound},
		} {
			b.post(t, "/v1/conversations/s1/messages", test.body).refused(t, test.code)
		}
		require.Empty(t, b.temporal.sent())
	})

	t.Run("RefusedByTheConversation", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		refusal := temporal.NewNonRetryableApplicationError("too late", string(conversation.CodeReceiptInvalid), nil)
		b.temporal.replies = []reply{{err: refusal}}
		got := b.post(t, "/v1/conversations/s1/messages", `{"message_id":"m1","choice":"confirm"}`)
		require.Equal(t, "too late", got.refused(t, conversation.CodeReceiptInvalid))
	})

	t.Run("UnknownAndEnded", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		b.temporal.updateErr = serviceerror.NewNotFound("none")
		b.temporal.add("s2", "", completed)
		const body = `{"message_id":"m1","text":"hi"}`
		got := b.post(t, "/v1/conversations/s1/messages", body)
		require.Contains(t, got.refused(t, conversation.CodeNotFound), "user_id")
		b.post(t, "/v1/conversations/s2/messages", body).refused(t, conversation.CodeConversationEnded)
	})

	t.Run("RunEndedMeanwhile", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		b.temporal.replies = []reply{
			{err: temporal.NewNonRetryableApplicationError("…", "AcceptedUpdateCompletedWorkflow", nil)},
			{reply: conversation.Reply{Text: "from the next run"}},
		}
		got := b.post(t, "/v1/conversations/s1/messages", `{"message_id":"m1","text":"hi"}`)
		require.Equal(t, "from the next run", got.json(t)["text"])
		sent := b.temporal.sent()
		require.Len(t, sent, 2)
		require.Equal(t, sent[0], sent[1])
	})

	t.Run("NoReplyInTime", func(t *testing.T) {
		t.Parallel()
		b := setup(t, func(c *starter.Config) { c.ReplyTimeout = 10 * time.Millisecond })
		b.temporal.updateHold = true
		got := b.post(t, "/v1/conversations/s1/messages", `{"message_id":"m1","text":"hi"}`)
		require.Contains(t, got.refused(t, conversation.CodeUnavailable), "same message_id")
	})
}

func TestSendMessageStarts(t *testing.T) {
	t.Parallel()
	const body = `{"message_id":"m1","text":"hi","user_id":"u1","flow":"expense","locale":"en"}`

	t.Run("New", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		require.Equal(t, http.StatusOK, b.post(t, "/v1/conversations/s1/messages", body).status)
		options := b.temporal.options[0]
		require.Equal(t, enumspb.WORKFLOW_ID_CONFLICT_POLICY_USE_EXISTING, options.WorkflowIDConflictPolicy)
		require.Equal(t, enumspb.WORKFLOW_ID_REUSE_POLICY_REJECT_DUPLICATE, options.WorkflowIDReusePolicy)
		require.Equal(t, conversation.ConversationInput{
			SessionID: "s1", UserID: "u1", UserHash: "hash-of-u1", Flow: "expense", Locale: "en",
		}, b.temporal.inputs[0])
	})

	t.Run("OwnersAreAskedOnce", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		b.temporal.add("s1", "hash-of-u1", running)
		for range 3 {
			require.Equal(t, http.StatusOK, b.post(t, "/v1/conversations/s1/messages", body).status)
		}
		require.Equal(t, 1, b.temporal.described)
		other := strings.Replace(body, "u1", "u2", 1)
		b.post(t, "/v1/conversations/s1/messages", other).refused(t, conversation.CodeConflict)
	})

	t.Run("Ended", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		b.temporal.add("s1", "hash-of-u1", completed)
		b.temporal.updateErr = fmt.Errorf("failed workflow start: %w",
			serviceerror.NewWorkflowExecutionAlreadyStarted("x", "", ""))
		b.post(t, "/v1/conversations/s1/messages", body).refused(t, conversation.CodeConversationEnded)
	})
}

func TestViews(t *testing.T) {
	t.Parallel()
	b := setup(t)
	fact := conversation.Fact{
		Name: "total", Value: json.RawMessage(`{"amount":"8240.00"}`), Status: conversation.FactVerified,
		Source: "tool:t", At: arrival,
	}
	b.temporal.queries["conversation/s1 "+conversation.QuerySnapshot] = conversation.Snapshot{
		State: conversation.StateReview, Summary: "已上传2张发票", Facts: []conversation.Fact{fact}, EnteredAt: arrival,
	}
	b.temporal.queries["conversation/s1 "+conversation.QueryTranscript] = []conversation.Turn{
		{Role: "user", Text: "hi", At: arrival},
	}
	b.temporal.queries["conversation/s1 "+conversation.QueryCase] = conversation.CaseView{
		State: conversation.StateReview,
		Path:  conversation.Path{{State: conversation.StateIntent, At: arrival}, {State: conversation.StateReview}},
		Case: conversation.Case{
			Facts: []conversation.Fact{fact}, Findings: []conversation.Finding{{ID: "blur", Kind: conversation.FindingReview}},
			Symbols: []conversation.Symbol{
				{Name: "A表", Entity: json.RawMessage(`"a"`), ValidFor: conversation.SymbolValidFor},
			},
		},
	}
	require.Equal(t, map[string]any{
		"state": "S3.1", "summary": "已上传2张发票", "entered_at": "2024-06-03T09:30:00Z", "facts": []any{map[string]any{
			"name": "total", "value": map[string]any{"amount": "8240.00"}, "status": "verified", "source": "tool:t",
			"at": "2024-06-03T09:30:00Z",
		}},
	}, b.get(t, "/v1/conversations/s1/snapshot").json(t))
	require.Equal(t, "S1→S3.1", b.get(t, "/v1/conversations/s1/path").json(t)["path"])
	require.Contains(t, b.get(t, "/v1/conversations/s1/transcript").body, `"hi"`)
	view := b.get(t, "/v1/conversations/s1/case")
	require.Contains(t, view.body, `"A表"`)
	require.Contains(t, view.body, `"600s"`)

	b.get(t, "/v1/conversations/s2/path").refused(t, conversation.CodeNotFound)
	b.temporal.queries["conversation/s3 "+conversation.QueryCase] = serviceerror.NewQueryFailed("x")
	b.get(t, "/v1/conversations/s3/case").refused(t, conversation.CodeInternal)
}
