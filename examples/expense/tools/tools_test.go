package tools_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/hermes-orchestrator/hermes/conversation"
	"github.com/hermes-orchestrator/hermes/examples/expense/tools"
	"github.com/hermes-orchestrator/hermes/tool"
	"github.com/hermes-orchestrator/hermes/tool/server"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func config(t *testing.T, dir string) tools.Config {
	t.Helper()
	key, err := server.KeyFromFile(filepath.Join(dir, "tools.key"))
	require.NoError(t, err)
	return tools.Config{Dir: dir, Key: key, Logger: slog.New(slog.DiscardHandler)}
}

// The manifest of the example fits the tools: every operation can be called through it, with the arguments of the flow.
func TestManifestFitsTheTools(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	dir := t.TempDir()
	handlers, set, err := tools.All(ctx, config(t, dir))
	require.NoError(t, err)
	defer func() { require.NoError(t, set.Close()) }()
	mux := http.NewServeMux()
	for name, handler := range handlers {
		mux.Handle("/"+name+"/", http.StripPrefix("/"+name, handler))
	}
	web := httptest.NewServer(mux)
	defer web.Close()

	// All tools sign with one key.
	keysFile := filepath.Join(dir, "tools.pub")
	public := set.KeyID + " " + tool.EncodeKey(set.Keys()["org_tool"]) + "\n"
	require.NoError(t, os.WriteFile(keysFile, []byte(public), 0o600))
	registry, err := tool.LoadManifests("../tools.yaml", func(name string) string {
		return map[string]string{
			"HERMES_TOOL_KEYS": keysFile, "HERMES_TOOL_ORG_URL": web.URL + "/org_tool",
			"HERMES_TOOL_FINANCE_URL": web.URL + "/finance_tool", "HERMES_TOOL_OCR_URL": web.URL + "/ocr_tool",
			"HERMES_TOOL_TRIP_URL": web.URL + "/trip_tool", "HERMES_TOOL_RULES_URL": web.URL + "/rule_engine_tool",
		}[name]
	})
	require.NoError(t, err)
	require.ElementsMatch(t, tools.Names(), registry.Names())
	client, err := tool.NewClient(registry, tool.ClientConfig{
		Cache: tool.NewMemoryCache(100, nil), Logger: slog.New(slog.DiscardHandler),
	})
	require.NoError(t, err)
	defer client.Close()

	for i, call := range []struct{ tool, operation, arguments, want string }{
		{"org_tool", "lookup", `{"user_id":"u-1001"}`, `"dept":"采购部"`},
		{"finance_tool", "budget", `{"department":"采购部"}`, `"budget_remaining":"125000.00"`},
		{"trip_tool", "verify", `{"user_id":"u-1001","city":"深圳","start":"2024-05-12","end":"2024-05-15"}`, `"valid":true`},
		{
			"rule_engine_tool", "check", `{"department":"采购部","approval_chain":["主管","总监"],"city":"深圳","start":"2024-05-12",
			"end":"2024-05-15","total":"3200.00","invoices":[{"id":"i-1","merchant":"深圳湾景酒店有限公司","amount":"3200.00",
			"currency":"CNY","date":"2024-05-15","confidence":0.97,"region":{"x":0,"y":0,"width":1,"height":1}}]}`,
			`住宿费￥3200，接近标准上限￥3500`,
		},
		{"finance_tool", "debit", `{"user_id":"u-1001","department":"采购部","amount":"8240.00","currency":"CNY",
			"approver":"张主管","trip_id":"T-2024-0512"}`, `"budget_remaining":"116760.00"`},
	} {
		answer, err := client.Invoke(ctx, tool.Request{
			Call: conversation.ToolCall{
				Tool: call.tool, Operation: call.operation, Arguments: json.RawMessage(call.arguments),
			},
			MessageID: "m-" + string(rune('a'+i)), TraceID: "t", CycleID: "c", SessionID: "s", IdempotencyKey: "k-1",
		})
		require.NoError(t, err, call.tool)
		require.Contains(t, string(answer.Output), call.want)
		require.NotEmpty(t, answer.Verification, call.tool)
	}
	debits, err := set.Debits(ctx)
	require.NoError(t, err)
	require.Len(t, debits, 1)
	require.Contains(t, debits[0], "k-1 u-1001 采购部 8240.00 CNY 张主管 T-2024-0512")
}

func TestFilesInTheDirectoryReplaceTheExample(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "budgets.yaml"), []byte("budgets: {财务部: \"10.00\"}\n"), 0o600))
	c := config(t, dir)
	c.Names = []string{"finance_tool"}
	set, err := tools.Open(context.Background(), c)
	require.NoError(t, err)
	remaining, err := set.Ledger().Budget(context.Background(), "财务部")
	require.NoError(t, err)
	require.Equal(t, "10.00", remaining.String())
	require.NoError(t, set.Close())
}

func TestOpenNamesTheProblem(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	dir := t.TempDir()
	c := config(t, dir)
	c.Names = []string{"org_tool", "weather_tool"}
	_, err := tools.Open(ctx, c)
	require.Equal(t, conversation.CodeUnknownTool, conversation.CodeOf(err))
	require.ErrorContains(t, err, "rule_engine_tool")

	require.NoError(t, os.WriteFile(filepath.Join(dir, "rules.yaml"), []byte("rules: ["), 0o600))
	c.Names = []string{"rule_engine_tool"}
	_, err = tools.Open(ctx, c)
	require.Equal(t, conversation.CodeInvalidConfig, conversation.CodeOf(err))

	c.Key = nil
	_, err = tools.Open(ctx, c)
	require.Equal(t, conversation.CodeInvalidConfig, conversation.CodeOf(err))
}
