package tool_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/hermes-orchestrator/hermes/conversation"
	"github.com/hermes-orchestrator/hermes/tool"
)

func TestInvoke(t *testing.T) {
	t.Parallel()
	account := startTool(t, "account_tool")
	client := newClient(t, tool.ClientConfig{FilesURL: "http://files.example/blobs/"}, account.manifest)
	req := request("account_tool", "balance")
	req.Snapshot = conversation.Snapshot{State: conversation.StateIntent, TraceID: "t-1"}.Header()
	req.IdempotencyKey = ""

	answer, err := client.Invoke(t.Context(), req)
	require.NoError(t, err)
	require.Equal(t, conversation.AnswerOK, answer.Status)
	require.Equal(t, "budget", answer.Step)
	require.Equal(t, "account_tool", answer.Tool)
	require.Equal(t, "balance", answer.Operation)
	require.Equal(t, "m-1", answer.MessageID)
	require.Equal(t, []string{"已比对部门账户"}, answer.Verification)
	require.Contains(t, string(answer.Output), "12345678901234567890.10", "numbers keep their digits")
	require.InDelta(t, 0.9, answer.Diagnostics.ConfidenceScore, 0)
	require.Nil(t, answer.Degraded)

	call := <-account.calls
	require.Equal(t, "t-1", call.TraceID)
	require.Equal(t, "c-1", call.CycleID)
	require.Equal(t, "s-1", call.SessionID)
	require.Equal(t, "m-1/balance", call.IdempotencyKey, "a reading call has a key as well")
	snapshot, err := call.Snapshot()
	require.NoError(t, err)
	require.Equal(t, conversation.StateIntent, snapshot.State)

	require.NotNil(t, answer.Proof)
	require.Equal(t, "2024-06-03T10:00:00Z", answer.Proof.At)
	require.NoError(t, client.CheckProof(*answer.Proof))
	require.InDelta(t, 1, client.metric(t, "hermes_tool_calls_total", map[string]string{"code": "ok"}), 0)
}

func TestCheckProofRefuses(t *testing.T) {
	t.Parallel()
	account := startTool(t, "account_tool")
	client := newClient(t, tool.ClientConfig{}, account.manifest)
	answer, err := client.Invoke(t.Context(), request("account_tool", "balance"))
	require.NoError(t, err)
	good := *answer.Proof
	for name, change := range map[string]func(*conversation.Proof){
		"digest":    func(p *conversation.Proof) { p.Digest = tool.BodyDigest([]byte("other")) },
		"message":   func(p *conversation.Proof) { p.MessageID = "m-2" },
		"key":       func(p *conversation.Proof) { p.KeyID = "k2" },
		"status":    func(p *conversation.Proof) { p.Status = 202 },
		"signature": func(p *conversation.Proof) { p.Signature = "AAAA" },
	} {
		proof := good
		change(&proof)
		require.Equal(t, conversation.CodeBadSignature, conversation.CodeOf(client.CheckProof(proof)), name)
	}
	good.Tool = "other_tool"
	require.Equal(t, conversation.CodeUnknownTool, conversation.CodeOf(client.CheckProof(good)))
}

func TestInvokeChecksTheRequest(t *testing.T) {
	t.Parallel()
	account := startTool(t, "account_tool")
	client := newClient(t, tool.ClientConfig{}, account.manifest)
	tests := map[string]struct {
		change func(*tool.Request)
		code   conversation.Code
	}{
		"unknown tool":      {func(r *tool.Request) { r.Call.Tool = "x" }, conversation.CodeUnknownTool},
		"unknown operation": {func(r *tool.Request) { r.Call.Operation = "x" }, conversation.CodeUnknownTool},
		"no message id":     {func(r *tool.Request) { r.MessageID = "" }, conversation.CodeInvalidArgument},
		"line break in id": {
			func(r *tool.Request) { r.MessageID = "m\r\nX-Evil: 1" },
			conversation.CodeInvalidArgument,
		},
		"space around id":     {func(r *tool.Request) { r.MessageID = " m" }, conversation.CodeInvalidArgument},
		"line break in trace": {func(r *tool.Request) { r.TraceID = "t\n" }, conversation.CodeInvalidArgument},
		"write without key": {
			func(r *tool.Request) { r.Call.Operation = "book"; r.IdempotencyKey = "" },
			conversation.CodeInvalidArgument,
		},
		"other effect": {
			func(r *tool.Request) { r.Call.Effect = tool.EffectWrite },
			conversation.CodeInvalidArgument,
		},
		"arguments are a list": {
			func(r *tool.Request) { r.Call.Arguments = json.RawMessage(`[]`) },
			conversation.CodeInvalidArgument,
		},
		"arguments not JSON": {
			func(r *tool.Request) { r.Call.Arguments = json.RawMessage(`{`) },
			conversation.CodeInvalidArgument,
		},
	}
	for name, tt := range tests {
		req := request("account_tool", "balance")
		tt.change(&req)
		_, err := client.Invoke(t.Context(), req)
		require.Equal(t, tt.code, conversation.CodeOf(err), name)
		require.True(t, tool.NoEffect(err), name)
	}
	require.Empty(t, account.calls)
}

func TestNewClientChecksItsConfiguration(t *testing.T) {
	t.Parallel()
	account := startTool(t, "account_tool")
	registry, err := tool.NewRegistry([]tool.Manifest{account.manifest})
	require.NoError(t, err)
	for name, config := range map[string]tool.ClientConfig{
		"Cache is nil":                           {},
		"FilesURL \"files\" does not start":      {Cache: tool.NewMemoryCache(1, nil), FilesURL: "files"},
		"CallbackURL \"http://x?y\" has a query": {Cache: tool.NewMemoryCache(1, nil), CallbackURL: "http://x?y"},
	} {
		_, err := tool.NewClient(registry, config)
		require.Equal(t, conversation.CodeInvalidConfig, conversation.CodeOf(err), name)
		require.ErrorContains(t, err, name)
	}
	_, err = tool.NewClient(nil, tool.ClientConfig{})
	require.Equal(t, conversation.CodeInvalidConfig, conversation.CodeOf(err))
}
