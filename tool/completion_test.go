package tool_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/hermes-orchestrator/hermes/conversation"
	"github.com/hermes-orchestrator/hermes/tool"
)

func TestCompletion(t *testing.T) {
	t.Parallel()
	account := startTool(t, "account_tool")
	delivered := make(chan tool.Callback, 10)
	var offered atomic.Int32
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		callback, err := tool.ReadCallback(r)
		if err != nil || offered.Add(1) <= 2 { // The tool delivers again until it is taken.
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		delivered <- callback
		w.WriteHeader(http.StatusNoContent)
	}))
	t.Cleanup(receiver.Close)
	client := newClient(t, tool.ClientConfig{CallbackURL: receiver.URL + "/callback"}, account.manifest)
	req := request("account_tool", "scan")
	req.Call.Step, req.Call.Async, req.Call.Arguments = "read & check", true, json.RawMessage(`{"documents":[1,2]}`)

	accepted, err := client.Invoke(t.Context(), req)
	require.NoError(t, err)
	require.Equal(t, conversation.AnswerProcessing, accepted.Status)
	require.Equal(t, "30s", accepted.Estimated)
	require.Nil(t, accepted.Proof)
	require.Empty(t, accepted.Output)
	require.InDelta(t, 1, client.metric(t, "hermes_tool_calls_total", map[string]string{"code": "processing"}), 0)

	callback := <-delivered
	require.Equal(t, "s-1", callback.SessionID)
	require.Equal(t, "t-1", callback.TraceID)
	done := callback.Completion
	require.Equal(t, "m-1", done.MessageID)
	require.Equal(t, 200, done.Status)
	answer, err := client.VerifyCompletion(done)
	require.NoError(t, err)
	require.Equal(t, conversation.AnswerOK, answer.Status)
	require.Equal(t, "read & check", answer.Step)
	require.Equal(t, "scan", answer.Operation)
	require.NoError(t, client.CheckProof(*answer.Proof))

	for name, change := range map[string]func(*conversation.Completion){
		"body":         func(c *conversation.Completion) { c.Body = append([]byte(" "), c.Body...) },
		"message":      func(c *conversation.Completion) { c.MessageID = "m-2" },
		"no signature": func(c *conversation.Completion) { c.Signature = "" },
		"status":       func(c *conversation.Completion) { c.Status = 500 },
		"nothing, 500": func(c *conversation.Completion) { c.Status, c.Signature = 500, "" },
	} {
		changed := done
		change(&changed)
		_, err := client.VerifyCompletion(changed)
		require.Equal(t, conversation.CodeBadSignature, conversation.CodeOf(err), name)
	}
	done.Status = 0
	_, err = client.VerifyCompletion(done)
	require.NoError(t, err, "no status means 200")
	done.Tool = "other_tool"
	_, err = client.VerifyCompletion(done)
	require.Equal(t, conversation.CodeUnknownTool, conversation.CodeOf(err))

	// A process that is new, while the tool does not answer, cannot check the schema: it may try again.
	account.http.Close()
	fresh := newClient(t, tool.ClientConfig{}, account.manifest)
	done.Tool = "account_tool"
	_, err = fresh.VerifyCompletion(done)
	require.Equal(t, conversation.CodeToolUnavailable, conversation.CodeOf(err))
}

func TestCompletionOfAFailure(t *testing.T) {
	t.Parallel()
	account := startTool(t, "account_tool")
	client := newClient(t, tool.ClientConfig{}, account.manifest)
	body := []byte(`{"error":{"code":"unreadable","message":"nothing to see"}}`)
	for status, code := range map[int]conversation.Code{422: conversation.CodeToolRefused, 500: conversation.CodeToolUnavailable, 202: conversation.CodeToolMisbehaved} {
		signature, err := tool.Sign(keyFor("account_tool"), "k1", "account_tool", "m-1", status, body)
		require.NoError(t, err)
		_, err = client.VerifyCompletion(conversation.Completion{
			Tool: "account_tool", Operation: "scan", MessageID: "m-1", Status: status, Body: body, Signature: signature,
		})
		require.Equal(t, code, conversation.CodeOf(err))
	}
}

func TestReadCallbackRefuses(t *testing.T) {
	t.Parallel()
	good := "/callback?tool=a&operation=b&step=s&session_id=s-1&trace_id=t-1&message_id=m-1"
	tests := map[string]struct {
		target string
		change func(http.Header)
		body   string
		code   conversation.Code
	}{
		"good":     {good, func(http.Header) {}, "{}", ""},
		"no query": {"/callback", func(http.Header) {}, "{}", conversation.CodeInvalidArgument},
		"no session": {
			strings.Replace(good, "session_id=s-1", "", 1),
			func(http.Header) {},
			"{}",
			conversation.CodeInvalidArgument,
		},
		"other message": {
			good,
			func(h http.Header) { h.Set(tool.HeaderMessageID, "m-2") },
			"{}",
			conversation.CodeInvalidArgument,
		},
		"not signed": {
			good,
			func(h http.Header) { h.Del(tool.HeaderSignature) },
			"{}",
			conversation.CodeInvalidArgument,
		},
		"signed twice": {
			good,
			func(h http.Header) { h.Add(tool.HeaderSignature, "x") },
			"{}",
			conversation.CodeInvalidArgument,
		},
		"status is text": {
			good,
			func(h http.Header) { h.Set(tool.HeaderStatus, "ok") },
			"{}",
			conversation.CodeInvalidArgument,
		},
		"status is small": {
			good,
			func(h http.Header) { h.Set(tool.HeaderStatus, "99") },
			"{}",
			conversation.CodeInvalidArgument,
		},
		"too large": {
			good,
			func(http.Header) {},
			strings.Repeat(" ", tool.MaxAnswerBytes+1),
			conversation.CodeTooLarge,
		},
	}
	for name, tt := range tests {
		r := httptest.NewRequest(http.MethodPost, tt.target, strings.NewReader(tt.body))
		r.Header.Set(tool.HeaderMessageID, "m-1")
		r.Header.Set(tool.HeaderSignature, "x")
		tt.change(r.Header)
		_, err := tool.ReadCallback(r)
		require.Equal(t, tt.code, conversation.CodeOf(err), name)
	}
}
