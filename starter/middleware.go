package starter

import (
	"context"
	"errors"
	"net/http"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"google.golang.org/grpc"
	"google.golang.org/grpc/status"

	"github.com/hermes-orchestrator/hermes/conversation"
)

// metrics of the front door. Labels never hold ids.
type metrics struct {
	requests *prometheus.CounterVec
	seconds  *prometheus.HistogramVec
	streams  prometheus.Gauge
}

func newMetrics(registry prometheus.Registerer) (*metrics, error) {
	m := &metrics{
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "hermes_starter_requests_total",
			Help: "Requests by transport, route and status (HTTP status or gRPC code).",
		}, []string{"transport", "route", "status"}),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "hermes_starter_request_seconds",
			Help:    "Duration of requests, event streams excepted.",
			Buckets: []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60, 120},
		}, []string{"transport", "route"}),
		streams: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "hermes_starter_event_streams", Help: "Open streams of server-sent events.",
		}),
	}
	for _, one := range []prometheus.Collector{m.requests, m.seconds, m.streams} {
		if err := registry.Register(one); err != nil {
			return nil, conversation.Errorf(conversation.CodeInvalidConfig,
				"metrics of the starter: %w: give each starter a registry of its own", err)
		}
	}
	return m, nil
}

func (m *metrics) observe(transport, route, status string, took time.Duration) {
	m.requests.WithLabelValues(transport, route, status).Inc()
	m.seconds.WithLabelValues(transport, route).Observe(took.Seconds())
}

// observed wraps the HTTP handler: a panic becomes an internal error instead of a cut connection, and every request is
// counted and, at debug level, logged.
func (s *Server) observed(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		begin := time.Now()
		out := &statusWriter{ResponseWriter: w}
		route := routeOf(r.URL.Path)
		defer func() {
			caught := recover()
			abort, _ := caught.(error)
			cut := errors.Is(abort, http.ErrAbortHandler)
			if caught != nil && !cut {
				s.afterPanic(out, r, route, caught)
			}
			if out.status == 0 {
				out.status = http.StatusOK
			}
			took := time.Since(begin)
			if !strings.HasSuffix(route, "/events") {
				s.metrics.observe("http", route, strconv.Itoa(out.status), took)
			}
			s.cfg.Logger.DebugContext(r.Context(), "http",
				"method", r.Method, "route", route, "status", out.status, "took", took)
			if cut {
				panic(caught) //nolint:forbidigo // net/http's way to cut the connection.
			}
		}()
		next.ServeHTTP(out, r)
	})
}

func (s *Server) afterPanic(w *statusWriter, r *http.Request, route string, caught any) {
	err := s.recovered(r.Context(), route, caught, nil)
	if w.status == 0 {
		s.writeError(w, r, err)
	}
}

// routeOf replaces what is different in every request, so that a label has few values.
func routeOf(path string) string {
	switch path {
	case "/", "/healthz", "/readyz", "/metrics", "/v1/files", "/v1/tasks/complete", "/v1/conversations":
		return path
	}
	if strings.HasPrefix(path, "/v1/files/") {
		return "/v1/files/{sha256}"
	}
	if rest, ok := strings.CutPrefix(path, "/v1/conversations/"); ok {
		_, action, _ := strings.Cut(rest, "/")
		switch action {
		case "messages", "snapshot", "path", "transcript", "case", "events", "events/list":
			return "/v1/conversations/{session}/" + action
		}
	}
	return "other"
}

// statusWriter remembers the status that was written.
type statusWriter struct {
	http.ResponseWriter

	status int
}

func (w *statusWriter) WriteHeader(status int) {
	if w.status == 0 {
		w.status = status
	}
	w.ResponseWriter.WriteHeader(status)
}

func (w *statusWriter) Write(data []byte) (int, error) {
	if w.status == 0 {
		w.status = http.StatusOK
	}
	return w.ResponseWriter.Write(data)
}

// Flush lets gRPC stream over the shared port.
func (w *statusWriter) Flush() { _ = http.NewResponseController(w.ResponseWriter).Flush() }

// Unwrap lets http.ResponseController find deadlines and flushing.
func (w *statusWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// observeUnary gives every gRPC call its error's code, and counts it.
func (s *Server) observeUnary(
	ctx context.Context, req any, info *grpc.UnaryServerInfo, handler grpc.UnaryHandler,
) (answer any, err error) {
	begin := time.Now()
	defer func() {
		err = s.grpcError(ctx, s.recovered(ctx, info.FullMethod, recover(), err))
		s.metrics.observe("grpc", info.FullMethod, status.Code(err).String(), time.Since(begin))
	}()
	return handler(ctx, req)
}

// observeStream is observeUnary for streams, whose duration says nothing.
func (s *Server) observeStream(
	srv any, stream grpc.ServerStream, info *grpc.StreamServerInfo, handler grpc.StreamHandler,
) (err error) {
	ctx := stream.Context()
	defer func() {
		err = s.grpcError(ctx, s.recovered(ctx, info.FullMethod, recover(), err))
		s.metrics.requests.WithLabelValues("grpc", info.FullMethod, status.Code(err).String()).Inc()
	}()
	return handler(srv, stream)
}

func (s *Server) recovered(ctx context.Context, method string, caught any, err error) error {
	if caught == nil {
		return err
	}
	s.cfg.Logger.ErrorContext(ctx, "panic", "method", method, "panic", caught, "stack", string(debug.Stack()))
	return conversation.Errorf(conversation.CodeInternal, "an internal error occurred: the server's log has it")
}
