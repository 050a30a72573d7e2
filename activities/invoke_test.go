package activities_test

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"testing"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"

	"github.com/hermes-orchestrator/hermes/activities"
	"github.com/hermes-orchestrator/hermes/contract"
	"github.com/hermes-orchestrator/hermes/conversation"
	"github.com/hermes-orchestrator/hermes/tool"
)

// asked records what a tool was asked for.
type asked struct{ requests []tool.Request }

func (a *asked) Invoke(_ context.Context, request tool.Request) (conversation.Answer, error) {
	a.requests = append(a.requests, request)
	return conversation.Answer{Step: request.Call.Step, Status: conversation.AnswerOK}, nil
}

func (*asked) Fallback(context.Context, tool.Request, string) (conversation.Answer, error) {
	return conversation.Answer{}, errors.New("not asked here")
}

func (*asked) VerifyCompletion(conversation.Completion) (conversation.Answer, error) {
	return conversation.Answer{}, errors.New("not asked here")
}

func envelope(t *testing.T, arguments any, metadata contract.Metadata) contract.Envelope {
	t.Helper()
	data, err := json.Marshal(arguments)
	require.NoError(t, err)
	e := contract.Envelope{
		MessageID: "m", Timestamp: 1, Source: "conversation:S3", Target: "tool:rules", TraceID: "t", CycleID: "c",
		Payload:  contract.Payload{Task: "check", Context: contract.Context{UserID: "u", SessionID: "s", Arguments: data}},
		Metadata: metadata,
	}
	require.NoError(t, e.Seal())
	return e
}

// A tool that is not well is not asked where its fallback can answer (SPEC T1). Where nothing else can, it is asked: an
// effect has no fallback.
func TestInvokeToolThatIsNotWell(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		effect   string
		fallback bool
		asked    bool
	}{
		"its fallback answers": {contract.EffectRead, true, false},
		"nothing else answers": {contract.EffectRead, false, true},
		"an effect":            {contract.EffectWrite, true, true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tools := &asked{}
			invoking := activities.NewInvoking(tools)
			var suite testsuite.WorkflowTestSuite
			env := suite.NewTestActivityEnvironment()
			env.RegisterActivity(invoking.InvokeTool)
			call := conversation.ToolCall{Step: "rules", Tool: "rules", Operation: "check", Unhealthy: "503", Fallback: tt.fallback}
			_, err := env.ExecuteActivity(invoking.InvokeTool, envelope(t, call, contract.Metadata{Effect: tt.effect, IdempotencyKey: "k"}))
			if !tt.asked {
				var final *temporal.ApplicationError
				require.ErrorAs(t, err, &final)
				require.True(t, final.NonRetryable(), "a retry would ask the same")
				require.Equal(t, string(conversation.CodeToolUnavailable), final.Type())
				require.Empty(t, tools.requests)
				return
			}
			require.NoError(t, err)
			require.Len(t, tools.requests, 1)
			require.Equal(t, "k", tools.requests[0].IdempotencyKey)
		})
	}
}

// stream records what was published.
type stream map[int64][]byte

func (s stream) Publish(_ context.Context, _ string, sequence int64, data []byte) error {
	s[sequence] = data
	return nil
}

// A refusal is an event like any other reply. It needs no flow: it can come before one is known.
func TestRefusalIsPublished(t *testing.T) {
	t.Parallel()
	events := stream{}
	replying := activities.NewReplying(nil, events, slog.New(slog.DiscardHandler))
	refusal := conversation.Reply{
		MessageID: "m1", Verdict: conversation.VerdictRefused, Text: "send it again",
		Error: conversation.Errorf(conversation.CodeUnavailable, "send it again"),
	}
	request := conversation.ReplyRequest{Kind: conversation.ReplyRefused, Reply: refusal, Sequence: 3}
	rendered, err := replying.Reply(t.Context(), envelope(t, request, contract.Metadata{}))
	require.NoError(t, err)
	require.True(t, rendered.Published)
	var got conversation.Reply
	require.NoError(t, json.Unmarshal(events[3], &got))
	require.Equal(t, "m1", got.MessageID)
	require.Equal(t, conversation.VerdictRefused, got.Verdict)
	require.Equal(t, "send it again", got.Text)
	require.Equal(t, conversation.CodeUnavailable, got.Error.Code)
}
