package tool_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/hermes-orchestrator/hermes/conversation"
	"github.com/hermes-orchestrator/hermes/tool"
)

func TestFallbackCache(t *testing.T) {
	t.Parallel()
	account := startTool(t, "account_tool")
	client := newClient(t, tool.ClientConfig{}, account.manifest)
	req := request("account_tool", "balance")
	_, err := client.Fallback(t.Context(), req, "no answer")
	require.Equal(t, conversation.CodeToolUnavailable, conversation.CodeOf(err))
	require.ErrorContains(t, err, "no earlier answer to this question")

	good, err := client.Invoke(t.Context(), req)
	require.NoError(t, err)
	client.clock.Move(2 * time.Minute)
	req.MessageID = "m-2"
	req.Call.Arguments = json.RawMessage(` { "department" : "采购部" } `) // The same question.
	answer, err := client.Fallback(t.Context(), req, "success rate 50.0% is under 95%")
	require.NoError(t, err)
	require.JSONEq(t, string(good.Output), string(answer.Output))
	require.Equal(t, good.Verification, answer.Verification)
	require.Equal(t, "m-2", answer.MessageID)
	require.Equal(t, "budget", answer.Step)
	require.Nil(t, answer.Proof)
	require.Equal(t, &conversation.Degraded{
		Component: "tool:account_tool", Strategy: "cache", Reason: "success rate 50.0% is under 95%", AsOf: "2024-06-03T10:00:00Z",
	}, answer.Degraded)

	req.Call.Arguments = json.RawMessage(`{"department":"市场部"}`)
	_, err = client.Fallback(t.Context(), req, "down")
	require.ErrorContains(t, err, "no earlier answer")

	req.Call.Arguments = json.RawMessage(`{"department":"采购部"}`)
	client.clock.Move(3 * time.Minute)
	_, err = client.Fallback(t.Context(), req, "down")
	require.Equal(t, conversation.CodeToolUnavailable, conversation.CodeOf(err), "five minutes old is stale")
	labels := map[string]string{"tool": "account_tool", "operation": "balance", "strategy": "cache"}
	labels["code"] = "ok"
	require.InDelta(t, 1, client.metric(t, "hermes_tool_fallbacks_total", labels), 0)
	labels["code"] = "tool_unavailable"
	require.InDelta(t, 3, client.metric(t, "hermes_tool_fallbacks_total", labels), 0)
}

// spoiled is a cache that hands out something else than it was given.
type spoiled struct {
	tool.AnswerCache
	change func(data []byte, at time.Time) ([]byte, time.Time, error)
}

func (s spoiled) Get(ctx context.Context, key string) ([]byte, time.Time, bool, error) {
	data, at, found, err := s.AnswerCache.Get(ctx, key)
	if found {
		data, at, err = s.change(data, at)
	}
	return data, at, found, err
}

func (s spoiled) Put(ctx context.Context, key string, data []byte, at time.Time, _ time.Duration) error {
	return errors.Join(s.AnswerCache.Put(ctx, key, data, at, 24*time.Hour), errors.New("disk is full"))
}

func TestFallbackCacheIsNotTrusted(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		change func([]byte, time.Time) ([]byte, time.Time, error)
		code   conversation.Code
		text   string
	}{
		"as it was": {func(d []byte, at time.Time) ([]byte, time.Time, error) { return d, at, nil }, "", ""},
		"stale, ttl ignored": {
			func(d []byte, at time.Time) ([]byte, time.Time, error) { return d, at.Add(-time.Hour), nil },
			conversation.CodeToolUnavailable,
			"is 1h0m0s old, it may be used for 5m0s",
		},
		"changed body": {func(d []byte, at time.Time) ([]byte, time.Time, error) {
			var e map[string]any
			_ = json.Unmarshal(d, &e)
			e["body"] = []byte(`{"status":"ok","output":{"remaining":"9.99"},"diagnostics":` + goodDiagnostics + `}`)
			d, err := json.Marshal(e)
			return d, at, err
		}, conversation.CodeBadSignature, "the kept answer"},
		"other tool": {func(d []byte, at time.Time) ([]byte, time.Time, error) {
			return []byte(strings.Replace(string(d), `"tool":"account_tool"`, `"tool":"spare_tool"`, 1)), at, nil
		}, conversation.CodeToolUnavailable, "cannot be read"},
		"not JSON": {
			func(_ []byte, at time.Time) ([]byte, time.Time, error) { return []byte("x"), at, nil },
			conversation.CodeToolUnavailable, "cannot be read",
		},
		"down": {
			func(_ []byte, at time.Time) ([]byte, time.Time, error) { return nil, at, errors.New("no route") },
			conversation.CodeToolUnavailable, "does not answer",
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			account, now := startTool(t, "account_tool"), newClock()
			registry, err := tool.NewRegistry([]tool.Manifest{account.manifest})
			require.NoError(t, err)
			client, err := tool.NewClient(registry, tool.ClientConfig{
				Cache: spoiled{tool.NewMemoryCache(0, now.Now), tt.change}, Now: now.Now, Logger: discard(),
			})
			require.NoError(t, err)
			t.Cleanup(client.Close)
			_, err = client.Invoke(t.Context(), request("account_tool", "balance"))
			require.NoError(t, err, "an answer that cannot be kept is an answer")
			_, err = client.Fallback(t.Context(), request("account_tool", "balance"), "down")
			require.Equal(t, tt.code, conversation.CodeOf(err))
			if tt.code != "" {
				require.ErrorContains(t, err, tt.text)
			}
		})
	}
}

func TestFallbackMock(t *testing.T) {
	t.Parallel()
	account := startTool(t, "account_tool")
	client := newClient(t, tool.ClientConfig{}, account.manifest)
	answer, err := client.Fallback(t.Context(), request("account_tool", "scan"), "down")
	require.NoError(t, err)
	require.JSONEq(t, `{"remaining":"0.00"}`, string(answer.Output))
	require.Equal(t, conversation.AnswerOK, answer.Status)
	require.Equal(t, "mock", answer.Degraded.Strategy)
	require.Empty(t, answer.Degraded.AsOf)

	account.manifest.Operations["scan"] = tool.Operation{
		Effect: "read", Fallback: tool.Fallback{Strategy: "mock", Answer: json.RawMessage(`{"remaining":0}`)},
	}
	wrong := newClient(t, tool.ClientConfig{}, account.manifest)
	_, err = wrong.Invoke(t.Context(), request("account_tool", "balance")) // Now the schema is known.
	require.NoError(t, err)
	_, err = wrong.Fallback(t.Context(), request("account_tool", "scan"), "down")
	require.Equal(t, conversation.CodeInvalidConfig, conversation.CodeOf(err))
}

func TestFallbackProxy(t *testing.T) {
	t.Parallel()
	account, spare := startTool(t, "account_tool"), startTool(t, "spare_tool")
	second := httptest.NewServer(account.Server)
	t.Cleanup(second.Close)
	forged := httptest.NewServer(through(account, func(r *httptest.ResponseRecorder) { r.Body.WriteString(" ") }))
	t.Cleanup(forged.Close)

	operations := account.manifest.Operations
	operations["balance"] = tool.Operation{
		Effect:   "read",
		Fallback: tool.Fallback{Strategy: "proxy", URL: spare.http.URL},
	}
	operations["book"] = tool.Operation{Effect: "write", Fallback: tool.Fallback{Strategy: "proxy", URL: second.URL}}
	operations["scan"] = tool.Operation{
		Effect:   "read",
		Async:    true,
		Fallback: tool.Fallback{Strategy: "proxy", URL: forged.URL},
	}
	account.http.Close()
	client := newClient(t, tool.ClientConfig{CallbackURL: "http://hermes.example/callback"}, account.manifest,
		spare.manifest)

	answer, err := client.Fallback(t.Context(), request("account_tool", "balance"), "down")
	require.NoError(t, err)
	require.Equal(t, "spare_tool", answer.Tool, "verified with the keys of the tool that has this URL")
	require.Equal(t, "proxy", answer.Degraded.Strategy)
	require.Equal(t, "tool:account_tool", answer.Degraded.Component)
	require.Nil(t, answer.Proof)

	answer, err = client.Fallback(t.Context(), request("account_tool", "book"), "down")
	require.NoError(t, err)
	require.Equal(t, "account_tool", answer.Tool, "a second instance of the same tool")

	req := request("account_tool", "scan")
	req.Call.Arguments, req.Call.Async = json.RawMessage(`{"documents":[]}`), true
	_, err = client.Fallback(t.Context(), req, "down")
	require.Equal(t, conversation.CodeBadSignature, conversation.CodeOf(err))

	account.manifest.Alternate = "spare_tool"
	operations["balance"] = tool.Operation{Effect: "read", Fallback: tool.Fallback{Strategy: "proxy"}}
	byAlternate := newClient(t, tool.ClientConfig{}, account.manifest, spare.manifest)
	answer, err = byAlternate.Fallback(t.Context(), request("account_tool", "balance"), "down")
	require.NoError(t, err)
	require.Equal(t, "spare_tool", answer.Tool)
}

func TestFallbackNone(t *testing.T) {
	t.Parallel()
	account := startTool(t, "account_tool")
	account.manifest.Dev = true
	account.manifest.Operations["scan"] = tool.Operation{Effect: "read", Fallback: tool.Fallback{Strategy: "none"}}
	client := newClient(t, tool.ClientConfig{}, account.manifest)
	for _, operation := range []string{"book", "scan"} {
		_, err := client.Fallback(t.Context(), request("account_tool", operation), "down")
		require.Equal(t, conversation.CodeToolUnavailable, conversation.CodeOf(err))
		require.ErrorContains(t, err, "has no fallback")
	}
	_, err := client.Fallback(t.Context(), request("other_tool", "x"), "down")
	require.Equal(t, conversation.CodeUnknownTool, conversation.CodeOf(err))
	req := request("account_tool", "balance")
	req.MessageID = ""
	_, err = client.Fallback(t.Context(), req, "down")
	require.Equal(t, conversation.CodeInvalidArgument, conversation.CodeOf(err))
}

func TestMemoryCache(t *testing.T) {
	t.Parallel()
	now := newClock()
	cache := tool.NewMemoryCache(2, now.Now)
	put := func(key string) {
		require.NoError(t, cache.Put(t.Context(), key, []byte(key), now.Now(), time.Minute))
	}
	has := func(key string) bool {
		data, at, found, err := cache.Get(t.Context(), key)
		require.NoError(t, err)
		if found {
			require.Equal(t, key, string(data))
			require.False(t, at.IsZero())
			data[0] = '!' // The caller's own copy.
		}
		return found
	}
	put("a")
	put("b")
	require.True(t, has("a"))
	put("c")
	require.True(t, has("a"))
	require.False(t, has("b"), "it was used least recently")
	require.True(t, has("c"))
	now.Move(time.Minute)
	require.False(t, has("a"))
	put("a")
	put("a")
	require.True(t, has("a"))
}
