package server_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http/httptest"
	"os"
	"path/filepath"

	"github.com/hermes-orchestrator/hermes/conversation"
	"github.com/hermes-orchestrator/hermes/tool"
	"github.com/hermes-orchestrator/hermes/tool/server"
)

// A tool with one operation, and how Hermes calls it.
func Example() {
	directory, err := os.MkdirTemp("", "tool")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(directory)
	key, err := server.KeyFromFile(filepath.Join(directory, "weather_tool.key"))
	if err != nil {
		fmt.Println(err)
		return
	}

	// The tool's side.
	weather, err := server.New(server.Config{
		Name: "weather_tool", Key: key, Logger: slog.New(slog.DiscardHandler),
		Operations: []server.Operation{{
			Name: "now", Effect: tool.EffectRead,
			Input: json.RawMessage(`{
				"type": "object",
				"properties": {"city": {"type": "string", "minLength": 1}},
				"required": ["city"],
				"additionalProperties": false
			}`),
			Output: json.RawMessage(`{
				"type": "object",
				"properties": {"feels_like": {"type": "number"}},
				"required": ["feels_like"]
			}`),
			Handle: func(_ context.Context, call *server.Call) (*server.Result, error) {
				var arguments struct{ City string }
				if err := call.Decode(&arguments); err != nil {
					return nil, err
				}
				if arguments.City != "深圳" {
					return nil, server.Fail(404, "unknown_city", "没有该城市的观测站", false)
				}
				return &server.Result{
					Output:            map[string]any{"feels_like": json.Number("31.50")},
					VerificationSteps: []string{"已比对两个观测站"},
				}, nil
			},
		}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer weather.Close()
	web := httptest.NewServer(weather)
	defer web.Close()

	// The side of Hermes: a manifest, and a client.
	path := filepath.Join(directory, "tools.yaml")
	manifest := `
tools:
  - name: weather_tool
    url: ${WEATHER_URL}
    keys: {k1: "${WEATHER_KEY}"}
    operations:
      now:
        effect: read
        fallback: {strategy: cache, stale_after: 10m}
`
	if err := os.WriteFile(path, []byte(manifest), 0o600); err != nil {
		fmt.Println(err)
		return
	}
	environment := map[string]string{"WEATHER_URL": web.URL, "WEATHER_KEY": weather.PublicKey()}
	registry, err := tool.LoadManifests(path, func(name string) string { return environment[name] })
	if err != nil {
		fmt.Println(err)
		return
	}
	client, err := tool.NewClient(registry, tool.ClientConfig{
		Cache: tool.NewMemoryCache(100, nil), Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer client.Close()

	for i, city := range []string{"深圳", "亚特兰蒂斯"} {
		answer, err := client.Invoke(context.Background(), tool.Request{
			Call: conversation.ToolCall{
				Tool: "weather_tool", Operation: "now", Arguments: json.RawMessage(fmt.Sprintf(`{"city":%q}`, city)),
			},
			MessageID: fmt.Sprintf("m-%d", i),
		})
		if err != nil {
			fmt.Println(err)
			continue
		}
		fmt.Println(string(answer.Output), answer.Verification, client.CheckProof(*answer.Proof))
	}

	// Output:
	// {"feels_like":31.50} [已比对两个观测站] <nil>
	// tool_refused: tool "weather_tool", operation "now": status 404, unknown_city: 没有该城市的观测站
}
