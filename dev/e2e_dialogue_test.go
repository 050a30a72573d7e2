package main

import (
	"bytes"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/hermes-orchestrator/hermes/conversation"
	"github.com/hermes-orchestrator/hermes/dev/webcheck"
)

// TestDialogues runs all scripts of the example, as `dev test` does. A script that was skipped is a skipped subtest.
func TestDialogues(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	err := runScripts(t.Context(), &out, testOptions{
		// Other tests run beside this one, and tools that get no processor in time have failed.
		paths: []string{filepath.Join(exampleDir, "dialogues")}, example: exampleDir, parallel: 2,
	})
	require.NoError(t, err, "%s", &out)
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	passed := 0
	for _, line := range lines {
		verdict, rest, _ := strings.Cut(line, " ")
		switch verdict {
		case "ok":
			passed++
		case "SKIP":
			t.Run(strings.Fields(rest)[0], func(t *testing.T) {
				if os.Getenv(webcheck.EnvCI) == "1" {
					t.Fatalf("%s=1, but: %s", webcheck.EnvCI, line)
				}
				t.Skipf("SKIPPED, NOT CHECKED: %s", rest)
			})
		}
	}
	require.Positive(t, passed, "%s", &out)
	require.Contains(t, lines[len(lines)-1], " 0 failed, ")
}

// TestDialoguesFail checks that a script whose expectation does not hold fails the run and says where.
func TestDialoguesFail(t *testing.T) {
	t.Parallel()
	script := filepath.Join(t.TempDir(), "wrong.yaml")
	require.NoError(t, os.WriteFile(script, []byte(`name: expects what does not come
steps:
  - say: 我要报上个月去深圳的差旅费
    expect: {state: S4}
`), 0o600))
	var out bytes.Buffer
	err := runScripts(t.Context(), &out, testOptions{paths: []string{script}, example: exampleDir})
	require.ErrorIs(t, err, errScriptsFailed)
	require.Contains(t, out.String(), "FAIL wrong")
	require.Contains(t, out.String(), `steps[0]: state is "S2", expected "S4"`)
	require.Contains(t, out.String(), "0 passed, 1 failed, 0 skipped")
}

// TestDemo plays the demo as `dev demo expense` does.
func TestDemo(t *testing.T) {
	t.Parallel()
	requireProgram(t, "tesseract")
	var out bytes.Buffer
	require.NoError(t, demo(t.Context(), &out, exampleDir, ""), "%s", &out)
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	require.Equal(t, "S1→S2→S2→S3→S3.1→S4→S5", lines[len(lines)-1])
	require.Contains(t, lines[len(lines)-2], "Outcome committed, debits in the ledger: 1, trace ")
	require.Contains(t, out.String(), "报销单已校验通过，含3张发票（￥8,240），行程5月12-15日，预算余额充足，住宿费接近上限。审批人：张主管。是否提交？")
}

// TestShutdownLeavesNothing checks that a closed application has let go of its ports, its files and its goroutines. It
// does not run beside other tests, whose goroutines it would count.
//
//nolint:paralleltest // See above.
func TestShutdownLeavesNothing(t *testing.T) {
	before := goleak.IgnoreCurrent()
	app, err := assemble(t.Context(), assembleOptions{
		Example: exampleDir, Own: stackOptions{UI: true}, Faults: true,
	})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, app.Close(), "closing again does nothing") })
	user, err := begin(t.Context(), app, demoUser)
	require.NoError(t, err)
	reply, err := user.say(t.Context(), conversation.UserMessage{Text: demoClaim})
	require.NoError(t, err)
	require.Equal(t, conversation.StateMaterials, reply.State)

	addresses := listening(t, app)
	for _, address := range addresses {
		require.NoError(t, dial(t, address), "%s is not open", address)
	}
	require.NoError(t, app.Close())
	user.Close()
	for _, address := range addresses {
		require.Error(t, dial(t, address), "%s is still open", address)
	}
	require.NoDirExists(t, app.Stack.DataDir())
	// The server never closes the connections between its own services, nor its wait for the next attempt to connect
	// (see the tests of package stack).
	require.NoError(t, goleak.Find(before,
		goleak.IgnoreAnyFunction("google.golang.org/grpc/internal/grpcsync.(*CallbackSerializer).run"),
		goleak.IgnoreAnyFunction("google.golang.org/grpc.(*addrConn).resetTransportAndUnlock"),
	))
}

// listening lists the addresses on which the application listens.
func listening(t *testing.T, app *application) []string {
	t.Helper()
	addresses := []string{app.GRPC, app.Stack.TemporalAddress(), app.Stack.RedisAddress()}
	addresses = append(addresses, app.Stack.EtcdEndpoints()...)
	urls := []string{app.HTTP, app.Stack.UIURL()}
	data, err := os.ReadFile(app.tools.Manifest)
	require.NoError(t, err)
	var manifest struct {
		Tools []struct {
			URL string `yaml:"url"`
		} `yaml:"tools"`
	}
	require.NoError(t, yaml.Unmarshal(data, &manifest))
	require.NotEmpty(t, manifest.Tools)
	for _, tool := range manifest.Tools {
		urls = append(urls, tool.URL)
	}
	for _, url := range urls {
		address, _, _ := strings.Cut(strings.TrimPrefix(url, "http://"), "/")
		addresses = append(addresses, address)
	}
	return addresses
}

func dial(t *testing.T, address string) error {
	t.Helper()
	dialer := net.Dialer{Timeout: 5 * time.Second}
	connection, err := dialer.DialContext(t.Context(), "tcp", strings.TrimPrefix(address, "http://"))
	if err != nil {
		return err
	}
	return connection.Close()
}

// BenchmarkReady measures from nothing to the first reply: servers, tools, worker, front door, one message.
func BenchmarkReady(b *testing.B) {
	for b.Loop() {
		app, err := assemble(b.Context(), assembleOptions{Example: exampleDir})
		require.NoError(b, err)
		user, err := begin(b.Context(), app, demoUser)
		require.NoError(b, err)
		reply, err := user.say(b.Context(), conversation.UserMessage{Text: demoClaim})
		require.NoError(b, err)
		require.Equal(b, conversation.StateMaterials, reply.State)
		b.StopTimer()
		user.Close()
		require.NoError(b, app.Close())
		b.StartTimer()
	}
}
