package tool_test

import (
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/hermes-orchestrator/hermes/conversation"
	"github.com/hermes-orchestrator/hermes/tool"
)

func TestInvokeWithoutSchemaCallsNothing(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		schema string
		status int
		code   conversation.Code
		text   string
	}{
		"missing":     {"", 404, conversation.CodeToolUnavailable, ""},
		"not OpenAPI": {"[]", 200, conversation.CodeToolMisbehaved, "not an OpenAPI 3.0 document"},
		"other version": {
			`{"openapi":"3.1.0","info":{"title":"t","version":"1"},"paths":{}}`,
			200,
			conversation.CodeToolMisbehaved,
			"not 3.0",
		},
		"without operation": {
			`{"openapi":"3.0.3","info":{"title":"t","version":"1"},"paths":{}}`,
			200,
			conversation.CodeToolMisbehaved,
			"no POST /invoke/book",
		},
		"reading, it says": {
			openAPI("read", `{"type":"object"}`),
			200,
			conversation.CodeToolMisbehaved,
			`x-hermes-effect is "read", the manifest says "write"`,
		},
		"refers to a file": {
			openAPI("write", `{"$ref":"file:///etc/passwd"}`),
			200,
			conversation.CodeToolMisbehaved,
			"OpenAPI",
		},
		"refers to a website": {
			openAPI("write", `{"$ref":"http://127.0.0.1:1/x.json"}`),
			200,
			conversation.CodeToolMisbehaved,
			"OpenAPI",
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			account := startTool(t, "account_tool")
			account.handler.Set(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path != "/schema" {
					account.Server.ServeHTTP(w, r)
					return
				}
				w.WriteHeader(tt.status)
				_, _ = io.WriteString(w, tt.schema)
			}))
			client := newClient(t, tool.ClientConfig{}, account.manifest)
			_, err := client.Invoke(t.Context(), request("account_tool", "book"))
			require.Equal(t, tt.code, conversation.CodeOf(err))
			require.ErrorContains(t, err, tt.text)
			require.True(t, tool.NoEffect(err))
			require.Empty(t, account.calls)
		})
	}
}

// openAPI describes one operation "book".
func openAPI(effect, schema string) string {
	return `{"openapi":"3.0.3","info":{"title":"t","version":"1"},"paths":{"/invoke/book":{"post":{"x-hermes-effect":"` + effect +
		`","responses":{"200":{"description":"ok","content":{"application/json":{"schema":` + schema + `}}}}}}}}`
}

func TestSchemaIsRefreshed(t *testing.T) {
	t.Parallel()
	account := startTool(t, "account_tool")
	fetched, schema := make(chan struct{}, 100), openAPI("write", `{"type":"object","required":["remaining"]}`)
	swap := &handler{}
	serve := func(status int, document string) {
		swap.Set(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			fetched <- struct{}{}
			w.WriteHeader(status)
			_, _ = io.WriteString(w, document)
		}))
	}
	account.handler.Set(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/schema" {
			swap.ServeHTTP(w, r)
			return
		}
		account.Server.ServeHTTP(w, r)
	}))
	client := newClient(t, tool.ClientConfig{}, account.manifest)
	invoke := func() error {
		_, err := client.Invoke(t.Context(), request("account_tool", "book"))
		return err
	}
	serve(200, schema)
	require.NoError(t, invoke())
	client.clock.Move(4 * time.Minute)
	require.NoError(t, invoke())
	require.Len(t, fetched, 1, "it is kept for five minutes")
	client.clock.Move(2 * time.Minute)
	require.NoError(t, invoke())
	require.Len(t, fetched, 2)

	client.clock.Move(6 * time.Minute)
	serve(500, "")
	require.NoError(t, invoke(), "the known one serves while there is no new one")
	require.NoError(t, invoke())
	require.Len(t, fetched, 3, "and a refresh that does not work is not tried at once again")

	// The tool is replaced: what it answers now does not fit what it said before, but what it says now.
	serve(200, openAPI("write", `{"type":"object","required":["balance"]}`))
	client.clock.Move(time.Minute)
	require.Equal(t, conversation.CodeToolMisbehaved, conversation.CodeOf(invoke()))
	require.Len(t, fetched, 4)
	serve(200, schema)
	require.Equal(t, conversation.CodeToolMisbehaved, conversation.CodeOf(invoke()), "not more often than every 10 s")
	require.Len(t, fetched, 4)
	client.clock.Move(11 * time.Second)
	require.NoError(t, invoke())
	require.Len(t, fetched, 5)
}
