package conversation

import (
	"errors"
	"fmt"
)

// Code is one of the closed set of error codes. Every error that leaves a component has one; each transport has one
// table that maps codes to its own (HTTP status, gRPC code, Temporal error type).
type Code string

// The codes.
const (
	CodeInvalidArgument   Code = "invalid_argument"   // The request itself is wrong; sending it again will not help.
	CodeInvalidUTF8       Code = "invalid_utf8"       // Text is not valid UTF-8.
	CodeTooLarge          Code = "too_large"          // Text, upload or envelope is over its limit.
	CodeUnsupportedMedia  Code = "unsupported_media"  // An upload is not of a kind that is accepted here.
	CodeEmptyUpload       Code = "empty_upload"       // An upload has no bytes.
	CodeNotFound          Code = "not_found"          // No such conversation, file, tool or fact.
	CodeUnknownFlow       Code = "unknown_flow"       // No flow of that name and version.
	CodeInvalidFlow       Code = "invalid_flow"       // A flow definition has errors.
	CodeInvalidConfig     Code = "invalid_config"     // A setting is missing or wrong.
	CodeConflict          Code = "conflict"           // Another writer was first: revision or state differ.
	CodeDuplicate         Code = "duplicate"          // This message id was used already.
	CodeConversationEnded Code = "conversation_ended" // The conversation is in S5.
	CodeEventNotAdmitted  Code = "event_not_admitted" // The state does not admit the event.
	CodeMalformedEnvelope Code = "malformed_envelope" // An envelope lacks a field or a digest does not match.
	CodeNoOpenCycle       Code = "no_open_cycle"      // Contract: call outside a message cycle.
	CodeMemoryFirst       Code = "memory_first"       // Contract P2: tool call before Recall, or after a write.
	CodeSingleWrite       Code = "single_write"       // Contract P3: component scheduled twice in a cycle.
	CodeCycleBroken       Code = "cycle_broken"       // Contract P4: the cycle was broken by a failed call.
	CodeUnknownTool       Code = "unknown_tool"       // No tool or operation of that name is registered.
	CodeToolUnavailable   Code = "tool_unavailable"   // Time-out, 5xx or unhealthy, and no alternate.
	CodeToolRefused       Code = "tool_refused"       // The tool answered that it will not (4xx).
	CodeToolMisbehaved    Code = "tool_misbehaved"    // The answer does not fit the tool's own schema.
	CodeBadSignature      Code = "bad_signature"      // The signature of an answer does not verify.
	CodeOutcomeUnknown    Code = "outcome_unknown"    // A write may or may not have taken effect.
	CodeReceiptInvalid    Code = "receipt_invalid"    // The approval receipt is used, expired or of other facts.
	CodeUnverified        Code = "unverified"         // A fact without proof was to be written.
	CodeMemoryUnavailable Code = "memory_unavailable" // A memory tier does not answer.
	CodeUnavailable       Code = "unavailable"        // A server that is needed does not answer; try again.
	CodeInternal          Code = "internal"           // A bug. The message says where.
)

// Codes lists the closed set.
func Codes() []Code {
	return []Code{
		CodeInvalidArgument, CodeInvalidUTF8, CodeTooLarge, CodeUnsupportedMedia, CodeEmptyUpload, CodeNotFound,
		CodeUnknownFlow, CodeInvalidFlow, CodeInvalidConfig, CodeConflict, CodeDuplicate, CodeConversationEnded,
		CodeEventNotAdmitted, CodeMalformedEnvelope, CodeNoOpenCycle, CodeMemoryFirst, CodeSingleWrite,
		CodeCycleBroken, CodeUnknownTool, CodeToolUnavailable, CodeToolRefused, CodeToolMisbehaved, CodeBadSignature,
		CodeOutcomeUnknown, CodeReceiptInvalid, CodeUnverified, CodeMemoryUnavailable, CodeUnavailable, CodeInternal,
	}
}

// Retryable reports whether the same request may succeed later.
func (c Code) Retryable() bool {
	return c == CodeToolUnavailable || c == CodeMemoryUnavailable || c == CodeUnavailable
}

// Error is the one error type of Hermes. Message is for people and may be sent to clients: it names the operation and
// the offending value, never a secret.
type Error struct {
	Code    Code   `json:"code"`
	Message string `json:"message"`
	cause   error
}

// Errorf makes an *Error. A %w verb keeps the cause for errors.Is and errors.As.
func Errorf(code Code, format string, args ...any) *Error {
	wrapped := fmt.Errorf(format, args...)
	return &Error{Code: code, Message: wrapped.Error(), cause: errors.Unwrap(wrapped)}
}

func (e *Error) Error() string { return string(e.Code) + ": " + e.Message }

// Unwrap returns the cause given with %w, or nil.
func (e *Error) Unwrap() error { return e.cause }

// Is reports whether target is an *Error of the same code, so that errors.Is(err, &Error{Code: c}) works.
func (e *Error) Is(target error) bool {
	other, ok := target.(*Error)
	return ok && other.Code == e.Code
}

// CodeOf returns the code of err: "" for nil, CodeInternal for an error that has none.
func CodeOf(err error) Code {
	if err == nil {
		return ""
	}
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Code
	}
	return CodeInternal
}
