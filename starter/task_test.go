package starter_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.temporal.io/api/serviceerror"

	"github.com/hermes-orchestrator/hermes/contract"
	"github.com/hermes-orchestrator/hermes/conversation"
	"github.com/hermes-orchestrator/hermes/starter"
)

const (
	callback  = "/v1/tasks/complete?session_id=s1&trace_id=t1&tool=slow_tool&operation=read&step=inspect&message_id=c1.3"
	signature = `ed25519; kid="k1"; sig="c2ln"`
)

func TestCompleteTask(t *testing.T) {
	t.Parallel()

	t.Run("SignalsASealedEnvelope", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		// Bytes that no JSON encoder would write: what is signed must arrive as it is.
		body := "{ \"status\" : \"ok\",\r\n\"output\":{\"a\":\"<&>\"}}\n"
		got := b.post(t, callback, body,
			"X-Message-Id", "c1.3", "X-Verification-Signature", signature, "X-Hermes-Status", "422")
		require.Equal(t, http.StatusAccepted, got.status, got.body)

		require.Equal(t, []any{"conversation/s1", conversation.SignalComplete}, b.temporal.signals[:2])
		data, err := json.Marshal(b.temporal.signals[2]) // As Temporal's converter does.
		require.NoError(t, err)
		var envelope contract.Envelope
		require.NoError(t, json.Unmarshal(data, &envelope))
		require.NoError(t, envelope.Check())
		require.Equal(t, "tool:slow_tool", envelope.Source)
		require.Equal(t, "conversation:s1", envelope.Target)
		require.Equal(t, contract.TaskTaskComplete, envelope.Payload.Task)
		require.Equal(t, "t1", envelope.TraceID)
		require.Equal(t, "s1", envelope.Payload.Context.SessionID)
		require.Equal(t, arrival.UnixMilli(), envelope.Timestamp)
		var completion conversation.Completion
		require.NoError(t, json.Unmarshal(envelope.Payload.Context.Arguments, &completion))
		require.Equal(t, conversation.Completion{
			Tool: "slow_tool", Operation: "read", Step: "inspect", MessageID: "c1.3",
			Status: 422, Body: []byte(body), Signature: signature,
		}, completion)
	})

	t.Run("Gone", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		b.temporal.signalErr = serviceerror.NewNotFound("workflow execution already completed")
		got := b.post(t, callback, "{}", "X-Message-Id", "c1.3", "X-Verification-Signature", signature)
		require.Contains(t, got.refused(t, conversation.CodeNotFound), "do not send it again")
	})

	t.Run("TemporalAway", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		b.temporal.signalErr = serviceerror.NewUnavailable("away")
		got := b.post(t, callback, "{}", "X-Message-Id", "c1.3", "X-Verification-Signature", signature)
		got.refused(t, conversation.CodeUnavailable)
	})

	t.Run("Refused", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		signed := []string{"X-Message-Id", "c1.3", "X-Verification-Signature", signature}
		for change, code := range map[[2]string]conversation.Code{
			{"session_id=s1", "session_id=a%2Fb"}: conversation.CodeInvalidArgument,
			{"session_id=s1", "session_id="}:      conversation.CodeInvalidArgument,
			{"tool=slow_tool", "tool="}:           conversation.CodeInvalidArgument,
			{"trace_id=t1", "trace_id="}:          conversation.CodeInvalidArgument,
			{"trace_id=t1", "trace_id=%ff"}:       conversation.CodeInvalidUTF8,
		} {
			b.post(t, strings.Replace(callback, change[0], change[1], 1), "{}", signed...).refused(t, code)
		}
		other := []string{"X-Message-Id", "other", "X-Verification-Signature", signature}
		b.post(t, callback, "{}", other...).refused(t, conversation.CodeInvalidArgument)
		b.post(t, callback, "{}", "X-Message-Id", "c1.3").refused(t, conversation.CodeInvalidArgument)
		large := strings.Repeat("x", starter.MaxCompletionBytes+1)
		b.post(t, callback, large, signed...).refused(t, conversation.CodeTooLarge)
		require.Empty(t, b.temporal.signals)
	})
}
