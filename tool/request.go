package tool

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/hermes-orchestrator/hermes/conversation"
)

// Request is one attempt of one call.
type Request struct {
	Call conversation.ToolCall
	// MessageID of the call's envelope. The answer's signature covers it, so it must be new for each call; attempts of
	// the same call repeat it.
	MessageID string
	TraceID   string
	CycleID   string
	SessionID string
	// UserID is whose conversation it is. It is not sent: an operation that needs it has it among its arguments.
	UserID string
	// IdempotencyKey makes a write happen once. Required for write operations; for others it defaults to the message id
	// and the operation.
	IdempotencyKey string
	// Snapshot is the text of conversation.Snapshot.Header.
	Snapshot string
	// Timeout of this attempt. Zero means Call.TimeoutMS, and if that is zero as well the manifest's.
	Timeout time.Duration
}

// check refuses what could not be sent or signed as it is.
func (r Request) check(operation Operation) error {
	invalid := func(format string, args ...any) error {
		return conversation.Errorf(conversation.CodeInvalidArgument, "tool %q, operation %q: %s", r.Call.Tool,
			r.Call.Operation, fmt.Sprintf(format, args...))
	}
	headers := []struct{ name, value string }{
		{"message id", r.MessageID},
		{"trace id", r.TraceID},
		{"cycle id", r.CycleID},
		{"session id", r.SessionID},
		{"idempotency key", r.IdempotencyKey},
		{"snapshot", r.Snapshot},
	}
	for _, h := range headers {
		if h.value != strings.TrimSpace(h.value) ||
			strings.IndexFunc(h.value, func(r rune) bool { return r < ' ' || r == 0x7f }) >= 0 {
			return invalid("%s %q cannot be a header: it has control characters, or spaces at an end", h.name,
				conversation.Clip(h.value, 80))
		}
	}
	switch {
	case r.MessageID == "" || len(r.MessageID) > maxSignedNameLength:
		return invalid("the message id is empty or longer than %d bytes", maxSignedNameLength)
	case operation.Effect == EffectWrite && r.IdempotencyKey == "":
		return invalid("a write operation needs an idempotency key")
	case r.Call.Effect != "" && r.Call.Effect != operation.Effect:
		return invalid("the call says effect %q, the manifest %q", r.Call.Effect, operation.Effect)
	case len(r.Call.Arguments) > MaxAnswerBytes:
		return invalid("the arguments have %d bytes, at most %d are allowed", len(r.Call.Arguments), MaxAnswerBytes)
	case len(r.Call.Arguments) > 0 && !isObject(r.Call.Arguments):
		return invalid("the arguments are not a JSON object")
	}
	return nil
}

// arguments is the body of the request: no arguments are an empty object.
func (r Request) arguments() json.RawMessage {
	if len(r.Call.Arguments) == 0 {
		return json.RawMessage("{}")
	}
	return r.Call.Arguments
}

func (r Request) timeout(operation Operation) time.Duration {
	switch {
	case r.Timeout > 0:
		return r.Timeout
	case r.Call.TimeoutMS > 0:
		return time.Duration(r.Call.TimeoutMS) * time.Millisecond
	}
	return operation.Timeout
}

func (r Request) idempotencyKey() string {
	if r.IdempotencyKey != "" {
		return r.IdempotencyKey
	}
	return r.MessageID + "/" + r.Call.Operation
}
