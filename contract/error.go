package contract

import (
	"context"
	"errors"

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
	var coded *conversation.Error
	if errors.As(err, &coded) {
		message = coded.Message
	}
	var violation *Violation
	if errors.As(err, &violation) {
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
	var application *temporal.ApplicationError
	if errors.As(err, &application) {
		code := conversation.Code(application.Type())
		for _, known := range conversation.Codes() {
			if code == known {
				return conversation.Errorf(code, "%s", application.Message())
			}
		}
		return conversation.Errorf(conversation.CodeInternal, "%s", application.Message())
	}
	var canceled *temporal.CanceledError
	if errors.As(err, &canceled) {
		return conversation.Errorf(conversation.CodeCycleBroken, "the call was cancelled")
	}
	var timeout *temporal.TimeoutError
	if errors.As(err, &timeout) {
		return conversation.Errorf(conversation.CodeToolUnavailable, "no answer within the time limit (%s)", timeout.TimeoutType())
	}
	var coded *conversation.Error
	if errors.As(err, &coded) {
		return coded
	}
	return conversation.Errorf(conversation.CodeInternal, "%w", err)
}
