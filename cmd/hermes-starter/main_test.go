package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"testing"

	"github.com/alicebob/miniredis/v2"
	"github.com/stretchr/testify/require"

	"github.com/hermes-orchestrator/hermes/conversation"
)

const testKey = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f"

func environment(pairs map[string]string) func(string) string {
	return func(name string) string { return pairs[name] }
}

func TestHelp(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	require.NoError(t, run(t.Context(), []string{"--help"}, environment(nil), &out, io.Discard))
	require.Contains(t, out.String(), "HERMES_LISTEN_HTTP")
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, taken.Close()) }) // After the parallel subtests, which a defer is not.
	for name, test := range map[string]struct {
		args []string
		says string
	}{
		"MissingKey":  {nil, "HERMES_USER_HASH_KEY"},
		"UnknownFlag": {[]string{"--colour"}, "-colour"},
		"PortInUse": {[]string{
			"--user-hash-key", testKey, "--blob-url", "mem://", "--listen-http", taken.Addr().String(),
			"--flows-dir", t.TempDir() + "/none",
		}, "--listen-http"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := run(t.Context(), test.args, environment(nil), io.Discard, io.Discard)
			require.Equal(t, conversation.CodeInvalidConfig, conversation.CodeOf(err), err)
			require.ErrorContains(t, err, test.says)
		})
	}
}

// lines sends each log line to a channel.
type lines chan string

func (l lines) Write(p []byte) (int, error) {
	l <- string(p)
	return len(p), nil
}

// TestUpBeforeTemporal: the program comes up, says that it is not ready, and ends cleanly.
func TestUpBeforeTemporal(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	logs, done := make(lines, 100), make(chan error, 1)
	go func() {
		done <- run(ctx, []string{"--listen-http", "127.0.0.1:0", "--listen-grpc", "", "--temporal-address", "127.0.0.1:1"},
			environment(map[string]string{
				"HERMES_USER_HASH_KEY": testKey, "HERMES_BLOB_URL": "mem://", "HERMES_REDIS_ADDRESS": miniredis.RunT(t).Addr(),
				"HERMES_FLOWS_DIR": t.TempDir() + "/none",
			}), io.Discard, logs)
	}()
	var ready struct {
		Msg  string `json:"msg"`
		HTTP string `json:"http"`
	}
	for ready.Msg != "starter listens" {
		select {
		case line := <-logs:
			require.NoError(t, json.Unmarshal([]byte(line), &ready))
		case err := <-done:
			require.NoError(t, err)
			require.Fail(t, "ended early")
		}
	}
	status := func(path string) int {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+ready.HTTP+path, nil)
		require.NoError(t, err)
		got, err := http.DefaultTransport.RoundTrip(request)
		require.NoError(t, err)
		require.NoError(t, got.Body.Close())
		return got.StatusCode
	}
	require.Equal(t, http.StatusOK, status("/healthz"))
	require.Equal(t, http.StatusServiceUnavailable, status("/readyz"))
	cancel()
	require.NoError(t, <-done)
}
