package stack

import (
	"context"
	"errors"
	"time"

	enums "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/operatorservice/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	serverlog "go.temporal.io/server/common/log"
	"go.uber.org/zap"

	"github.com/hermes-orchestrator/hermes/conversation"
)

// retryReady is the pause between two looks at a server that is starting.
const retryReady = 10 * time.Millisecond

// connect makes the stack's own client when the server is ready.
func (s *Stack) connect(ctx context.Context, log *zap.Logger) error {
	s.clientOptions = client.Options{
		HostPort:  s.temporalAddress,
		Namespace: Namespace,
		Identity:  "hermes-dev",
		Logger:    serverlog.NewSdkLogger(serverlog.NewZapLogger(log)),
	}
	connection, err := client.NewLazyClient(s.clientOptions)
	if err != nil {
		return conversation.Errorf(conversation.CodeInternal, "make Temporal client for %q: %w", s.temporalAddress, err)
	}
	s.client = connection
	s.onClose("close Temporal client", func() error {
		connection.Close()
		return nil
	})
	for {
		err := s.probe(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-time.After(retryReady):
		case <-ctx.Done():
			return conversation.Errorf(conversation.CodeUnavailable,
				"start Temporal on %s: not ready in time, see %s in %q (%w)",
				s.temporalAddress, temporalLog, s.dir, errors.Join(ctx.Err(), err))
		}
	}
}

// probe asks each service something that only a ready one answers: the front end and the database for the namespace and
// its search attributes, matching for a task queue, history for a workflow that does not exist.
func (s *Stack) probe(ctx context.Context) error {
	service := s.client.WorkflowService()
	described := &workflowservice.DescribeNamespaceRequest{Namespace: Namespace}
	if _, err := service.DescribeNamespace(ctx, described); err != nil {
		return err
	}
	if err := s.registerAttributes(ctx); err != nil {
		return err
	}
	workflows := enums.TASK_QUEUE_TYPE_WORKFLOW
	if _, err := s.client.DescribeTaskQueue(ctx, conversation.DefaultTaskQueue, workflows); err != nil {
		return err
	}
	_, err := s.client.DescribeWorkflowExecution(ctx, "hermes-dev-ready", "")
	if errors.As(err, new(*serviceerror.NotFound)) {
		return nil
	}
	return err
}

// registerAttributes adds the search attributes that a data directory of an earlier version lacks.
func (s *Stack) registerAttributes(ctx context.Context) error {
	operator := s.client.OperatorService()
	known, err := operator.ListSearchAttributes(ctx, &operatorservice.ListSearchAttributesRequest{Namespace: Namespace})
	if err != nil {
		return err
	}
	missing := map[string]enums.IndexedValueType{}
	for _, name := range SearchAttributes() {
		if _, ok := known.GetCustomAttributes()[name]; !ok {
			missing[name] = enums.INDEXED_VALUE_TYPE_KEYWORD
		}
	}
	if len(missing) == 0 {
		return nil
	}
	_, err = operator.AddSearchAttributes(ctx, &operatorservice.AddSearchAttributesRequest{
		Namespace: Namespace, SearchAttributes: missing,
	})
	return err
}

// Client returns a client of the stack's Temporal server and namespace. The caller closes it; all of them share one
// connection, which ends with the stack. What the client and its workers log goes to the log of the server.
// CodeUnavailable when Temporal was not started.
func (s *Stack) Client(ctx context.Context) (client.Client, error) {
	if s.client == nil {
		return nil, conversation.Errorf(conversation.CodeUnavailable,
			"connect to Temporal: this stack was started without it")
	}
	shared, err := client.NewClientFromExistingWithContext(ctx, s.client, s.clientOptions)
	if err != nil {
		return nil, conversation.Errorf(conversation.CodeUnavailable, "connect to Temporal on %q: %w", s.temporalAddress, err)
	}
	return shared, nil
}
