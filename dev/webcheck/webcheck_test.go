package webcheck_test

import (
	"fmt"
	"image/png"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/hermes-orchestrator/hermes/conversation"
	"github.com/hermes-orchestrator/hermes/dev/webcheck"
)

// page fills itself by a script with what the server answers later.
func page(t *testing.T) string {
	t.Helper()
	mux := http.NewServeMux()
	mux.HandleFunc("GET /", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprint(w, `<p id="p">loading</p><script>
			setTimeout(() => fetch("/late").then(r => r.text()).then(t => document.getElementById("p").textContent = t), 3000)
		</script>`)
	})
	mux.HandleFunc("GET /late", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "审批人：张主管") })
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return server.URL
}

func TestDOM(t *testing.T) {
	t.Parallel()
	webcheck.Require(t)
	dom, err := webcheck.DOM(t.Context(), page(t))
	require.NoError(t, err)
	require.Contains(t, dom, "审批人：张主管")
	require.NotContains(t, dom, "loading")
}

func TestScreenshot(t *testing.T) {
	t.Parallel()
	webcheck.Require(t)
	path := filepath.Join(t.TempDir(), "page.png")
	require.NoError(t, webcheck.Screenshot(t.Context(), page(t), path))
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
