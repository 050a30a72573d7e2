package tool_test

import (
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/hermes-orchestrator/hermes/conversation"
	"github.com/hermes-orchestrator/hermes/tool"
	"github.com/hermes-orchestrator/hermes/tool/server"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// keyFor is a key that depends on the seed text alone.
func keyFor(seed string) ed25519.PrivateKey {
	sum := sha256.Sum256([]byte(seed))
	return ed25519.NewKeyFromSeed(sum[:])
}

func publicOf(key ed25519.PrivateKey) ed25519.PublicKey {
	public, _ := key.Public().(ed25519.PublicKey)
	return public
}

// clock is a clock that moves when it is told.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func newClock() *clock { return &clock{now: time.Date(2024, 6, 3, 10, 0, 0, 0, time.UTC)} }

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) Move(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// handler may be exchanged while the server runs.
type handler struct {
	mu   sync.Mutex
	next http.Handler
}

func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h.mu.Lock()
	next := h.next
	h.mu.Unlock()
	next.ServeHTTP(w, r)
}

func (h *handler) Set(next http.Handler) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.next = next
}

// instance is a real tool behind a real HTTP server, and what a manifest says of it.
type instance struct {
	*server.Server
	http     *httptest.Server
	handler  *handler
	manifest tool.Manifest
	calls    chan *server.Call
	health   func() tool.Health
	mu       sync.Mutex
}

func (i *instance) SetHealth(h tool.Health) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.health = func() tool.Health { return h }
}

func (i *instance) Health(context.Context) tool.Health {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.health()
}

func healthy() tool.Health {
	return tool.Health{Status: tool.StatusOK, LatencyMS: 10, SuccessRate: 1}
}

const (
	accountInput  = `{"type":"object","properties":{"department":{"type":"string"}},"required":["department"],"additionalProperties":false}`
	accountOutput = `{"type":"object","properties":{"remaining":{"type":"string","pattern":"^[0-9]+\\.[0-9]{2}$"},"tool":{"type":"string"},"exact":{"type":"number"}},"required":["remaining"]}`
)

// startTool starts a tool "name" with a read operation "balance", a write operation "book" and an asynchronous
// operation "scan" that works on "documents".
func startTool(t *testing.T, name string) *instance {
	t.Helper()
	i := &instance{handler: &handler{}, calls: make(chan *server.Call, 100), health: healthy}
	answer := func(_ context.Context, call *server.Call) (*server.Result, error) {
		i.calls <- call
		return &server.Result{
			Output: map[string]any{
				"remaining": "125000.00",
				"tool":      name,
				"exact":     json.Number("12345678901234567890.10"),
			},
			VerificationSteps: []string{"已比对部门账户"}, Confidence: 0.9,
		}, nil
	}
	var err error
	i.Server, err = server.New(server.Config{
		Name: name, Key: keyFor(name), Health: i.Health, Logger: discard(),
		CallbackBackoff: time.Millisecond,
		Operations: []server.Operation{
			{
				Name:   "balance",
				Effect: tool.EffectRead,
				Input:  json.RawMessage(accountInput),
				Output: json.RawMessage(accountOutput),
				Handle: answer,
			},
			{
				Name:   "book",
				Effect: tool.EffectWrite,
				Input:  json.RawMessage(accountInput),
				Output: json.RawMessage(accountOutput),
				Handle: answer,
			},
			{
				Name: "scan", Effect: tool.EffectRead, Async: true, Batch: "documents",
				Input:  json.RawMessage(`{"type":"object","properties":{"documents":{"type":"array"}}}`),
				Output: json.RawMessage(accountOutput), Handle: answer,
			},
		},
	})
	require.NoError(t, err)
	i.handler.Set(i.Server)
	i.http = httptest.NewServer(i.handler)
	t.Cleanup(func() { i.http.Close(); i.Close() })
	i.manifest = tool.Manifest{
		Name: name, URL: i.http.URL, Keys: map[string]ed25519.PublicKey{"k1": publicOf(keyFor(name))},
		Operations: map[string]tool.Operation{
			"balance": {
				Effect:   tool.EffectRead,
				Fallback: tool.Fallback{Strategy: tool.FallbackCache, StaleAfter: 5 * time.Minute},
			},
			"book": {Effect: tool.EffectWrite},
			"scan": {
				Effect: tool.EffectRead, Async: true, Batch: "documents",
				Fallback: tool.Fallback{Strategy: tool.FallbackMock, Answer: json.RawMessage(`{"remaining":"0.00"}`)},
			},
		},
	}
	return i
}

func discard() *slog.Logger { return slog.New(slog.DiscardHandler) }

// bundle is a client and what it was given.
type bundle struct {
	*tool.Client
	clock   *clock
	cache   *tool.MemoryCache
	metrics *prometheus.Registry
}

func newClient(t *testing.T, config tool.ClientConfig, manifests ...tool.Manifest) *bundle {
	t.Helper()
	registry, err := tool.NewRegistry(manifests)
	require.NoError(t, err)
	b := &bundle{clock: newClock(), metrics: prometheus.NewRegistry()}
	b.cache = tool.NewMemoryCache(0, b.clock.Now)
	config.Now, config.Cache, config.Registerer, config.Logger = b.clock.Now, b.cache, b.metrics, discard()
	b.Client, err = tool.NewClient(registry, config)
	require.NoError(t, err)
	t.Cleanup(b.Close)
	return b
}

func request(name, operation string) tool.Request {
	return tool.Request{
		Call: conversation.ToolCall{
			Step: "budget", Tool: name, Operation: operation, Arguments: json.RawMessage(`{"department":"采购部"}`),
		},
		MessageID: "m-1", TraceID: "t-1", CycleID: "c-1", SessionID: "s-1", IdempotencyKey: "receipt-1",
	}
}

// metric returns the value of one series of a counter.
func (b *bundle) metric(t *testing.T, name string, labels map[string]string) float64 {
	t.Helper()
	families, err := b.metrics.Gather()
	require.NoError(t, err)
	for _, family := range families {
		if family.GetName() != name {
			continue
		}
	series:
		for _, m := range family.GetMetric() {
			for _, label := range m.GetLabel() {
				if want, ok := labels[label.GetName()]; ok && want != label.GetValue() {
					continue series
				}
			}
			return m.GetCounter().GetValue()
		}
	}
	return 0
}
