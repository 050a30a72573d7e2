package webcheck_test

import (
	"context"
	"fmt"
	"image/png"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/hermes-orchestrator/hermes/conversation"
	"github.com/hermes-orchestrator/hermes/dev/webcheck"
)

// page fills itself by a script with what the server answers later, while another request never ends.
func page(t *testing.T) string {
	t.Helper()
	mux := http.NewServeMux()
	mux.HandleFunc("GET /", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprint(w, `<p id="p">loading</p><iframe src="/frame"></iframe><script>
			fetch("/never")
			setTimeout(() => fetch("/late").then(r => r.text()).then(t => document.getElementById("p").textContent = t), 200)
		</script>`)
	})
	mux.HandleFunc("GET /frame", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "<b>in a frame</b>") })
	mux.HandleFunc("GET /never", func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	mux.HandleFunc("GET /late", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "审批人：张主管") })
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return server.URL
}

func TestDOM(t *testing.T) {
	t.Parallel()
	webcheck.Require(t)
	url := page(t)
	dom, err := webcheck.DOM(t.Context(), url, "审批人：张主管")
	require.NoError(t, err)
	require.NotContains(t, dom, "loading")

	dom, err = webcheck.DOM(t.Context(), url)
	require.NoError(t, err)
	require.Contains(t, dom, "审批人：张主管", "a page is complete when it has come to rest")
	require.Contains(t, dom, "<b>in a frame</b>")

	_, err = webcheck.DOM(t.Context(), "http://127.0.0.1:1/")
	require.Equal(t, conversation.CodeUnavailable, conversation.CodeOf(err))
	require.ErrorContains(t, err, "ERR_")
}

func TestDOMEndsWithContext(t *testing.T) {
	t.Parallel()
	webcheck.Require(t)
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
	defer cancel()
	_, err := webcheck.DOM(ctx, page(t), "no such text")
	require.Equal(t, conversation.CodeUnavailable, conversation.CodeOf(err))
}

func TestScreenshot(t *testing.T) {
	t.Parallel()
	webcheck.Require(t)
	path := filepath.Join(t.TempDir(), "page.png")
	require.NoError(t, webcheck.Screenshot(t.Context(), page(t), path, "张主管"))
	file, err := os.Open(path)
	require.NoError(t, err)
	defer file.Close()
	image, err := png.Decode(file)
	require.NoError(t, err)
	require.Equal(t, 1600, image.Bounds().Dx())
}

// recorder is a test that was skipped or failed.
type recorder struct{ skipped, failed string }

func (*recorder) Helper()                             {}
func (r *recorder) Skipf(format string, args ...any)  { r.skipped = fmt.Sprintf(format, args...) }
func (r *recorder) Fatalf(format string, args ...any) { r.failed = fmt.Sprintf(format, args...) }

func TestWithoutBrowser(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	_, err := webcheck.DOM(t.Context(), "http://127.0.0.1:1")
	require.Equal(t, conversation.CodeUnavailable, conversation.CodeOf(err))
	require.ErrorContains(t, err, "install Chromium")

	t.Setenv(webcheck.EnvCI, "")
	var r recorder
	webcheck.Require(&r)
	require.Contains(t, r.skipped, "NOT CHECKED")
	require.Empty(t, r.failed)

	t.Setenv(webcheck.EnvCI, "1")
	r = recorder{}
	webcheck.Require(&r)
	require.Contains(t, r.failed, "HERMES_CI=1")
	require.Empty(t, r.skipped)
}
