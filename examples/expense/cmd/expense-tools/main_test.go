package main

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/hermes-orchestrator/hermes/examples/expense/tools"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestServesUntilTold(t *testing.T) {
	t.Parallel()
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	out, in := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		err := run(ctx, []string{"--data", t.TempDir()}, in, io.Discard)
		ended <- err
		in.Close()
	}()
	lines := bufio.NewScanner(out)
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	for _, name := range tools.Names() {
		require.True(t, lines.Scan())
		printed, url, _ := strings.Cut(lines.Text(), " ")
		require.Equal(t, name, printed)
		response, err := client.Get(url + "/schema")
		require.NoError(t, err)
		require.Equal(t, http.StatusOK, response.StatusCode)
		require.NoError(t, response.Body.Close())
	}
	require.True(t, lines.Scan())
	require.Regexp(t, `^key k1 [A-Za-z0-9+/]{43}=$`, lines.Text())
	stop()
	require.NoError(t, <-ended)
}

func TestOneTool(t *testing.T) {
	t.Parallel()
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	out, in := io.Pipe()
	ended := make(chan error, 1)
	public := filepath.Join(t.TempDir(), "tools.pub")
	args := []string{"--data", t.TempDir(), "--tool", "org_tool", "--public", public}
	go func() { ended <- run(ctx, args, in, io.Discard) }()
	lines := bufio.NewScanner(out)
	require.True(t, lines.Scan())
	require.Contains(t, lines.Text(), "org_tool http://127.0.0.1:")
	require.True(t, lines.Scan())
	key, err := os.ReadFile(public)
	require.NoError(t, err)
	require.Equal(t, strings.TrimPrefix(lines.Text(), "key ")+"\n", string(key))
	stop()
	require.NoError(t, <-ended)
}

func TestRefusesBadFlags(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for want, args := range map[string][]string{
		"--data":     {},
		"weather":    {"--data", dir, "--tool", "weather"},
		"--listen":   {"--data", dir, "--tool", "org_tool", "--listen", "localhost"},
		"up to 6553": {"--data", dir, "--listen", "127.0.0.1:65535"},
	} {
		require.ErrorContains(t, run(context.Background(), args, io.Discard, io.Discard), want)
	}
}

func TestConsecutivePorts(t *testing.T) {
	t.Parallel()
	at, err := nth("127.0.0.1:8101", 3)
	require.NoError(t, err)
	require.Equal(t, "127.0.0.1:8104", at)
	at, err = nth("[::1]:0", 3)
	require.NoError(t, err)
	require.Equal(t, "[::1]:0", at)
}
