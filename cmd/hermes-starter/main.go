// Command hermes-starter is the front door of Hermes: gRPC, HTTP/JSON, events, uploads and the web console.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"syscall"
	_ "time/tzdata" // Time zones of users, also where the machine has none.

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/interceptor"
	temporallog "go.temporal.io/sdk/log"

	"github.com/hermes-orchestrator/hermes/conversation"
	"github.com/hermes-orchestrator/hermes/conversation/flow"
	"github.com/hermes-orchestrator/hermes/internal/config"
	"github.com/hermes-orchestrator/hermes/internal/telemetry"
	"github.com/hermes-orchestrator/hermes/memory"
	"github.com/hermes-orchestrator/hermes/memory/blob"
	"github.com/hermes-orchestrator/hermes/memory/redis"
	"github.com/hermes-orchestrator/hermes/starter"
)

func main() { os.Exit(program()) }

// program is main with an exit code, so that what is deferred is done.
func program() int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // A second signal ends the process at once.
	if err := run(ctx, os.Args[1:], os.Getenv, os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "hermes-starter:", err)
		return 1
	}
	return 0
}

// run is the program: it returns when ctx ends and everything is closed, or with the error that kept it from running.
func run(ctx context.Context, args []string, getenv func(string) string, out, logs io.Writer) (err error) {
	cfg, err := config.Load("hermes-starter", args, getenv, out)
	if errors.Is(err, flag.ErrHelp) {
		return nil
	}
	if err != nil {
		return err
	}
	if err := cfg.Validate(); err != nil {
		return err
	}
	logger := telemetry.NewLogger(logs, cfg.LogLevel, cfg.LogFormat)
	registry := telemetry.NewRegistry()
	options, err := cfg.TemporalOptions()
	if err != nil {
		return err
	}
	options.Logger = temporallog.NewStructuredLogger(logger)
	if options.MetricsHandler, err = telemetry.NewTemporalMetrics(registry); err != nil {
		return err
	}
	tracer, err := telemetry.NewTracer(ctx, cfg.TracesEndpoint, "hermes-starter")
	if err != nil {
		return conversation.Errorf(conversation.CodeInvalidConfig, "TracesEndpoint %q: %w", cfg.TracesEndpoint, err)
	}
	//nolint:contextcheck // The caller's context has ended by then.
	defer closing(&err, func() error { return closeTracer(tracer, cfg) })
	if tracer.Interceptor != nil {
		options.Interceptors = []interceptor.ClientInterceptor{tracer.Interceptor}
	}
	// Lazy: a starter that is up before Temporal says so at /readyz instead of ending.
	temporal, err := client.NewLazyClient(options)
	if err != nil {
		return conversation.Errorf(conversation.CodeInvalidConfig, "Temporal client: %w", err)
	}
	defer temporal.Close()
	files, err := blob.Open(ctx, blob.Config{URL: cfg.BlobURL})
	if err != nil {
		return err
	}
	defer closing(&err, files.Close)
	store, err := redis.Open(redis.Config{Addr: cfg.RedisAddress, Password: cfg.RedisPassword})
	if err != nil {
		return err
	}
	defer closing(&err, store.Close)
	front := starter.Config{
		Temporal: temporal, Files: files, Events: memory.NewEvents(store, memory.EventsConfig{}),
		HashUser: cfg.UserHashKey.HashUser, ListenHTTP: cfg.ListenHTTP, ListenGRPC: cfg.ListenGRPC,
		TaskQueue: cfg.TaskQueue, ReplyTimeout: cfg.ReplyTimeout, ShutdownTimeout: cfg.ShutdownTimeout,
		UploadTypes: cfg.UploadTypes, Logger: logger, Metrics: registry,
	}
	if err := setFlows(&front, cfg.FlowsDir); err != nil {
		return err
	}
	server, err := starter.New(front)
	if err != nil {
		return err
	}
	if err := server.Listen(ctx); err != nil {
		return err
	}
	logger.Info("starter listens", "http", server.HTTPAddress(), "grpc", server.GRPCAddress(),
		"temporal", options.HostPort, "namespace", options.Namespace, "task_queue", cfg.TaskQueue)
	err = server.Serve(ctx)
	logger.Info("starter stopped")
	return err
}

// setFlows loads the flows of a directory, so that unknown ones are refused at once. A starter without the directory
// leaves it to the worker.
func setFlows(front *starter.Config, dir string) error {
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	library, err := flow.LoadDir(os.DirFS(dir))
	if err != nil {
		return err
	}
	front.Flows = library
	return nil
}

func closeTracer(tracer *telemetry.Tracer, cfg config.Config) error {
	ctx, cancel := context.WithTimeout(context.Background(), cfg.ShutdownTimeout)
	defer cancel()
	return tracer.Close(ctx)
}

// closing closes something at the end of run, and keeps its error if there is no earlier one.
func closing(err *error, closer func() error) {
	if closeErr := closer(); *err == nil {
		*err = closeErr
	}
}
