package contract

import (
	"context"
	"errors"
	"slices"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"

	"github.com/hermes-orchestrator/hermes/conversation"
)

// ApplicationError turns err into Temporal's error: its type is the code, and it is retryable only where the code says
// so. It is the one table between codes and Temporal.
func ApplicationError(err error) error {
	if err == nil {
		return nil
	}
	var already *temporal.ApplicationError
	if errors.As(err, &already) || temporal.IsCanceledError(err) || errors.Is(err, context.Canceled) ||
		errors.Is(err, activity.ErrResultPending) {
		return err
	}
	code, message := conversation.CodeOf(err), err.Error()
	if coded, ok := errors.AsType[*conversation.Error](err); ok {
		message = coded.Message
	}
	if violation, ok := errors.AsType[*Violation](err); ok {
		code = violation.Code()
	}
	options := temporal.ApplicationErrorOptions{NonRetryable: !code.Retryable(), Cause: err}
	return temporal.NewApplicationErrorWithOptions(message, string(code), options)
}

// FromTemporal is the inverse: it finds the code of an error that an activity, an update or a workflow returned.
func FromTemporal(err error) *conversation.Error {
	if err == nil {
		return nil
	}
	if application, ok := errors.AsType[*temporal.ApplicationError](err); ok {
		code := conversation.Code(application.Type())
		if slices.Contains(conversation.Codes(), code) {
			return conversation.Errorf(code, "%s", application.Message())
		}
		return conversation.Errorf(conversation.CodeInternal, "%s", application.Message())
	}
	if _, ok := errors.AsType[*temporal.CanceledError](err); ok {
		return conversation.Errorf(conversation.CodeCycleBroken, "the call was cancelled")
	}
	if timeout, ok := errors.AsType[*temporal.TimeoutError](err); ok {
		return conversation.Errorf(conversation.CodeToolUnavailable,
			"no answer within the time limit (%s)", timeout.TimeoutType())
	}
	if coded, ok := errors.AsType[*conversation.Error](err); ok {
		return coded
	}
	return conversation.Errorf(conversation.CodeInternal, "%w", err)
}
