package starter

import (
	_ "embed"
	"net/http"
	"strings"
	"time"
)

//go:embed console.html
var consoleHTML string

// serveConsole is GET /: a page to talk to Hermes, in one file without anything from elsewhere.
func (s *Server) serveConsole(w http.ResponseWriter, r *http.Request) {
	header := w.Header()
	header.Set("Content-Type", "text/html; charset=utf-8")
	header.Set("Cache-Control", "no-cache")
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Content-Security-Policy", "default-src 'self'; script-src 'self' 'unsafe-inline'; "+
		"style-src 'self' 'unsafe-inline'; img-src 'self' blob: data:; frame-ancestors 'none'")
	http.ServeContent(w, r, "console.html", time.Time{}, strings.NewReader(consoleHTML))
}
