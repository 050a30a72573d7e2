package starter

import (
	"context"
	"errors"
	"fmt"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"

	"github.com/hermes-orchestrator/hermes/contract"
	"github.com/hermes-orchestrator/hermes/conversation"
)

// acceptedUpdateCompletedWorkflow is the error type with which Temporal fails an update that a run had accepted but
// not answered when it completed or continued as new.
const acceptedUpdateCompletedWorkflow = "AcceptedUpdateCompletedWorkflow"

// again is what a client does when it cannot know whether its message arrived: the message id makes it safe.
const again = "send it again, a message with the same message_id"

// runEnded reports whether the run that had accepted an update ended before it answered. The next run does not know
// the update, but may know its message: sending it again is right in every case.
func runEnded(err error) bool {
	var application *temporal.ApplicationError
	return errors.As(err, &application) && application.Type() == acceptedUpdateCompletedWorkflow
}

// temporalError gives err, which the operation on a session met, the code and the advice that a client needs.
func (s *Server) temporalError(ctx context.Context, operation, sessionID string, err error) error {
	if err == nil {
		return nil
	}
	var (
		known       *conversation.Error
		started     *serviceerror.WorkflowExecutionAlreadyStarted
		notFound    *serviceerror.NotFound
		noNamespace *serviceerror.NamespaceNotFound
		invalid     *serviceerror.InvalidArgument
		queryFailed *serviceerror.QueryFailed
		denied      *serviceerror.PermissionDenied
		unavailable *serviceerror.Unavailable
		exhausted   *serviceerror.ResourceExhausted
		notReady    *serviceerror.WorkflowNotReady
		late        *serviceerror.DeadlineExceeded
		cancelled   *serviceerror.Canceled
		updateLate  *client.WorkflowUpdateServiceTimeoutOrCanceledError
		application *temporal.ApplicationError
	)
	what := fmt.Sprintf("%s of session %q", operation, sessionID)
	switch {
	case errors.As(err, &known):
		return known
	case errors.As(err, &started):
		return ended(sessionID)
	case runEnded(err):
		return conversation.Errorf(conversation.CodeUnavailable, "%s: the run ended meanwhile: %s", what, again)
	case errors.As(err, &application):
		return contract.FromTemporal(err)
	case errors.As(err, &notFound):
		return s.absent(ctx, sessionID)
	case errors.As(err, &noNamespace):
		return conversation.Errorf(conversation.CodeInvalidConfig,
			"%s: namespace %q does not exist: create it, or set HERMES_NAMESPACE", what, noNamespace.Namespace)
	case errors.As(err, &invalid):
		return conversation.Errorf(conversation.CodeInvalidArgument, "%s: Temporal refuses it: %w", what, invalid)
	case errors.As(err, &denied):
		return conversation.Errorf(conversation.CodeInvalidConfig,
			"%s: Temporal denies it: %w: check the API key or certificate of the starter", what, denied)
	case errors.As(err, &queryFailed):
		return conversation.Errorf(conversation.CodeInternal, "%s: the worker could not answer: %w", what, queryFailed)
	case errors.As(err, &updateLate), errors.As(err, &late), errors.As(err, &cancelled),
		errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		return conversation.Errorf(conversation.CodeUnavailable,
			"%s: no answer in time: is a worker running? The reply to a message may still come as an event; or %s", what, again)
	case errors.As(err, &unavailable), errors.As(err, &exhausted), errors.As(err, &notReady):
		return conversation.Errorf(conversation.CodeUnavailable, "%s: Temporal does not answer: %w: %s", what, err, again)
	}
	return conversation.Errorf(conversation.CodeInternal, "%s: %w", what, err)
}

// absent says why Temporal finds no open conversation of a session: there is none, or it has ended.
func (s *Server) absent(ctx context.Context, sessionID string) error {
	found, err := s.describe(ctx, sessionID)
	switch {
	case err != nil:
		return err
	case found.open:
		// It was opened, or continued as new, between the two questions.
		return conversation.Errorf(conversation.CodeUnavailable, "session %q is being opened: send it again", sessionID)
	}
	return ended(sessionID)
}

func ended(sessionID string) error {
	return conversation.Errorf(conversation.CodeConversationEnded,
		"the conversation of session %q has ended: start a new one with another session_id", sessionID)
}

func unknown(sessionID string) error {
	return conversation.Errorf(conversation.CodeNotFound,
		"there is no conversation of session %q: start it with POST /v1/conversations, or send user_id with the message",
		sessionID)
}

// description is what the starter wants to know of a conversation's workflow.
type description struct {
	open     bool
	runID    string
	userHash string // Of the owner; empty when whoever started it left no memo.
}

// memoUser is the field of the memo that holds the keyed hash of the owner.
const memoUser = "user_hash"

// describe asks Temporal for the workflow of a session. A session that never was is CodeNotFound.
func (s *Server) describe(ctx context.Context, sessionID string) (description, error) {
	answer, err := s.cfg.Temporal.DescribeWorkflowExecution(ctx, conversation.WorkflowID(sessionID), "")
	if err != nil {
		if _, ok := errors.AsType[*serviceerror.NotFound](err); ok {
			return description{}, unknown(sessionID)
		}
		return description{}, s.temporalError(ctx, "description", sessionID, err)
	}
	info := answer.GetWorkflowExecutionInfo()
	status := info.GetStatus()
	d := description{
		open:  status == enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING || status == enumspb.WORKFLOW_EXECUTION_STATUS_PAUSED,
		runID: info.GetExecution().GetRunId(),
	}
	if payload, ok := info.GetMemo().GetFields()[memoUser]; ok {
		if err := converter.GetDefaultDataConverter().FromPayload(payload, &d.userHash); err != nil {
			s.cfg.Logger.WarnContext(ctx, "memo not readable", "session_id", sessionID, "error", err)
		}
	}
	return d, nil
}
