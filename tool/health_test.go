package tool_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/hermes-orchestrator/hermes/conversation"
	"github.com/hermes-orchestrator/hermes/tool"
)

func TestUnhealthy(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		health tool.Health
		want   string
	}{
		{"healthy", tool.Health{Status: "ok", LatencyMS: 2000, SuccessRate: 0.95}, ""},
		{"degraded by its own word", tool.Health{Status: "degraded", LatencyMS: 1, SuccessRate: 1}, ""},
		{"slow", tool.Health{Status: "ok", LatencyMS: 2001, SuccessRate: 1}, "latency 2.001s is over 2s"},
		{"failing", tool.Health{Status: "ok", SuccessRate: 0.949}, "success rate 94.9% is under 95%"},
		{
			"down",
			tool.Health{Status: "down", SuccessRate: 1, Detail: "tesseract is missing"},
			"status is down (tesseract is missing)",
		},
		{"no quota", tool.Health{Status: "ok", SuccessRate: 1, QuotaRemaining: new(int64(0))}, "quota is used up"},
		{"some quota", tool.Health{Status: "ok", SuccessRate: 1, QuotaRemaining: new(int64(1))}, ""},
	}
	for _, tt := range tests {
		require.Equal(t, tt.want, tt.health.Unhealthy(tool.DefaultLatencyLimit), tt.name)
	}
}

func TestHealthIsCachedAndShared(t *testing.T) {
	t.Parallel()
	account := startTool(t, "account_tool")
	asked, release := make(chan struct{}, 100), make(chan struct{})
	account.handler.Set(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked <- struct{}{}
		<-release
		account.Server.ServeHTTP(w, r)
	}))
	client := newClient(t, tool.ClientConfig{}, account.manifest)

	// One who gives up does not fail the others, who share the request.
	ctx, cancel := context.WithCancel(t.Context())
	impatient := make(chan error, 1)
	go func() {
		_, err := client.Health(ctx, "account_tool")
		impatient <- err
	}()
	<-asked
	var group sync.WaitGroup
	for range 10 {
		group.Go(func() {
			h, err := client.Health(t.Context(), "account_tool")
			if err != nil || h.Status != tool.StatusOK {
				t.Errorf("health %v, error %v", h, err)
			}
		})
	}
	cancel()
	require.ErrorIs(t, <-impatient, context.Canceled)
	close(release)
	group.Wait()
	require.Empty(t, asked)

	account.SetHealth(tool.Health{Status: tool.StatusDown, SuccessRate: 1})
	client.clock.Move(2 * time.Second)
	h, err := client.Health(t.Context(), "account_tool")
	require.NoError(t, err)
	require.Equal(t, tool.StatusOK, h.Status, "two seconds old is fresh enough")
	client.clock.Move(time.Millisecond)
	h, err = client.Health(t.Context(), "account_tool")
	require.NoError(t, err)
	require.Equal(t, tool.StatusDown, h.Status)

	_, err = client.Health(t.Context(), "other_tool")
	require.Equal(t, conversation.CodeUnknownTool, conversation.CodeOf(err))
}

func TestHealthThatIsNone(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		status int
		body   string
		want   string
	}{
		"status":          {503, `{"status":"ok","latency_ms":1,"success_rate":1}`, "answers with status 503"},
		"not JSON":        {200, `<html>`, "not a JSON object"},
		"other text":      {200, `{"status":"fine","latency_ms":1,"success_rate":1}`, `has status "fine"`},
		"no latency":      {200, `{"status":"ok","success_rate":1}`, "no usable latency_ms"},
		"no success rate": {200, `{"status":"ok","latency_ms":1}`, "no success_rate"},
		"rate in percent": {200, `{"status":"ok","latency_ms":1,"success_rate":98}`, "no success_rate between 0 and 1"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			account := startTool(t, "account_tool")
			account.handler.Set(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(tt.status)
				_, _ = io.WriteString(w, tt.body)
			}))
			client := newClient(t, tool.ClientConfig{}, account.manifest)
			h, err := client.Health(t.Context(), "account_tool")
			require.NoError(t, err)
			require.Equal(t, tool.StatusDown, h.Status)
			require.Contains(t, h.Unhealthy(time.Second), tt.want)
		})
	}
}

func TestCapability(t *testing.T) {
	t.Parallel()
	account := startTool(t, "account_tool")
	client := newClient(t, tool.ClientConfig{CallbackURL: "http://hermes.example/callback"}, account.manifest)
	ask := func(operation, arguments string) tool.Capability {
		t.Helper()
		c, err := client.Capability(t.Context(), "account_tool", operation, json.RawMessage(arguments))
		require.NoError(t, err)
		return c
	}
	require.Equal(t, tool.Capability{
		Effect: "read", TimeoutMS: 5000, MaxAttempts: 3, BackoffMS: 200, Fallback: true,
	}, ask("balance", `{}`))
	require.Equal(
		t,
		tool.Capability{Effect: "write", TimeoutMS: 5000, MaxAttempts: 3, BackoffMS: 200},
		ask("book", `{}`),
	)

	account.SetHealth(tool.Health{Status: "ok", LatencyMS: 600, SuccessRate: 1})
	client.clock.Move(time.Minute)
	require.False(t, ask("scan", `{"documents":[1]}`).Async, "600 ms are no reason to answer later")
	require.True(t, ask("scan", `{"documents":[1,2]}`).Async)
	require.False(t, ask("scan", `{"documents":[]}`).Async)
	require.False(t, ask("scan", `not JSON`).Async)
	require.False(t, ask("balance", `{"documents":[1,2]}`).Async, "the operation cannot")

	account.SetHealth(tool.Health{Status: "ok", LatencyMS: 2600, SuccessRate: 1})
	client.clock.Move(time.Minute)
	c := ask("scan", `{"documents":[1,2]}`)
	require.Equal(t, "latency 2.6s is over 2s", c.Unhealthy)
	require.False(t, c.Async)

	account.http.Close()
	client.clock.Move(time.Minute)
	require.Contains(t, ask("balance", `{}`).Unhealthy, "the connection was refused")
	_, err := client.Capability(t.Context(), "account_tool", "fly", nil)
	require.Equal(t, conversation.CodeUnknownTool, conversation.CodeOf(err))

	silent := newClient(t, tool.ClientConfig{}, account.manifest)
	account.SetHealth(tool.Health{Status: "ok", LatencyMS: 1500, SuccessRate: 1})
	c, err = silent.Capability(t.Context(), "account_tool", "scan", json.RawMessage(`{"documents":[1,2]}`))
	require.NoError(t, err)
	require.False(t, c.Async, "nobody could be called back")
}

func TestAlternate(t *testing.T) {
	t.Parallel()
	account, spare := startTool(t, "account_tool"), startTool(t, "spare_tool")
	account.manifest.Alternate = "spare_tool"
	client := newClient(t, tool.ClientConfig{}, account.manifest, spare.manifest)
	invoke := func(operation string) conversation.Answer {
		t.Helper()
		client.clock.Move(time.Minute)
		answer, err := client.Invoke(t.Context(), request("account_tool", operation))
		require.NoError(t, err)
		require.NoError(t, client.CheckProof(*answer.Proof))
		return answer
	}
	unhealthy := func(operation string) string {
		t.Helper()
		c, err := client.Capability(t.Context(), "account_tool", operation, nil)
		require.NoError(t, err)
		return c.Unhealthy
	}
	require.Equal(t, "account_tool", invoke("balance").Tool)

	account.SetHealth(tool.Health{Status: "ok", LatencyMS: 10, SuccessRate: 0.5})
	answer := invoke("balance")
	require.Equal(t, "spare_tool", answer.Tool)
	require.Equal(t, "spare_tool", answer.Proof.Tool)
	require.Nil(t, answer.Degraded, "an alternate is a tool, not a fallback")
	require.Empty(t, unhealthy("balance"), "planning need not care")
	require.Equal(t, "account_tool", invoke("book").Tool, "a write stays where an earlier attempt may have been")
	require.Contains(t, unhealthy("book"), "success rate")

	// What the alternate said serves as the last good answer as well.
	account.handler.Set(http.NotFoundHandler())
	kept, err := client.Fallback(t.Context(), request("account_tool", "balance"), "down")
	require.NoError(t, err)
	require.Equal(t, "spare_tool", kept.Tool)

	account.handler.Set(account.Server)
	spare.SetHealth(tool.Health{Status: "down", SuccessRate: 1})
	require.Equal(t, "account_tool", invoke("balance").Tool, "both are unhealthy")
	require.Contains(t, unhealthy("balance"), "success rate")
}

func TestAlternateMustMatch(t *testing.T) {
	t.Parallel()
	account, spare := startTool(t, "account_tool"), startTool(t, "spare_tool")
	account.manifest.Alternate = "spare_tool"
	other := spare.manifest
	other.Operations = map[string]tool.Operation{"book": spare.manifest.Operations["balance"]}
	_, err := tool.NewRegistry([]tool.Manifest{account.manifest, other})
	require.ErrorContains(t, err, `effect "write" differs from "read" of the alternate "spare_tool"`)
	other.Operations = map[string]tool.Operation{"fly": spare.manifest.Operations["balance"]}
	_, err = tool.NewRegistry([]tool.Manifest{account.manifest, other})
	require.ErrorContains(t, err, `tool "account_tool": alternate: alternate "spare_tool" has none of the operations`)
}

func TestSlowHealthCheckIsUnhealthy(t *testing.T) {
	t.Parallel()
	account := startTool(t, "account_tool")
	account.handler.Set(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }))
	client := newClient(t, tool.ClientConfig{}, account.manifest)
	start := time.Now()
	c, err := client.Capability(t.Context(), "account_tool", "balance", nil)
	require.NoError(t, err)
	require.Contains(t, c.Unhealthy, "no answer within the time limit")
	require.Less(t, time.Since(start), 10*time.Second)
}

func TestRedirectIsNotFollowed(t *testing.T) {
	t.Parallel()
	account := startTool(t, "account_tool")
	target := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		t.Error("a tool that redirects is not the tool that was registered")
	}))
	t.Cleanup(target.Close)
	account.handler.Set(http.RedirectHandler(target.URL, http.StatusTemporaryRedirect))
	client := newClient(t, tool.ClientConfig{HTTP: &http.Client{Timeout: time.Nanosecond}}, account.manifest)
	h, err := client.Health(t.Context(), "account_tool")
	require.NoError(t, err)
	require.Contains(t, h.Detail, "status 307")
}
