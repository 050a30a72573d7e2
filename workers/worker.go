package workers

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"os"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/hermes-orchestrator/hermes/activities"
	"github.com/hermes-orchestrator/hermes/contract"
	"github.com/hermes-orchestrator/hermes/conversation"
	"github.com/hermes-orchestrator/hermes/conversation/flow"
	"github.com/hermes-orchestrator/hermes/conversation/nlu"
	"github.com/hermes-orchestrator/hermes/internal/config"
	"github.com/hermes-orchestrator/hermes/memory"
	"github.com/hermes-orchestrator/hermes/tool"
	"github.com/hermes-orchestrator/hermes/workflows"
)

// Worker runs conversations. Build it with New, Start it, Stop it once.
type Worker struct {
	memory *Memory
	tools  *tool.Client
	worker worker.Worker
}

// New builds a worker from its configuration: it loads and publishes the flows, reads the tools' manifest and opens
// memory. What is wrong with any of these shows here, not in the middle of a conversation. The Temporal client stays
// the caller's.
func New(
	ctx context.Context, cfg config.Config, temporal client.Client, logger *slog.Logger, metrics prometheus.Registerer,
) (*Worker, error) {
	library, err := flow.LoadDir(os.DirFS(cfg.FlowsDir))
	if err != nil {
		return nil, err
	}
	registry, err := tool.LoadManifests(cfg.ToolsFile, os.Getenv)
	if err != nil {
		return nil, err
	}
	if err := checkFlows(library, registry); err != nil {
		return nil, err
	}
	m, err := OpenMemory(ctx, cfg)
	if err != nil {
		return nil, err
	}
	tools, err := tool.NewClient(registry, tool.ClientConfig{
		HTTP:     &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64, IdleConnTimeout: 90 * time.Second}},
		FilesURL: cfg.FilesURL, CallbackURL: cfg.CallbackURL, Cache: m.Cache, Now: time.Now, Logger: logger,
		Registerer: metrics,
	})
	if err != nil {
		return nil, m.closeAfter(err)
	}
	understander, err := nlu.NewRules()
	if err != nil {
		return nil, m.closeAfter(err)
	}
	flows := activities.NewFlows(library, m.Files)
	if err := flows.Publish(ctx); err != nil {
		return nil, m.closeAfter(err)
	}
	plugin, err := contract.NewPlugin()
	if err != nil {
		return nil, m.closeAfter(err)
	}
	w := worker.New(temporal, cfg.TaskQueue, worker.Options{
		Plugins:           []worker.Plugin{plugin},
		WorkerStopTimeout: cfg.ShutdownTimeout,
		// Heartbeats are held back for at most a second: the default, 80 % of the heartbeat timeout, leaves a loaded
		// machine too little room before a live call counts as lost.
		MaxHeartbeatThrottleInterval: time.Second,
	})
	w.RegisterWorkflowWithOptions(workflows.Conversation, workflow.RegisterOptions{Name: conversation.WorkflowType})
	register(w, m, flows, understander, tools, cfg, logger)
	return &Worker{memory: m, tools: tools, worker: w}, nil
}

// checkFlows compares every flow with the tools that are registered, so that a missing operation shows at start.
func checkFlows(library *flow.Library, registry *tool.Registry) error {
	var operations []flow.Operation
	for _, manifest := range registry.Manifests() {
		for name, operation := range manifest.Operations {
			operations = append(operations, flow.Operation{Tool: manifest.Name, Name: name, Effect: operation.Effect})
		}
	}
	for _, ref := range library.Refs() {
		f, err := library.Get(ref)
		if err != nil {
			return err
		}
		if err := f.CheckTools(ref.ID, operations); err != nil {
			return err
		}
	}
	return nil
}

// register gives every activity its ports. Names are methods' names, so a reference in code and a type in a history are
// the same word.
func register(
	w worker.Worker, m *Memory, flows *activities.Flows, understander activities.Understander, tools *tool.Client,
	cfg config.Config, logger *slog.Logger,
) {
	invoking := activities.NewInvoking(tools)
	for name, function := range map[string]any{
		conversation.ActivityOpen:       activities.NewOpening(flows, cfg.UserHashKey.HashUser).OpenConversation,
		conversation.ActivityAccept:     activities.NewAccepting(m.Sessions).AcceptMessage,
		conversation.ActivityRecall:     activities.NewRecalling(m.Midterm, time.Now).Recall,
		conversation.ActivityUnderstand: activities.NewUnderstanding(flows, understander).Understand,
		conversation.ActivityPlan:       activities.NewPlanning(flows, capabilities{tools}).Plan,
		conversation.ActivityInvoke:     invoking.InvokeTool,
		conversation.ActivityFallback:   invoking.Fallback,
		conversation.ActivityComplete:   invoking.VerifyCompletion,
		conversation.ActivityRemember:   activities.NewRemembering(m.Midterm, relater{m.Graph}, tools).Remember,
		conversation.ActivityReply:      activities.NewReplying(flows, m.Events, logger).Reply,
	} {
		w.RegisterActivityWithOptions(function, activity.RegisterOptions{Name: name})
	}
}

// Start begins to poll. It returns when the worker is up or cannot be.
func (w *Worker) Start() error {
	if err := w.worker.Start(); err != nil {
		return conversation.Errorf(conversation.CodeUnavailable, "start worker: %w", err)
	}
	return nil
}

// Stop ends polling, waits for running work within the shutdown timeout, and closes memory.
func (w *Worker) Stop() error {
	w.worker.Stop()
	w.tools.Close()
	return w.memory.Close()
}

// capabilities shows the tools to flows in their own words: neither package knows the other.
type capabilities struct{ tools *tool.Client }

func (c capabilities) Capability(
	ctx context.Context, toolName, operation string, arguments json.RawMessage,
) (flow.Capability, error) {
	capability, err := c.tools.Capability(ctx, toolName, operation, arguments)
	return flow.Capability(capability), err
}

// relater stamps relations with the time at which they are written.
type relater struct{ graph *memory.Graph }

func (r relater) Relate(
	ctx context.Context, userID string, relations []conversation.Relation, verified memory.Verified,
) error {
	return r.graph.Relate(ctx, userID, relations, verified, time.Now())
}
