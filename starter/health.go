package starter

import (
	"context"
	"net/http"
	"time"

	"go.temporal.io/sdk/client"

	"github.com/hermes-orchestrator/hermes/conversation"
)

// readyTimeout bounds the question whether Temporal answers.
const readyTimeout = 2 * time.Second

// serveHealth is GET /healthz: the process is alive. It asks nobody, so that a cluster that is away does not get
// starters restarted.
func (s *Server) serveHealth(w http.ResponseWriter, r *http.Request) {
	s.writeJSON(w, r, http.StatusOK, map[string]string{"status": "ok"})
}

// serveReady is GET /readyz: requests can be served, which needs Temporal, and the server is not closing.
func (s *Server) serveReady(w http.ResponseWriter, r *http.Request) {
	select {
	case <-s.closing:
		s.writeError(w, r, conversation.Errorf(conversation.CodeUnavailable, "the server is closing"))
		return
	default:
	}
	ctx, cancel := context.WithTimeout(r.Context(), readyTimeout)
	defer cancel()
	if _, err := s.cfg.Temporal.CheckHealth(ctx, &client.CheckHealthRequest{}); err != nil {
		s.writeError(w, r, conversation.Errorf(conversation.CodeUnavailable, "Temporal does not answer: %w", err))
		return
	}
	s.writeJSON(w, r, http.StatusOK, map[string]string{"status": "ok"})
}
