package server_test

import (
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/hermes-orchestrator/hermes/conversation"
	"github.com/hermes-orchestrator/hermes/tool"
	"github.com/hermes-orchestrator/hermes/tool/server"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func key() ed25519.PrivateKey {
	sum := sha256.Sum256([]byte("echo_tool"))
	return ed25519.NewKeyFromSeed(sum[:])
}

func manifest() tool.Manifest {
	public, _ := key().Public().(ed25519.PublicKey)
	return tool.Manifest{Name: "echo_tool", Keys: map[string]ed25519.PublicKey{"k1": public}}
}

const (
	wordInput  = `{"type":"object","properties":{"word":{"type":"string"},"n":{"type":"number"}},"required":["word"],"additionalProperties":false}`
	wordOutput = `{"type":"object","properties":{"word":{"type":"string"}},"required":["word"]}`
)

type handle = func(context.Context, *server.Call) (*server.Result, error)

// start serves one operation "say" with the given handler; change may alter the configuration.
func start(t *testing.T, h handle, change func(*server.Config)) (*server.Server, *httptest.Server) {
	t.Helper()
	config := server.Config{
		Name: "echo_tool", Key: key(), Logger: slog.New(slog.DiscardHandler), CallbackBackoff: time.Millisecond,
		Operations: []server.Operation{{
			Name: "say", Description: "Says a word.", Effect: tool.EffectRead, Async: true,
			Input: json.RawMessage(wordInput), Output: json.RawMessage(wordOutput), Handle: h,
		}},
	}
	if change != nil {
		change(&config)
	}
	s, err := server.New(config)
	require.NoError(t, err)
	web := httptest.NewServer(s)
	t.Cleanup(func() { web.Close(); s.Close() })
	return s, web
}

func echo(_ context.Context, call *server.Call) (*server.Result, error) {
	var arguments struct{ Word string }
	if err := call.Decode(&arguments); err != nil {
		return nil, err
	}
	return &server.Result{Output: map[string]string{"word": arguments.Word}}, nil
}

// reply is a verified answer.
type reply struct {
	status int
	header http.Header
	body   []byte
}

func (r reply) fails(t *testing.T) tool.ErrorBody {
	t.Helper()
	var body tool.ErrorBody
	require.NoError(t, json.Unmarshal(r.body, &body))
	require.NotNil(t, body.Diagnostics)
	return body
}

func (r reply) answers(t *testing.T) tool.AnswerBody {
	t.Helper()
	var body tool.AnswerBody
	require.NoError(t, json.Unmarshal(r.body, &body), "%s", r.body)
	require.NotNil(t, body.Diagnostics)
	return body
}

// call sends a request and verifies the signature of whatever comes back.
func call(t *testing.T, method, url, body string, headers map[string]string) reply {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	require.NoError(t, err)
	request.Header.Set(tool.HeaderMessageID, "m-1")
	for name, value := range headers {
		request.Header.Set(name, value)
		if value == "" {
			request.Header.Del(name)
		}
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	response, err := client.Do(request)
	require.NoError(t, err)
	defer response.Body.Close()
	data, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	if method != http.MethodHead {
		_, err = manifest().Verify(response.Header.Values(tool.HeaderSignature), request.Header.Get(tool.HeaderMessageID), response.StatusCode, data)
		require.NoError(t, err)
	}
	return reply{status: response.StatusCode, header: response.Header, body: data}
}

func TestInvoke(t *testing.T) {
	t.Parallel()
	_, web := start(t, func(ctx context.Context, c *server.Call) (*server.Result, error) {
		c.External(20 * time.Millisecond)
		c.External(40 * time.Millisecond)
		result, err := echo(ctx, c)
		result.VerificationSteps, result.Confidence = []string{"已核对<词典>"}, 0.75
		return result, err
	}, nil)
	got := call(t, "POST", web.URL+"/invoke/say", `{"word":"差旅 & <费>"}`, nil)
	require.Equal(t, 200, got.status)
	require.Equal(t, "application/json", got.header.Get("Content-Type"))
	require.Contains(t, string(got.body), `"word":"差旅 & <费>"`, "people read it as it is")
	body := got.answers(t)
	require.Equal(t, conversation.AnswerOK, body.Status)
	require.Equal(t, []string{"已核对<词典>"}, body.VerificationSteps)
	require.Equal(t, conversation.ExternalCalls{Count: 2, MeanLatencyMS: 30}, body.Diagnostics.ExternalCalls)
	require.InDelta(t, 0.75, body.Diagnostics.ConfidenceScore, 0)
	require.GreaterOrEqual(t, body.Diagnostics.MemoryUsedKB, int64(0))
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	_, web := start(t, echo, func(c *server.Config) {
		book := c.Operations[0]
		book.Name, book.Effect = "book", tool.EffectWrite
		c.Operations = append(c.Operations, book)
	})
	tests := map[string]struct {
		method, path, body string
		headers            map[string]string
		status             int
		code, text         string
	}{
		"not its type": {
			"POST",
			"/invoke/say",
			`{"word":1}`,
			nil,
			400,
			"invalid_argument",
			`"/word" got number, want string`,
		},
		"missing": {"POST", "/invoke/say", `{}`, nil, 400, "invalid_argument", "missing property 'word'"},
		"too many": {
			"POST",
			"/invoke/say",
			`{"word":"a","x":1}`,
			nil,
			400,
			"invalid_argument",
			"additional properties 'x'",
		},
		"not JSON": {"POST", "/invoke/say", `{`, nil, 400, "invalid_argument", "it is not one JSON value"},
		"two values": {
			"POST",
			"/invoke/say",
			`{"word":"a"}{}`,
			nil,
			400,
			"invalid_argument",
			"it is not one JSON value",
		},
		"a list":  {"POST", "/invoke/say", `[]`, nil, 400, "invalid_argument", "not a JSON object"},
		"nothing": {"POST", "/invoke/say", ``, nil, 400, "invalid_argument", "not a JSON object"},
		"too large": {
			"POST",
			"/invoke/say",
			`{"word":"` + strings.Repeat("a", tool.MaxAnswerBytes) + `"}`,
			nil,
			413,
			"too_large",
			"more than 8388608 bytes",
		},
		"no message id": {
			"POST",
			"/invoke/say",
			`{"word":"a"}`,
			map[string]string{tool.HeaderMessageID: ""},
			400,
			"invalid_argument",
			"X-Message-Id is missing",
		},
		"no key for a write": {
			"POST",
			"/invoke/book",
			`{"word":"a"}`,
			nil,
			400,
			"invalid_argument",
			"Idempotency-Key is missing",
		},
		"time is text": {
			"POST",
			"/invoke/say",
			`{"word":"a"}`,
			map[string]string{tool.HeaderTimeoutMS: "5s"},
			400,
			"invalid_argument",
			"X-Timeout-Ms \"5s\"",
		},
		"time is up": {
			"POST",
			"/invoke/say",
			`{"word":"a"}`,
			map[string]string{tool.HeaderTimeoutMS: "0"},
			400,
			"invalid_argument",
			"X-Timeout-Ms",
		},
		"unknown operation": {"POST", "/invoke/fly", `{}`, nil, 404, "not_found", `operation "fly"`},
		"unknown path":      {"GET", "/metrics", ``, nil, 404, "not_found", `path "/metrics"`},
		"GET an operation":  {"GET", "/invoke/say", ``, nil, 405, "invalid_argument", "use POST"},
		"POST health":       {"POST", "/health", ``, nil, 405, "invalid_argument", "use GET"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := call(t, tt.method, web.URL+tt.path, tt.body, tt.headers)
			require.Equal(t, tt.status, got.status)
			failure := got.fails(t).Error
			require.Equal(t, tt.code, failure.Code)
			require.Contains(t, failure.Message, tt.text)
			require.False(t, failure.Retryable)
		})
	}
}

func TestMessageIDThatCannotBeSigned(t *testing.T) {
	t.Parallel()
	s, _ := start(t, echo, nil)
	r := httptest.NewRequest(http.MethodPost, "/invoke/say", strings.NewReader(`{"word":"a"}`))
	r.Header[tool.HeaderMessageID] = []string{"m\n1"}
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	require.Equal(t, 400, w.Code)
	require.Empty(t, w.Header().Get(tool.HeaderSignature))
}

func TestFailuresOfAnOperation(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		handle handle
		status int
		code   string
		text   string
		retry  bool
	}{
		"refused": {func(context.Context, *server.Call) (*server.Result, error) {
			return nil, server.Fail(409, "conflict", "这笔已入账", false)
		}, 409, "conflict", "这笔已入账", false},
		"unavailable": {func(context.Context, *server.Call) (*server.Result, error) {
			return nil, errors.Join(errors.New("context"), server.Fail(503, "unavailable", "the ledger is busy", true))
		}, 503, "unavailable", "the ledger is busy", true},
		"not an error status": {func(context.Context, *server.Call) (*server.Result, error) {
			return nil, server.Fail(200, "odd", "odd", false)
		}, 500, "odd", "odd", false},
		"plain error": {func(context.Context, *server.Call) (*server.Result, error) {
			return nil, errors.New("password=hunter2")
		}, 500, "internal", `operation "say" ended with an error inside the tool`, true},
		"panic": {func(context.Context, *server.Call) (*server.Result, error) {
			panic("password=hunter2")
		}, 500, "internal", `operation "say" ended with an error inside the tool`, true},
		"nothing": {func(context.Context, *server.Call) (*server.Result, error) {
			return nil, nil
		}, 500, "internal", "inside the tool", true},
		"output of another shape": {func(context.Context, *server.Call) (*server.Result, error) {
			return &server.Result{Output: map[string]int{"word": 1}}, nil
		}, 500, "internal", `does not fit its schema: "/word" got number, want string`, false},
		"output that is not JSON": {func(context.Context, *server.Call) (*server.Result, error) {
			return &server.Result{Output: map[string]any{"word": func() {}}}, nil
		}, 500, "internal", "inside the tool", true},
		"too sure": {func(context.Context, *server.Call) (*server.Result, error) {
			return &server.Result{Output: map[string]string{"word": "a"}, Confidence: 2}, nil
		}, 500, "internal", "inside the tool", true},
		"too much": {func(context.Context, *server.Call) (*server.Result, error) {
			return &server.Result{Output: map[string]string{"word": strings.Repeat("a", tool.MaxAnswerBytes)}}, nil
		}, 500, "internal", "at most 8388608 are allowed", false},
		"too slow": {func(ctx context.Context, _ *server.Call) (*server.Result, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}, 504, "timeout", "within the time limit", true},
		"does not decode": {func(_ context.Context, c *server.Call) (*server.Result, error) {
			var wrong struct{ Word int }
			return nil, c.Decode(&wrong)
		}, 400, "invalid_argument", "do not fit", false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, web := start(t, tt.handle, nil)
			got := call(
				t,
				"POST",
				web.URL+"/invoke/say",
				`{"word":"a"}`,
				map[string]string{tool.HeaderTimeoutMS: "200"},
			)
			require.Equal(t, tt.status, got.status)
			failure := got.fails(t).Error
			require.Equal(t, tt.code, failure.Code)
			require.Contains(t, failure.Message, tt.text)
			require.Equal(t, tt.retry, failure.Retryable)
			require.NotContains(t, string(got.body), "hunter2")
		})
	}
}

func TestHealthIsMeasured(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	now, fails := time.Date(2024, 6, 3, 10, 0, 0, 0, time.UTC), false
	move := func(d time.Duration) {
		mu.Lock()
		defer mu.Unlock()
		now = now.Add(d)
	}
	_, web := start(t, func(context.Context, *server.Call) (*server.Result, error) {
		move(300 * time.Millisecond)
		if fails {
			return nil, server.Fail(503, "unavailable", "busy", true)
		}
		return &server.Result{Output: map[string]string{"word": "a"}}, nil
	}, func(c *server.Config) {
		c.Now = func() time.Time {
			mu.Lock()
			defer mu.Unlock()
			return now
		}
		c.Operations[0].Input = json.RawMessage(`{"type":"object","properties":{"words":{"type":"array"}}}`)
		c.Operations[0].Batch = "words"
	})
	health := func() server.Health {
		var h server.Health
		require.NoError(t, json.Unmarshal(call(t, "GET", web.URL+"/health", "", nil).body, &h))
		return h
	}
	h := health()
	require.Equal(t, tool.StatusOK, h.Status)
	require.Zero(t, h.LatencyMS)
	require.InDelta(t, 1, h.SuccessRate, 0)

	call(t, "POST", web.URL+"/invoke/say", `{"words":[1,2,3]}`, nil)
	require.InDelta(t, 100, health().LatencyMS, 0.1, "the time of one item")
	call(t, "POST", web.URL+"/invoke/say", `{"words":{}}`, nil)
	require.InDelta(t, 1, health().SuccessRate, 0, "a refused call does not count against the tool")

	fails = true
	call(t, "POST", web.URL+"/invoke/say", `{}`, nil)
	h = health()
	require.Empty(t, h.Unhealthy(tool.DefaultLatencyLimit), "once may happen")
	require.Equal(t, "1 of 2 calls failed in the last 1m0s", h.Detail)
	call(t, "POST", web.URL+"/invoke/say", `{}`, nil)
	h = health()
	require.Contains(t, h.Unhealthy(tool.DefaultLatencyLimit), "success rate")
	require.Equal(t, tool.StatusDegraded, h.Status)

	move(2 * time.Minute)
	h = health()
	require.Equal(t, tool.StatusOK, h.Status, "a tool that is not asked for a while may be asked again")
	require.InDelta(t, 1, h.SuccessRate, 0)
}

func TestHealthOfItsOwn(t *testing.T) {
	t.Parallel()
	_, web := start(t, echo, func(c *server.Config) {
		c.Health = func(context.Context) server.Health {
			return server.Health{Status: tool.StatusDown, SuccessRate: 1, Detail: "the program is missing"}
		}
	})
	got := call(t, "GET", web.URL+"/health", "", nil)
	require.Equal(t, 200, got.status)
	require.JSONEq(
		t,
		`{"status":"down","latency_ms":0,"success_rate":1,"detail":"the program is missing"}`,
		string(got.body),
	)
	require.Empty(t, call(t, "HEAD", web.URL+"/health", "", nil).body)

	_, web = start(t, echo, func(c *server.Config) {
		c.Health = func(context.Context) server.Health { panic("no") }
	})
	got = call(t, "GET", web.URL+"/health", "", nil)
	require.Equal(t, 500, got.status)
	require.Equal(t, "internal", got.fails(t).Error.Code)
}

func TestSchema(t *testing.T) {
	t.Parallel()
	_, web := start(t, echo, func(c *server.Config) {
		c.Operations[0].Output = json.RawMessage(`{"$ref":"#/$defs/said","$defs":{"said":` + wordOutput + `}}`)
	})
	got := call(t, "GET", web.URL+"/schema", "", nil)
	loader := openapi3.NewLoader()
	document, err := loader.LoadFromData(got.body)
	require.NoError(t, err)
	require.NoError(t, document.Validate(loader.Context))
	require.Equal(t, "3.0.3", document.OpenAPI)
	require.Equal(t, "echo_tool", document.Info.Title)
	post := document.Paths.Value("/invoke/say").Post
	require.Equal(t, "read", post.Extensions["x-hermes-effect"])
	require.Equal(t, true, post.Extensions["x-hermes-async"])
	require.Equal(t, "Says a word.", post.Description)
	require.NotNil(t, post.RequestBody.Value.Content.Get("application/json").Schema.Value.Properties["word"])
	output := post.Responses.Status(200).Value.Content.Get("application/json").Schema
	require.Equal(t, "#/components/schemas/say.output.said", output.Ref)
	require.NotNil(t, output.Value.Properties["word"])
	require.NotNil(t, post.Responses.Status(202))
}

func TestNewRefuses(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		change func(*server.Config)
		text   string
	}{
		"no name":       {func(c *server.Config) { c.Name = "" }, "the name is not made of"},
		"bad name":      {func(c *server.Config) { c.Name = "a/b" }, "the name is not made of"},
		"no key":        {func(c *server.Config) { c.Key = nil }, "the key has 0 bytes"},
		"bad key id":    {func(c *server.Config) { c.KeyID = "k 1" }, `key id "k 1"`},
		"no operations": {func(c *server.Config) { c.Operations = nil }, "it has no operation"},
		"twice": {
			func(c *server.Config) { c.Operations = append(c.Operations, c.Operations[0]) },
			`operation "say" is described twice`,
		},
		"bad operation": {func(c *server.Config) { c.Operations[0].Name = "a b" }, `operation "a b"`},
		"no effect":     {func(c *server.Config) { c.Operations[0].Effect = "" }, `effect "" is not one of`},
		"no handler":    {func(c *server.Config) { c.Operations[0].Handle = nil }, "Handle is nil"},
		"no input":      {func(c *server.Config) { c.Operations[0].Input = nil }, "Input: not JSON"},
		"bad output": {
			func(c *server.Config) { c.Operations[0].Output = json.RawMessage(`{"type":"text"}`) },
			"Output: not a JSON Schema",
		},
		"not in OpenAPI": {
			func(c *server.Config) { c.Operations[0].Output = json.RawMessage(`{"if":true}`) },
			`operation "say": Output: "/if" cannot be said in OpenAPI 3.0`,
		},
		"bad default": {func(c *server.Config) {
			c.Operations[0].Input = json.RawMessage(
				`{"type":"object","properties":{"a":{"type":"string","default":1}}}`,
			)
		}, "would not be a valid OpenAPI 3.0 document"},
	}
	for name, tt := range tests {
		config := server.Config{Name: "echo_tool", Key: key(), Operations: []server.Operation{{
			Name: "say", Effect: tool.EffectRead, Input: json.RawMessage(wordInput), Output: json.RawMessage(wordOutput), Handle: echo,
		}}}
		tt.change(&config)
		_, err := server.New(config)
		require.Equal(t, conversation.CodeInvalidConfig, conversation.CodeOf(err), name)
		require.ErrorContains(t, err, tt.text, name)
	}
}
