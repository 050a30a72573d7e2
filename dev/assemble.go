package main

import (
	"context"
	"crypto/rand"
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"go.temporal.io/sdk/client"
	temporallog "go.temporal.io/sdk/log"

	"github.com/hermes-orchestrator/hermes/conversation"
	"github.com/hermes-orchestrator/hermes/conversation/flow"
	"github.com/hermes-orchestrator/hermes/dev/dialogue"
	"github.com/hermes-orchestrator/hermes/dev/stack"
	"github.com/hermes-orchestrator/hermes/internal/config"
	"github.com/hermes-orchestrator/hermes/internal/telemetry"
	"github.com/hermes-orchestrator/hermes/memory"
	"github.com/hermes-orchestrator/hermes/starter"
	"github.com/hermes-orchestrator/hermes/workers"
)

// defaultExample is relative to the root of the repository, from where dev is run.
var defaultExample = filepath.Join("examples", "expense")

// Flags of the front door's ports.
const (
	flagHTTPPort = "--http-port"
	flagGRPCPort = "--grpc-port"
)

// Names in the data directory, beside those of the stack.
const (
	logFile  = "hermes.log"
	keyFile  = "user-hash.key"
	toolsDir = "tools"
)

// sharedStack is a running stack whose Temporal server several applications use.
type sharedStack = stack.Stack

// stackOptions are the options of a stack. Temporal is always started.
type stackOptions = stack.Options

// startStack starts a stack with a Temporal server.
func startStack(ctx context.Context, options stackOptions) (*sharedStack, error) {
	options.Temporal = true
	return stack.Start(ctx, options)
}

// assembleOptions say what an application is made of.
type assembleOptions struct {
	// Example is the folder with flow definitions, tools.yaml and what belongs to them. Required.
	Example string
	// Stack, if given, is a Temporal server to share: the application gets a task queue and a memory of its own, so that
	// applications on one server do not know of each other. Otherwise one is started with Own, and stopped with the
	// application.
	Stack *sharedStack
	Own   stackOptions
	// GraphUser and GraphPassword are for Neo4j.
	GraphUser, GraphPassword string
	// Faults puts a proxy before each tool that SetFaults controls.
	Faults bool
	// NoWorker leaves the worker to another process, which needs the settings of workerConfig.
	NoWorker bool
	// HTTPPort and GRPCPort of the front door; 0 means a free one.
	HTTPPort, GRPCPort int
	// Logger of worker, front door and tools. Defaults to a file in the data directory.
	Logger *slog.Logger
}

// application is all of Hermes, running: the example's tools, a worker and the front door on a stack.
type application struct {
	HTTP      string // Base URL of the front door.
	GRPC      string // host:port.
	Temporal  client.Client
	TaskQueue string
	Stack     *stack.Stack // With the Temporal server.

	memory *workers.Memory
	tools  *toolSet
	broken chan error
	// workerConfig is what the worker is made of, or has to be made of where another process runs it.
	workerConfig config.Config

	closeOnce sync.Once
	closed    error
	closers   []func() error
}

// assemble starts an application. Whatever was started before an error is stopped again.
func assemble(ctx context.Context, options assembleOptions) (*application, error) {
	a := &application{TaskQueue: conversation.DefaultTaskQueue, broken: make(chan error, 1)}
	if err := a.start(ctx, options); err != nil {
		return nil, errors.Join(err, a.Close())
	}
	return a, nil
}

// start starts the parts in an order in which each finds what it needs: the front door takes its ports before the
// worker is made, because tools fetch files there, and serves after it, because then there is someone to answer.
func (a *application) start(ctx context.Context, options assembleOptions) error {
	own, err := a.startStacks(ctx, options)
	if err != nil {
		return err
	}
	logger, err := a.openLogger(own.DataDir(), options.Logger)
	if err != nil {
		return err
	}
	cfg, err := configure(own, options)
	if err != nil {
		return err
	}
	cfg.TaskQueue = a.TaskQueue
	registry := telemetry.NewRegistry()
	metrics, err := telemetry.NewTemporalMetrics(registry)
	if err != nil {
		return err
	}
	a.Temporal, err = client.DialContext(ctx, client.Options{
		HostPort: a.Stack.TemporalAddress(), Namespace: stack.Namespace,
		Logger: temporallog.NewStructuredLogger(logger), MetricsHandler: metrics,
	})
	if err != nil {
		return conversation.Errorf(conversation.CodeUnavailable,
			"connect to Temporal on %q: %w", a.Stack.TemporalAddress(), err)
	}
	a.onClose(func() error { a.Temporal.Close(); return nil })
	if a.memory, err = workers.OpenMemory(ctx, cfg); err != nil {
		return err
	}
	a.onClose(a.memory.Close)
	library, err := flow.LoadDir(os.DirFS(options.Example))
	if err != nil {
		return err
	}
	door, err := starter.New(starter.Config{
		Temporal: a.Temporal, Files: a.memory.Files, Events: a.memory.Events, Flows: library,
		HashUser: cfg.UserHashKey.HashUser, ListenHTTP: cfg.ListenHTTP, ListenGRPC: cfg.ListenGRPC, TaskQueue: cfg.TaskQueue,
		ReplyTimeout: cfg.ReplyTimeout, ShutdownTimeout: cfg.ShutdownTimeout, UploadTypes: cfg.UploadTypes,
		Logger: logger, Metrics: registry,
	})
	if err != nil {
		return err
	}
	if err := a.listen(ctx, door, options); err != nil {
		return err
	}
	cfg.FilesURL, cfg.CallbackURL = a.HTTP+"/v1/files", a.HTTP+"/v1/tasks/complete"
	tools := filepath.Join(own.DataDir(), toolsDir)
	if a.tools, err = startTools(ctx, options.Example, tools, options.Faults, logger); err != nil {
		return err
	}
	a.onClose(a.tools.Close)
	cfg.ToolsFile = a.tools.Manifest
	cfg.TemporalAddress, cfg.Namespace = a.Stack.TemporalAddress(), stack.Namespace
	a.workerConfig = cfg
	if options.NoWorker {
		a.serve(door)
		return nil
	}
	worker, err := workers.New(ctx, cfg, a.Temporal, logger, registry)
	if err != nil {
		return err
	}
	a.onClose(worker.Stop)
	if err := worker.Start(); err != nil {
		return err
	}
	a.serve(door)
	return nil
}

// startStacks starts what is not shared, and returns the stack with the application's own memory.
func (a *application) startStacks(ctx context.Context, options assembleOptions) (*stack.Stack, error) {
	if options.Stack == nil {
		started, err := startStack(ctx, options.Own)
		if err != nil {
			return nil, err
		}
		a.Stack = started
		a.onClose(started.Close)
		return started, nil
	}
	a.Stack = options.Stack
	a.TaskQueue += "-" + rand.Text()
	own, err := stack.Start(ctx, stack.Options{})
	if err != nil {
		return nil, err
	}
	a.onClose(own.Close)
	return own, nil
}

// openLogger returns the given logger, or one that writes to a file in the data directory.
func (a *application) openLogger(dir string, given *slog.Logger) (*slog.Logger, error) {
	if given != nil {
		return given, nil
	}
	path := filepath.Join(dir, logFile)
	file, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, conversation.Errorf(conversation.CodeUnavailable, "open log %q: %w", path, err)
	}
	a.onClose(file.Close)
	return telemetry.NewLogger(file, slog.LevelInfo, "json"), nil
}

// listen takes the ports of the front door, with errors that name the flags of this program.
func (a *application) listen(ctx context.Context, door *starter.Server, options assembleOptions) error {
	for _, port := range []struct {
		of, flag string
		number   int
	}{{"web console", flagHTTPPort, options.HTTPPort}, {"gRPC", flagGRPCPort, options.GRPCPort}} {
		if err := stack.CheckPort(ctx, port.of, port.flag, port.number); err != nil {
			return err
		}
	}
	if err := door.Listen(ctx); err != nil {
		return err
	}
	a.HTTP, a.GRPC = "http://"+door.HTTPAddress(), door.GRPCAddress()
	return nil
}

// serve serves the front door until Close.
func (a *application) serve(door *starter.Server) {
	ctx, stop := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() {
		err := door.Serve(ctx)
		if err != nil {
			a.broken <- err
		}
		served <- err
	}()
	a.onClose(func() error {
		stop()
		return <-served
	})
}

// Broken tells when the front door stops serving by itself.
func (a *application) Broken() <-chan error { return a.broken }

// SetFaults replaces what goes wrong with the tools. The application must have been assembled with Faults.
func (a *application) SetFaults(faults []dialogue.Fault) error { return a.tools.SetFaults(faults) }

// Debits describes what the example's tools have executed, a line each.
func (a *application) Debits(ctx context.Context) ([]string, error) { return a.tools.Debits(ctx) }

// Relations reads what long-term memory has verified in the scope of a user.
func (a *application) Relations(ctx context.Context, user string) ([]conversation.Relation, error) {
	assertions, err := a.memory.Graph.Relations(ctx, user, memory.Query{Trust: memory.TrustVerified})
	if err != nil {
		return nil, err
	}
	relations := make([]conversation.Relation, 0, len(assertions))
	for _, assertion := range assertions {
		relations = append(relations, assertion.Relation)
	}
	return relations, nil
}

// Close stops everything in reverse order of its start.
func (a *application) Close() error {
	a.closeOnce.Do(func() {
		var errs []error
		for _, closer := range slices.Backward(a.closers) {
			errs = append(errs, closer())
		}
		a.closed = errors.Join(errs...)
	})
	return a.closed
}

func (a *application) onClose(f func() error) { a.closers = append(a.closers, f) }

// configure makes the configuration that worker and front door would read from their environment.
func configure(own *stack.Stack, options assembleOptions) (config.Config, error) {
	cfg := config.Default()
	cfg.EtcdEndpoints = own.EtcdEndpoints()
	cfg.RedisAddress = own.RedisAddress()
	cfg.GraphURL, cfg.GraphUser, cfg.GraphPassword = own.GraphURL(), options.GraphUser, options.GraphPassword
	cfg.BlobURL = own.BlobURL()
	cfg.FlowsDir = options.Example
	cfg.ListenHTTP = stack.Address(options.HTTPPort)
	cfg.ListenGRPC = stack.Address(options.GRPCPort)
	cfg.ListenMetrics = "" // They are on the front door.
	key, err := userHashKey(filepath.Join(own.DataDir(), keyFile))
	cfg.UserHashKey = key
	return cfg, err
}

// userHashKey reads the key of a data directory and makes it the first time: hashes must stay the same as long as the
// conversations that carry them.
func userHashKey(path string) (config.Key, error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, conversation.Errorf(conversation.CodeUnavailable, "open key %q: %w", path, err)
	}
	defer file.Close()
	key, err := io.ReadAll(file)
	if err == nil && len(key) == 0 {
		key = make([]byte, config.KeyMinBytes)
		_, _ = rand.Read(key) // It never returns an error.
		_, err = file.Write(key)
	}
	if err != nil {
		return nil, conversation.Errorf(conversation.CodeUnavailable, "read key %q: %w", path, err)
	}
	if len(key) != config.KeyMinBytes {
		return nil, conversation.Errorf(conversation.CodeInvalidConfig,
			"key %q has %d bytes, not %d: remove it to get a new one", path, len(key), config.KeyMinBytes)
	}
	return key, nil
}
