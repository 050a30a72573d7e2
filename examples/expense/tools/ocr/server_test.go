package ocr_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/hermes-orchestrator/hermes/conversation"
	"github.com/hermes-orchestrator/hermes/examples/expense/tools/internal/toolcall"
	"github.com/hermes-orchestrator/hermes/examples/expense/tools/ocr"
	"github.com/hermes-orchestrator/hermes/tool"
)

// serve starts the tool with a store of the given uploads, and returns the arguments that refer to them.
func serve(t *testing.T, config ocr.Config, uploads ...ocr.Document) (*toolcall.Caller, map[string]any) {
	t.Helper()
	files := map[string][]byte{}
	documents := make([]map[string]any, len(uploads))
	for i, upload := range uploads {
		sum := sha256.Sum256(upload.Data)
		digest := hex.EncodeToString(sum[:])
		files["/"+digest] = upload.Data
		documents[i] = map[string]any{
			"name": upload.Name, "media_type": "image/png", "uri": "blob:sha256/" + digest, "sha256": digest,
			"size": len(upload.Data),
		}
	}
	store := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		data, ok := files[r.URL.Path]
		if !ok {
			http.NotFound(w, r)
			return
		}
		_, _ = w.Write(data)
	}))
	t.Cleanup(store.Close)
	lifetime, end := context.WithCancel(context.Background())
	config.Key, config.Lifetime, config.Logger = toolcall.Key(t), lifetime, slog.New(slog.DiscardHandler)
	s, err := ocr.New(config)
	require.NoError(t, err)
	operation := toolcall.Read()
	operation.Batch, operation.Timeout = "documents", 2*time.Minute
	caller := toolcall.New(t, ocr.Name, s, map[string]tool.Operation{"read": operation}, store.URL)
	t.Cleanup(end)
	return caller, map[string]any{"documents": documents}
}

func TestReadOverTheProtocol(t *testing.T) {
	t.Parallel()
	requireTesseract(t)
	caller, arguments := serve(t, ocr.Config{}, document(t, ".", "selftest.png"), document(t, samples, "not-an-image.png"))
	health, err := caller.Health(t.Context())
	require.NoError(t, err)
	require.Equal(t, tool.StatusOK, health.Status, health.Detail)

	answer, err := caller.Invoke(t.Context(), "read", "k-1", arguments)
	require.NoError(t, err)
	var reading ocr.Reading
	require.NoError(t, json.Unmarshal(answer.Output, &reading))
	require.Len(t, reading.Invoices, 1)
	require.Equal(t, "58.00", reading.Invoices[0].Amount)
	require.Equal(t, "not-an-image.png", reading.Unreadable[0].File)
	require.Contains(t, answer.Verification, "已核对2个文件的SHA-256")
	require.Regexp(t, `^已用tesseract \d\S*读取2个文件、1个区域$`, answer.Verification[1])
}

// Without the program the tool says so, in the heartbeat and in the answer: it never makes a reading up.
func TestMissingTesseract(t *testing.T) {
	t.Parallel()
	missing := filepath.Join(t.TempDir(), "tesseract")
	caller, arguments := serve(t, ocr.Config{Tesseract: missing}, document(t, ".", "selftest.png"))
	health, err := caller.Health(t.Context())
	require.NoError(t, err)
	require.Equal(t, tool.StatusDown, health.Status)
	require.Contains(t, health.Detail, "tesseract is not installed")
	_, err = caller.Invoke(t.Context(), "read", "k-1", arguments)
	require.Equal(t, conversation.CodeToolUnavailable, conversation.CodeOf(err))
	require.ErrorContains(t, err, "503")
}

// A program that hangs is killed with its children when the caller's time is over.
func TestKilledWithItsGroup(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	pidFile, started := filepath.Join(dir, "child"), filepath.Join(dir, "started")
	require.NoError(t, syscall.Mkfifo(started, 0o600))
	script := "#!/bin/sh\nsleep 300 &\necho $! > " + pidFile + "\necho started > " + started + "\nwait\n"
	program := filepath.Join(dir, "tesseract")
	require.NoError(t, os.WriteFile(program, []byte(script), 0o700))
	reader, err := ocr.NewReader(ocr.Config{Tesseract: program, PageTimeout: time.Minute})
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ended := make(chan error, 1)
	go func() {
		_, err := reader.Version(ctx)
		ended <- err
	}()
	_, err = os.ReadFile(started) // Blocks until the script writes.
	require.NoError(t, err)
	cancel()
	require.ErrorIs(t, <-ended, context.Canceled)
	text, err := os.ReadFile(pidFile)
	require.NoError(t, err)
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	require.NoError(t, err)
	require.Eventually(t, func() bool { return gone(pid) }, 10*time.Second, 10*time.Millisecond)
}

// gone reports whether a process has ended; one that nobody has waited for yet has.
func gone(pid int) bool {
	if syscall.Kill(pid, 0) != nil {
		return true
	}
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	return err != nil || strings.Contains(string(stat), ") Z ")
}

func TestNewRefusesABadConfig(t *testing.T) {
	t.Parallel()
	for _, config := range []ocr.Config{
		{Languages: "chi sim; rm"}, {MaxProcesses: -1}, {PageTimeout: -time.Second},
	} {
		_, err := ocr.NewReader(config)
		require.Equal(t, conversation.CodeInvalidConfig, conversation.CodeOf(err))
	}
}
