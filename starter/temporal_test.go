package starter_test

import (
	"context"
	"fmt"
	"sync"

	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"

	"github.com/hermes-orchestrator/hermes/conversation"
)

// Statuses of the double's workflows.
const (
	running   = enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING
	completed = enumspb.WORKFLOW_EXECUTION_STATUS_COMPLETED
)

// cluster stands for a Temporal client where answers and errors must be chosen. What needs a cluster is tested with a
// real one, in dev/. A session that was not added does not exist.
type cluster struct {
	client.Client // Nil: a method that the starter should not need is a panic, which its tests see as internal error.

	mu       sync.Mutex
	sessions map[string]*workflowpb.WorkflowExecutionInfo
	queries  map[string]any // Answer, or error, by session and name of the query.
	replies  []reply        // Answers of the update, one after the other.

	startErr   error
	updateErr  error // The update does not reach the conversation.
	signalErr  error
	updateHold bool // The update is answered when the sender has stopped waiting.

	options   []client.StartWorkflowOptions
	inputs    []conversation.ConversationInput
	updates   []client.UpdateWorkflowOptions
	signals   []any
	described int
}

// reply is what the update converse returns.
type reply struct {
	reply conversation.Reply
	err   error
}

func newCluster() *cluster {
	return &cluster{sessions: map[string]*workflowpb.WorkflowExecutionInfo{}, queries: map[string]any{}}
}

// add makes the workflow of a session exist. An empty hash leaves no memo.
func (c *cluster) add(sessionID, userHash string, status enumspb.WorkflowExecutionStatus) {
	c.mu.Lock()
	defer c.mu.Unlock()
	info := &workflowpb.WorkflowExecutionInfo{Status: status, Execution: &commonpb.WorkflowExecution{RunId: "run-1"}}
	if userHash != "" {
		payload := &commonpb.Payload{
			Metadata: map[string][]byte{"encoding": []byte("json/plain")}, Data: fmt.Appendf(nil, "%q", userHash),
		}
		info.Memo = &commonpb.Memo{Fields: map[string]*commonpb.Payload{"user_hash": payload}}
	}
	c.sessions[conversation.WorkflowID(sessionID)] = info
}

// sent returns the messages that reached the conversation.
func (c *cluster) sent() []conversation.UserMessage {
	c.mu.Lock()
	defer c.mu.Unlock()
	var messages []conversation.UserMessage
	for _, u := range c.updates {
		if message, ok := u.Args[0].(conversation.UserMessage); ok {
			messages = append(messages, message)
		}
	}
	return messages
}

func (c *cluster) ExecuteWorkflow(
	_ context.Context, options client.StartWorkflowOptions, workflow any, args ...any,
) (client.WorkflowRun, error) {
	c.record(options, workflow, args)
	return run{}, c.startErr
}

func (c *cluster) NewWithStartWorkflowOperation(
	options client.StartWorkflowOptions, workflow any, args ...any,
) client.WithStartWorkflowOperation {
	c.record(options, workflow, args)
	return nil
}

func (c *cluster) record(options client.StartWorkflowOptions, workflow any, args []any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if input, ok := args[0].(conversation.ConversationInput); ok && workflow == conversation.WorkflowType {
		c.options, c.inputs = append(c.options, options), append(c.inputs, input)
	}
}

func (c *cluster) DescribeWorkflowExecution(
	_ context.Context, workflowID, _ string,
) (*workflowservice.DescribeWorkflowExecutionResponse, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.described++
	info, ok := c.sessions[workflowID]
	if !ok {
		return nil, serviceerror.NewNotFound("workflow not found")
	}
	return &workflowservice.DescribeWorkflowExecutionResponse{WorkflowExecutionInfo: info}, nil
}

func (c *cluster) UpdateWithStartWorkflow(
	ctx context.Context, options client.UpdateWithStartWorkflowOptions,
) (client.WorkflowUpdateHandle, error) {
	return c.UpdateWorkflow(ctx, options.UpdateOptions)
}

func (c *cluster) UpdateWorkflow(
	_ context.Context, options client.UpdateWorkflowOptions,
) (client.WorkflowUpdateHandle, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.updateErr != nil {
		return nil, c.updateErr
	}
	c.updates = append(c.updates, options)
	if c.updateHold {
		return handle{hold: true}, nil
	}
	var next reply
	if len(c.replies) > 0 {
		next = c.replies[0]
		c.replies = c.replies[1:]
	}
	return handle{reply: next}, nil
}

func (c *cluster) QueryWorkflow(
	_ context.Context, workflowID, _, name string, _ ...any,
) (converter.EncodedValue, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	answer, ok := c.queries[workflowID+" "+name]
	if !ok {
		return nil, serviceerror.NewNotFound("workflow not found")
	}
	if err, failed := answer.(error); failed {
		return nil, err
	}
	payloads, err := converter.GetDefaultDataConverter().ToPayloads(answer)
	return client.NewValue(payloads), err
}

func (c *cluster) SignalWorkflow(_ context.Context, workflowID, _, name string, arg any) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.signalErr == nil {
		c.signals = append(c.signals, workflowID, name, arg)
	}
	return c.signalErr
}

func (c *cluster) CheckHealth(context.Context, *client.CheckHealthRequest) (*client.CheckHealthResponse, error) {
	return &client.CheckHealthResponse{}, nil
}

type run struct{ client.WorkflowRun }

func (run) GetRunID() string { return "run-1" }

type handle struct {
	client.WorkflowUpdateHandle

	reply reply
	hold  bool
}

func (h handle) Get(ctx context.Context, into any) error {
	if h.hold {
		<-ctx.Done()
		return client.NewWorkflowUpdateServiceTimeoutOrCanceledError(ctx.Err())
	}
	if into, ok := into.(*conversation.Reply); ok {
		*into = h.reply.reply
	}
	return h.reply.err
}
