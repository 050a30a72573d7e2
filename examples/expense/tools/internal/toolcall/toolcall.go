// Package toolcall lets the tests of the example's tools call a tool as Hermes does: over HTTP, with the answer's
// signature verified. It imports tool and tool/server; only tests import it.
package toolcall

import (
	"context"
	"crypto/ed25519"
	"encoding/json"
	"log/slog"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/hermes-orchestrator/hermes/conversation"
	"github.com/hermes-orchestrator/hermes/tool"
	"github.com/hermes-orchestrator/hermes/tool/server"
)

// Key returns a new key for a tool under test.
func Key(t *testing.T) ed25519.PrivateKey {
	t.Helper()
	_, key, err := ed25519.GenerateKey(nil)
	require.NoError(t, err)
	return key
}

// Caller calls one tool.
type Caller struct {
	client *tool.Client
	name   string
	// URL is the base of the tool's endpoints.
	URL string
}

// New serves the tool until the test ends. FilesURL is where it fetches uploads; it may be empty.
func New(t *testing.T, name string, s *server.Server, operations map[string]tool.Operation, filesURL string) *Caller {
	t.Helper()
	web := httptest.NewServer(s)
	t.Cleanup(func() {
		web.Close()
		s.Close()
	})
	key, err := tool.DecodeKey(s.PublicKey())
	require.NoError(t, err)
	registry, err := tool.NewRegistry([]tool.Manifest{{
		Name: name, URL: web.URL, Keys: map[string]ed25519.PublicKey{"k1": key}, Operations: operations, Dev: true,
	}})
	require.NoError(t, err)
	client, err := tool.NewClient(registry, tool.ClientConfig{FilesURL: filesURL, Logger: slog.New(slog.DiscardHandler)})
	require.NoError(t, err)
	t.Cleanup(func() { client.Close() })
	return &Caller{client: client, name: name, URL: web.URL}
}

// Read is a reading operation without fallback.
func Read() tool.Operation {
	return tool.Operation{Effect: tool.EffectRead, Fallback: tool.Fallback{Strategy: tool.FallbackNone}}
}

// Write is a writing operation without fallback.
func Write() tool.Operation {
	return tool.Operation{Effect: tool.EffectWrite, Fallback: tool.Fallback{Strategy: tool.FallbackNone}}
}

// Invoke calls an operation with arguments that are marshalled to JSON.
func (c *Caller) Invoke(ctx context.Context, operation, key string, arguments any) (conversation.Answer, error) {
	encoded, err := json.Marshal(arguments)
	if err != nil {
		return conversation.Answer{}, err
	}
	return c.client.Invoke(ctx, tool.Request{
		Call:      conversation.ToolCall{Tool: c.name, Operation: operation, Arguments: encoded},
		MessageID: "m-" + key, TraceID: "t-1", CycleID: "c-1", SessionID: "s-1", IdempotencyKey: key,
	})
}

// Health returns the tool's heartbeat.
func (c *Caller) Health(ctx context.Context) (tool.Health, error) {
	return c.client.Health(ctx, c.name)
}
