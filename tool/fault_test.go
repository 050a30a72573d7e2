package tool_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/hermes-orchestrator/hermes/conversation"
	"github.com/hermes-orchestrator/hermes/tool"
)

// through runs the real tool and lets change spoil what it answered to an invocation.
func through(account *instance, change func(*httptest.ResponseRecorder)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		recorded := httptest.NewRecorder()
		account.Server.ServeHTTP(recorded, r)
		if strings.HasPrefix(r.URL.Path, "/invoke/") {
			change(recorded)
		}
		maps.Copy(w.Header(), recorded.Header())
		w.WriteHeader(recorded.Code)
		_, _ = recorded.Body.WriteTo(w)
	})
}

// sign signs whatever the recorder holds like the tool would.
func sign(name string, r *httptest.ResponseRecorder) {
	header, err := tool.Sign(keyFor(name), "k1", name, "m-1", r.Code, r.Body.Bytes())
	if err != nil {
		panic(err)
	}
	r.Header().Set(tool.HeaderSignature, header)
}

func replace(r *httptest.ResponseRecorder, status int, body string) {
	r.Code = status
	r.Body = bytes.NewBufferString(body)
}

func TestInvokeBelievesNothingUnsigned(t *testing.T) {
	t.Parallel()
	const name = "account_tool"
	tests := []struct {
		name    string
		change  func(*httptest.ResponseRecorder)
		code    conversation.Code
		unknown bool // Whether a write may have taken effect.
	}{
		{
			"no signature",
			func(r *httptest.ResponseRecorder) { r.Header().Del(tool.HeaderSignature) },
			conversation.CodeBadSignature,
			true,
		},
		{"two signatures", func(r *httptest.ResponseRecorder) {
			r.Header().Add(tool.HeaderSignature, r.Header().Get(tool.HeaderSignature))
		}, conversation.CodeBadSignature, true},
		{"forged", func(r *httptest.ResponseRecorder) {
			header, _ := tool.Sign(keyFor("mallory"), "k1", name, "m-1", 200, r.Body.Bytes())
			r.Header().Set(tool.HeaderSignature, header)
		}, conversation.CodeBadSignature, true},
		{"unknown key", func(r *httptest.ResponseRecorder) {
			header, _ := tool.Sign(keyFor(name), "k9", name, "m-1", 200, r.Body.Bytes())
			r.Header().Set(tool.HeaderSignature, header)
		}, conversation.CodeBadSignature, true},
		{"body altered", func(r *httptest.ResponseRecorder) {
			r.Body = bytes.NewBuffer(bytes.Replace(r.Body.Bytes(), []byte("125000.00"), []byte("925000.00"), 1))
		}, conversation.CodeBadSignature, true},
		{"status altered", func(r *httptest.ResponseRecorder) { r.Code = 201 }, conversation.CodeBadSignature, true},
		{"old answer replayed", func(r *httptest.ResponseRecorder) {
			header, _ := tool.Sign(keyFor(name), "k1", name, "m-0", 200, r.Body.Bytes())
			r.Header().Set(tool.HeaderSignature, header)
		}, conversation.CodeBadSignature, true},
		{"answer of another tool", func(r *httptest.ResponseRecorder) {
			header, _ := tool.Sign(keyFor(name), "k1", "other_tool", "m-1", 200, r.Body.Bytes())
			r.Header().Set(tool.HeaderSignature, header)
		}, conversation.CodeBadSignature, true},
		{"unsigned 404", func(r *httptest.ResponseRecorder) {
			replace(r, 404, `{"error":{"code":"not_found"}}`)
			r.Header().Del(tool.HeaderSignature)
		}, conversation.CodeBadSignature, true},
		{"unsigned redirect", func(r *httptest.ResponseRecorder) {
			replace(r, 307, "")
			r.Header().Set("Location", "http://mallory.example/")
			r.Header().Del(tool.HeaderSignature)
		}, conversation.CodeBadSignature, true},
		{"unsigned 502", func(r *httptest.ResponseRecorder) {
			replace(r, 502, "<html>bad gateway</html>")
			r.Header().Del(tool.HeaderSignature)
		}, conversation.CodeToolUnavailable, true},
		{
			"forged 503",
			func(r *httptest.ResponseRecorder) { replace(r, 503, "{}") },
			conversation.CodeBadSignature,
			true,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			account := startTool(t, name)
			client := newClient(t, tool.ClientConfig{}, account.manifest)
			account.handler.Set(through(account, tt.change))
			answer, err := client.Invoke(t.Context(), request(name, "book"))
			require.Equal(t, tt.code, conversation.CodeOf(err))
			require.Zero(t, answer)
			require.Equal(t, tt.unknown, !tool.NoEffect(err))
			want := 0.0
			if tt.code == conversation.CodeBadSignature {
				want = 1
			}
			require.InDelta(t, want,
				client.metric(t, "hermes_tool_bad_signatures_total", map[string]string{"tool": name}), 0)
			require.InDelta(
				t,
				1,
				client.metric(t, "hermes_tool_calls_total",
					map[string]string{"tool": name, "operation": "book", "code": string(tt.code)}),
				0,
			)
		})
	}
}

const goodDiagnostics = `{"processing_time_ms":1,"memory_used_kb":1,"external_calls":{"count":0,"mean_latency_ms":0},"confidence_score":1}`

func TestInvokeChecksSignedAnswers(t *testing.T) {
	t.Parallel()
	const name = "account_tool"
	body := func(status, output, diagnostics string) string {
		return `{"status":"` + status + `","output":` + output + `,"diagnostics":` + diagnostics + `}`
	}
	tests := []struct {
		name   string
		status int
		body   string
		code   conversation.Code
		text   string
	}{
		{"good", 200, body("ok", `{"remaining":"1.00"}`, goodDiagnostics), "", ""},
		{
			"more than is known",
			200,
			`{"status":"ok","output":{"remaining":"1.00"},"future":1,"diagnostics":` + goodDiagnostics + `}`,
			"",
			"",
		},
		{"not JSON", 200, "<html>", conversation.CodeToolMisbehaved, "not a JSON object"},
		{"not UTF-8", 200, "{\"status\":\"\xff\"}", conversation.CodeToolMisbehaved, "not UTF-8"},
		{"empty", 200, "", conversation.CodeToolMisbehaved, "not a JSON object"},
		{
			"other status text",
			200,
			body("processing", `{}`, goodDiagnostics),
			conversation.CodeToolMisbehaved,
			"status text",
		},
		{"other 2xx", 206, body("ok", `{}`, goodDiagnostics), conversation.CodeToolMisbehaved, "status 206"},
		{"redirect", 302, "{}", conversation.CodeToolMisbehaved, "status 302"},
		{
			"not asked for",
			202,
			body("processing", `{}`, goodDiagnostics),
			conversation.CodeToolMisbehaved,
			"no answer by callback",
		},
		{
			"no output",
			200,
			`{"status":"ok","diagnostics":` + goodDiagnostics + `}`,
			conversation.CodeToolMisbehaved,
			"no output",
		},
		{
			"not its schema",
			200,
			body("ok", `{"remaining":12}`, goodDiagnostics),
			conversation.CodeToolMisbehaved,
			"\"/remaining\" got number, want string",
		},
		{
			"not its pattern",
			200,
			body("ok", `{"remaining":"secret"}`, goodDiagnostics),
			conversation.CodeToolMisbehaved,
			"breaks the rule \"pattern\"",
		},
		{
			"no diagnostics",
			200,
			`{"status":"ok","output":{"remaining":"1.00"}}`,
			conversation.CodeToolMisbehaved,
			"no diagnostics",
		},
		{
			"null diagnostics",
			200,
			body("ok", `{"remaining":"1.00"}`, "null"),
			conversation.CodeToolMisbehaved,
			"no diagnostics",
		},
		{
			"no confidence",
			200,
			body("ok", `{"remaining":"1.00"}`, strings.Replace(goodDiagnostics, `,"confidence_score":1`, "", 1)),
			conversation.CodeToolMisbehaved,
			"confidence_score",
		},
		{
			"confidence of 2",
			200,
			body("ok", `{"remaining":"1.00"}`, strings.Replace(goodDiagnostics, `score":1`, `score":2`, 1)),
			conversation.CodeToolMisbehaved,
			"confidence_score",
		},
		{
			"no time",
			200,
			body("ok", `{"remaining":"1.00"}`, strings.Replace(goodDiagnostics, `"processing_time_ms":1,`, "", 1)),
			conversation.CodeToolMisbehaved,
			"processing_time_ms",
		},
		{
			"time is text",
			200,
			body("ok", `{"remaining":"1.00"}`, strings.Replace(goodDiagnostics, `ms":1`, `ms":"1"`, 1)),
			conversation.CodeToolMisbehaved,
			"diagnostics are not those",
		},
		{
			"no calls",
			200,
			body("ok", `{"remaining":"1.00"}`, strings.Replace(goodDiagnostics, `"count":0,`, "", 1)),
			conversation.CodeToolMisbehaved,
			"external_calls.count",
		},
		{
			"refused",
			409,
			`{"error":{"code":"conflict","message":"already booked","retryable":false}}`,
			conversation.CodeToolRefused,
			"status 409, conflict: already booked",
		},
		{"refused without a reason", 422, `not JSON`, conversation.CodeToolRefused, "status 422 without a reason"},
		{"time-out at the tool", 408, `{}`, conversation.CodeToolUnavailable, "status 408"},
		{"busy", 429, `{"error":{"code":"busy"}}`, conversation.CodeToolUnavailable, "status 429, busy"},
		{
			"failure",
			500,
			`{"error":{"code":"internal","message":"oops"}}`,
			conversation.CodeToolUnavailable,
			"status 500, internal: oops",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			account := startTool(t, name)
			client := newClient(t, tool.ClientConfig{}, account.manifest)
			account.handler.Set(through(account, func(r *httptest.ResponseRecorder) {
				replace(r, tt.status, tt.body)
				sign(name, r)
			}))
			answer, err := client.Invoke(t.Context(), request(name, "balance"))
			require.Equal(t, tt.code, conversation.CodeOf(err))
			if tt.code == "" {
				require.NotNil(t, answer.Proof)
				return
			}
			require.ErrorContains(t, err, tt.text)
			require.NotContains(t, err.Error(), "secret", "raw data does not belong into messages")
			var refusal *tool.Refusal
			if errors.As(err, &refusal) {
				require.Equal(t, tt.status, refusal.Status)
			}
			require.Equal(t, tt.status >= 400, refusal != nil)
			require.Equal(t, tt.code == conversation.CodeToolRefused || tt.status == 429, tool.NoEffect(err))
		})
	}
}

func TestInvokeOversizeAnswer(t *testing.T) {
	t.Parallel()
	account := startTool(t, "account_tool")
	client := newClient(t, tool.ClientConfig{}, account.manifest)
	account.handler.Set(through(account, func(r *httptest.ResponseRecorder) {
		replace(r, 200, strings.Repeat(" ", tool.MaxAnswerBytes+1))
		sign("account_tool", r)
	}))
	_, err := client.Invoke(t.Context(), request("account_tool", "balance"))
	require.Equal(t, conversation.CodeToolMisbehaved, conversation.CodeOf(err))
	require.ErrorContains(t, err, "more than 8388608 bytes")
}

func TestInvokeSlowTool(t *testing.T) {
	t.Parallel()
	account := startTool(t, "account_tool")
	client := newClient(t, tool.ClientConfig{}, account.manifest)
	_, err := client.Invoke(t.Context(), request("account_tool", "balance")) // Fetches the schema.
	require.NoError(t, err)
	told := make(chan string, 1)
	account.handler.Set(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		told <- r.Header.Get(tool.HeaderTimeoutMS)
		_, _ = io.Copy(io.Discard, r.Body)
		<-r.Context().Done()
	}))
	req := request("account_tool", "book")
	req.Timeout = 50 * time.Millisecond
	_, err = client.Invoke(t.Context(), req)
	require.Equal(t, conversation.CodeToolUnavailable, conversation.CodeOf(err))
	require.ErrorContains(t, err, "no answer within the time limit")
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.False(t, tool.NoEffect(err))
	ms, err := strconv.Atoi(<-told)
	require.NoError(t, err)
	require.LessOrEqual(t, ms, 50)
	require.Positive(t, ms)

	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-told; cancel() }()
	_, err = client.Invoke(ctx, request("account_tool", "book"))
	require.ErrorIs(t, err, context.Canceled)
	require.Equal(t, conversation.CodeToolUnavailable, conversation.CodeOf(err))
}

func TestInvokeBrokenConnections(t *testing.T) {
	t.Parallel()
	account := startTool(t, "account_tool")
	client := newClient(t, tool.ClientConfig{}, account.manifest)
	_, err := client.Invoke(t.Context(), request("account_tool", "balance"))
	require.NoError(t, err)

	reset := func(after string) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			connection, _, err := w.(http.Hijacker).Hijack()
			if err != nil {
				return
			}
			_, _ = io.WriteString(connection, after)
			_ = connection.(*net.TCPConn).SetLinger(0)
			_ = connection.Close()
		})
	}
	for _, after := range []string{"", "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{\"status\""} {
		account.handler.Set(reset(after))
		_, err = client.Invoke(t.Context(), request("account_tool", "book"))
		require.Equal(t, conversation.CodeToolUnavailable, conversation.CodeOf(err))
		require.False(t, tool.NoEffect(err), "it was sent, so it may have been done")
		require.NotContains(t, err.Error(), "127.0.0.1", "addresses do not belong into messages")
	}

	account.http.Close()
	_, err = client.Invoke(t.Context(), request("account_tool", "book"))
	require.ErrorContains(t, err, "the connection was refused")
	require.True(t, tool.NoEffect(err), "it was never sent")
	require.Equal(t, conversation.CodeToolUnavailable, conversation.CodeOf(err))
}
