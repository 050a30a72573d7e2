// Command hermes-worker runs conversations: it polls Temporal for workflow tasks and activities.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"
	_ "time/tzdata" // Zones of users must resolve on machines without a zone database.

	"github.com/prometheus/client_golang/prometheus/promhttp"
	"go.temporal.io/sdk/client"
	temporallog "go.temporal.io/sdk/log"

	"github.com/hermes-orchestrator/hermes/conversation"
	"github.com/hermes-orchestrator/hermes/internal/config"
	"github.com/hermes-orchestrator/hermes/internal/telemetry"
	"github.com/hermes-orchestrator/hermes/memory/redis"
	"github.com/hermes-orchestrator/hermes/workers"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:])
	stop()
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "hermes-worker:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	cfg, err := config.Load("hermes-worker", args, os.Getenv, os.Stdout)
	if err != nil {
		return err
	}
	if err := cfg.Validate(); err != nil {
		return err
	}
	logger := telemetry.NewLogger(os.Stderr, cfg.LogLevel, cfg.LogFormat)
	redis.LogTo(logger)
	registry := telemetry.NewRegistry()
	metrics, err := telemetry.NewTemporalMetrics(registry)
	if err != nil {
		return err
	}
	options, err := cfg.TemporalOptions()
	if err != nil {
		return err
	}
	options.Logger = temporallog.NewStructuredLogger(logger)
	options.MetricsHandler = metrics
	temporal, err := client.DialContext(ctx, options)
	if err != nil {
		return conversation.Errorf(conversation.CodeUnavailable,
			"Temporal at %q: %w: is it running, and is HERMES_TEMPORAL_ADDRESS right?", options.HostPort, err)
	}
	defer temporal.Close()
	w, err := workers.New(ctx, cfg, temporal, logger, registry)
	if err != nil {
		return err
	}
	if err := w.Start(); err != nil {
		return errors.Join(err, w.Stop())
	}
	logger.Info("worker started", "task_queue", cfg.TaskQueue, "namespace", options.Namespace)
	if cfg.ListenMetrics != "" {
		stopMetrics, err := serveMetrics(ctx, cfg.ListenMetrics, promhttp.HandlerFor(registry, promhttp.HandlerOpts{}))
		if err != nil {
			return errors.Join(err, w.Stop())
		}
		defer stopMetrics()
	}
	<-ctx.Done()
	logger.Info("worker stopping")
	return w.Stop()
}

// serveMetrics serves /metrics and /healthz until the returned function is called.
func serveMetrics(ctx context.Context, address string, metrics http.Handler) (stop func(), err error) {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	if err != nil {
		return nil, conversation.Errorf(conversation.CodeUnavailable,
			"listen for metrics on %q: %w: set HERMES_LISTEN_METRICS or --listen-metrics to a free address", address, err)
	}
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", metrics)
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })
	server := &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second}
	go func() { _ = server.Serve(listener) }()
	return func() { _ = server.Close() }, nil
}
