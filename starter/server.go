package starter

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus/promhttp"
	"golang.org/x/sync/errgroup"
	"google.golang.org/grpc"
	"google.golang.org/grpc/reflection"

	"github.com/hermes-orchestrator/hermes/conversation"
	hermesv1 "github.com/hermes-orchestrator/hermes/proto/hermes/v1"
)

// Server is the front door. Make it with New, then either Listen and Serve, or use Handler alone. It is safe for
// concurrent use.
type Server struct {
	cfg     Config
	metrics *metrics
	owners  *owners
	// messages that are under way, by session.
	messages inFlight
	service  *service
	handler  http.Handler
	grpc     *grpc.Server

	// closing is closed by Close, and ends every event stream.
	closing chan struct{}
	close   sync.Once

	httpListener net.Listener
	grpcListener net.Listener // Nil when gRPC is on the port of HTTP.
}

// service has the RPCs, so that they are not methods of Server as well.
type service struct {
	hermesv1.UnimplementedConversationServiceServer
	*Server
}

// New returns a server that does not listen yet. Errors have CodeInvalidConfig.
func New(cfg Config) (*Server, error) {
	if err := cfg.validate(); err != nil {
		return nil, err
	}
	s := &Server{cfg: cfg.withDefaults(), owners: newOwners(), closing: make(chan struct{})}
	s.service = &service{Server: s}
	var err error
	if s.metrics, err = newMetrics(s.cfg.Metrics); err != nil {
		return nil, err
	}
	s.grpc = grpc.NewServer(
		grpc.MaxRecvMsgSize(MaxUploadBytes+MaxJSONBytes),
		grpc.ChainUnaryInterceptor(s.observeUnary),
		grpc.ChainStreamInterceptor(s.observeStream),
	)
	hermesv1.RegisterConversationServiceServer(s.grpc, s.service)
	reflection.Register(s.grpc) // So that grpcurl works without the proto at hand.
	if s.handler, err = s.routes(); err != nil {
		return nil, err
	}
	return s, nil
}

func (s *Server) routes() (http.Handler, error) {
	gateway, err := s.newGateway()
	if err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v1/conversations/{session}/events", s.serveEvents)
	mux.HandleFunc("POST /v1/files", s.serveUpload)
	mux.HandleFunc("GET /v1/files/{sha256}", s.serveFile)
	mux.HandleFunc("POST /v1/tasks/complete", s.serveComplete)
	mux.Handle("/v1/", gateway)
	mux.HandleFunc("GET /healthz", s.serveHealth)
	mux.HandleFunc("GET /readyz", s.serveReady)
	mux.Handle("GET /metrics", promhttp.HandlerFor(s.cfg.Metrics, promhttp.HandlerOpts{}))
	mux.HandleFunc("GET /{$}", s.serveConsole)
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) { s.noRoute(w, r, http.StatusNotFound) })

	// A page of another site must not be able to talk to a starter on localhost through its visitor's browser.
	sameOrigin := http.NewCrossOriginProtection()
	sameOrigin.SetDenyHandler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.writeErrorStatus(w, r, http.StatusForbidden, conversation.Errorf(conversation.CodeInvalidArgument,
			"requests from pages of origin %q are refused: serve the page from the starter's own origin",
			r.Header.Get("Origin")))
	}))
	return drained(s.observed(sameOrigin.Handler(mux))), nil
}

// Handler returns the HTTP side alone, for tests and for programs with a listener of their own. Its event streams end
// with Close.
func (s *Server) Handler() http.Handler { return s.handler }

// Listen takes the ports. Its error has CodeInvalidConfig and names the setting to change. After it the addresses are
// known, and connections wait for Serve.
func (s *Server) Listen(ctx context.Context) error {
	var err error
	s.httpListener, err = listen(ctx, s.cfg.ListenHTTP, "ListenHTTP", "--listen-http", "HERMES_LISTEN_HTTP")
	if err != nil {
		return err
	}
	if s.cfg.ListenGRPC == "" {
		return nil
	}
	s.grpcListener, err = listen(ctx, s.cfg.ListenGRPC, "ListenGRPC", "--listen-grpc", "HERMES_LISTEN_GRPC")
	if err != nil {
		return errors.Join(err, s.httpListener.Close())
	}
	return nil
}

func listen(ctx context.Context, address, field, flag, env string) (net.Listener, error) {
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "tcp", address)
	if err != nil {
		return nil, conversation.Errorf(conversation.CodeInvalidConfig,
			"%s: %w: choose another address with %s or %s", field, err, flag, env)
	}
	return listener, nil
}

// HTTPAddress is host:port of HTTP; empty before Listen.
func (s *Server) HTTPAddress() string {
	if s.httpListener == nil {
		return ""
	}
	return s.httpListener.Addr().String()
}

// GRPCAddress is host:port of gRPC; empty before Listen.
func (s *Server) GRPCAddress() string {
	if s.grpcListener == nil {
		return s.HTTPAddress()
	}
	return s.grpcListener.Addr().String()
}

// Serve serves until ctx ends or a listener breaks, and listens first if Listen was not called. When ctx ends, event
// streams end at once, other requests may finish within ShutdownTimeout, and Serve returns nil.
func (s *Server) Serve(ctx context.Context) error {
	if s.httpListener == nil {
		if err := s.Listen(ctx); err != nil {
			return err
		}
	}
	defer s.Close()
	server := &http.Server{
		Handler:           s.handler,
		ReadHeaderTimeout: 10 * time.Second,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    64 << 10,
		ErrorLog:          slog.NewLogLogger(s.cfg.Logger.Handler(), slog.LevelWarn),
	}
	if s.grpcListener == nil {
		server.Handler = s.shared()
		server.Protocols = new(http.Protocols)
		server.Protocols.SetHTTP1(true)
		server.Protocols.SetUnencryptedHTTP2(true)
	}
	group, broken := errgroup.WithContext(ctx)
	group.Go(func() error {
		if err := server.Serve(s.httpListener); !errors.Is(err, http.ErrServerClosed) {
			return conversation.Errorf(conversation.CodeUnavailable, "HTTP on %q: %w", s.HTTPAddress(), err)
		}
		return nil
	})
	if s.grpcListener != nil {
		group.Go(func() error {
			if err := s.grpc.Serve(s.grpcListener); err != nil && !errors.Is(err, grpc.ErrServerStopped) {
				return conversation.Errorf(conversation.CodeUnavailable, "gRPC on %q: %w", s.GRPCAddress(), err)
			}
			return nil
		})
	}
	group.Go(func() error {
		<-broken.Done()
		s.shutdown(server) //nolint:contextcheck // The caller's context has ended: that is why.
		return nil
	})
	return group.Wait()
}

// shared serves gRPC and HTTP on one port.
func (s *Server) shared() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.ProtoMajor == 2 && strings.HasPrefix(r.Header.Get("Content-Type"), "application/grpc") {
			s.grpc.ServeHTTP(w, r)
			return
		}
		s.handler.ServeHTTP(w, r)
	})
}

func (s *Server) shutdown(server *http.Server) {
	s.Close()
	ctx, cancel := context.WithTimeout(context.Background(), s.cfg.ShutdownTimeout)
	defer cancel()
	var group errgroup.Group
	if s.grpcListener != nil {
		// GracefulStop has no time limit of its own; Stop makes it return.
		stop := context.AfterFunc(ctx, s.grpc.Stop)
		defer stop()
		group.Go(func() error { s.grpc.GracefulStop(); return nil })
	}
	group.Go(func() error { return server.Shutdown(ctx) })
	if err := group.Wait(); err != nil {
		s.cfg.Logger.Warn("requests were cut off", "error", err, "after", s.cfg.ShutdownTimeout)
		_ = server.Close()
	}
	s.grpc.Stop()
}

// Close ends every event stream and makes the server report that it is not ready. It does not wait. Serve calls it;
// who uses Handler alone calls it.
func (s *Server) Close() { s.close.Do(func() { close(s.closing) }) }
