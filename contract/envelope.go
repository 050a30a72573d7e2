package contract

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strings"

	"github.com/hermes-orchestrator/hermes/conversation"
)

// Tasks of envelopes between Hermes' own components. The task of a tool call is the tool's operation.
const (
	TaskQueryContext = "query_context" // conversation → memory (SPEC P2)
	TaskRemember     = "remember"      // conversation → memory
	TaskTaskComplete = "task_complete" // tool → conversation
	TaskErrorReport  = "error_report"  // dispatcher → conversation (SPEC P4)
	TaskContinue     = "continue"      // any component → conversation (SPEC P3)
)

// Components that are not tools.
const (
	ComponentDispatcher = "mcp:dispatcher"
	ComponentMemory     = "memory:context"
	ComponentMidterm    = "memory:midterm"
	ComponentLongterm   = "memory:longterm"
	ComponentReply      = "conversation:reply"
)

// Envelope is the one shape of everything between components (SPEC P1).
type Envelope struct {
	MessageID string `json:"message_id"`
	// Timestamp is Unix milliseconds.
	Timestamp int64 `json:"timestamp"`
	// Source and Target are "<type>:<instance>", for example "conversation:S2" or "tool:ocr_tool". Routing is exact.
	Source  string  `json:"source"`
	Target  string  `json:"target"`
	Payload Payload `json:"payload"`
	// TraceID spans a flow from its first message to its end; CycleID one user message in it.
	TraceID string `json:"trace_id"`
	CycleID string `json:"cycle_id"`
	// Digest is the hex SHA-256 of the canonical JSON of Payload (SPEC G). Every receiver checks it.
	Digest   string   `json:"digest"`
	Metadata Metadata `json:"metadata"`
}

// Payload is what an envelope asks.
type Payload struct {
	Task    string  `json:"task"`
	Context Context `json:"context"`
}

// Context is whom and what a payload is about.
type Context struct {
	UserID    string          `json:"user_id"`
	SessionID string          `json:"session_id"`
	Arguments json.RawMessage `json:"arguments,omitempty"`
}

// Metadata is how an envelope is to be handled. It binds whatever the receiver's own limits are (SPEC T7).
type Metadata struct {
	Priority    int         `json:"priority"`
	TimeoutMS   int64       `json:"timeout_ms"`
	RetryPolicy RetryPolicy `json:"retry_policy"`
	// Step is the step of the flow that asked.
	Step string `json:"step,omitempty"`
	// Effect is "read" or "write".
	Effect string `json:"effect,omitempty"`
	// IdempotencyKey makes an effect happen once: the id of the approval receipt for a write operation.
	IdempotencyKey string `json:"idempotency_key,omitempty"`
	// Fallback is set when the operation has one: the call counts as failed only when that fails, too.
	Fallback bool `json:"fallback,omitempty"`
	// Optional is set by a flow whose other parts can do without the answer (SPEC P4).
	Optional bool `json:"optional,omitempty"`
	// Async asks a tool to accept the call and to answer later with task_complete.
	Async bool `json:"async,omitempty"`
}

// RetryPolicy is the retry policy of one call.
type RetryPolicy struct {
	MaxAttempts int32 `json:"max_attempts"`
	BackoffMS   int64 `json:"backoff_ms"`
}

// Seal computes Digest. Call it when the envelope is complete.
func (e *Envelope) Seal() error {
	digest, err := Digest(e.Payload)
	if err != nil {
		return err
	}
	e.Digest = digest
	return nil
}

// Check verifies shape and digest. It returns an *conversation.Error with CodeMalformedEnvelope that names the field.
func (e Envelope) Check() error {
	if err := e.checkShape(); err != nil {
		return err
	}
	digest, err := Digest(e.Payload)
	if err != nil {
		return err
	}
	if digest != e.Digest {
		return conversation.Errorf(conversation.CodeMalformedEnvelope,
			"envelope %q from %q: digest %q is not that of its payload (%q): the payload was changed on the way",
			e.MessageID, e.Source, e.Digest, digest)
	}
	return nil
}

func (e Envelope) checkShape() error {
	var field string
	switch {
	case e.MessageID == "":
		field = "message_id"
	case e.Timestamp <= 0:
		field = "timestamp"
	case !component(e.Source):
		field = "source"
	case !component(e.Target):
		field = "target"
	case e.Payload.Task == "":
		field = "payload.task"
	case e.Payload.Context.SessionID == "":
		field = "payload.context.session_id"
	case e.TraceID == "":
		field = "trace_id"
	case e.CycleID == "":
		field = "cycle_id"
	case e.Digest == "":
		field = "digest"
	case e.Metadata.TimeoutMS < 0:
		field = "metadata.timeout_ms"
	default:
		return nil
	}
	return conversation.Errorf(conversation.CodeMalformedEnvelope,
		"envelope %q from %q to %q: %s is missing or wrong", e.MessageID, e.Source, e.Target, field)
}

// component reports whether name has the form "<type>:<instance>".
func component(name string) bool {
	kind, instance, ok := strings.Cut(name, ":")
	return ok && kind != "" && instance != ""
}

// Digest is the hex SHA-256 of the canonical JSON of v: object keys sorted, no insignificant space, numbers as
// written, no HTML escapes.
func Digest(v any) (string, error) {
	canonical, err := Canonical(v)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(canonical)
	return hex.EncodeToString(sum[:]), nil
}

// Canonical is the canonical JSON of v, as Digest describes it.
func Canonical(v any) ([]byte, error) {
	data, err := json.Marshal(v)
	if err != nil {
		return nil, conversation.Errorf(conversation.CodeMalformedEnvelope, "payload is not JSON: %w", err)
	}
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	var tree any
	if err := decoder.Decode(&tree); err != nil {
		return nil, conversation.Errorf(conversation.CodeMalformedEnvelope, "payload is not JSON: %w", err)
	}
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(tree); err != nil {
		return nil, conversation.Errorf(conversation.CodeMalformedEnvelope, "payload cannot be made canonical: %w", err)
	}
	return bytes.TrimSuffix(out.Bytes(), []byte("\n")), nil
}
