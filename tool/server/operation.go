package server

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"sync"
	"time"

	"github.com/hermes-orchestrator/hermes/conversation"
)

// Operation is one thing that a tool can do.
type Operation struct {
	// Name is used in the path: letters, digits, '.', '_' and '-'.
	Name string
	// Description is shown in /schema.
	Description string
	// Effect is tool.EffectRead or tool.EffectWrite. A write operation must make its effect happen once per
	// Call.IdempotencyKey: the same key with the same arguments gets the same answer, with other arguments a 409.
	Effect string
	// Async says that the call may be accepted now and answered later, if the caller wants that.
	Async bool
	// Batch names the array argument by whose length the measured latency is divided: /health tells the time of one
	// item. Empty: a call is one item.
	Batch string
	// Input and Output are JSON Schemas of arguments and output, both of objects. Of the keywords only those are
	// allowed that OpenAPI 3.0 can say; New names the others.
	Input, Output json.RawMessage
	// Handle carries out a call. It ends when ctx does: that is the caller's time limit. It may be called several times
	// at once.
	Handle func(ctx context.Context, call *Call) (*Result, error)
	// Estimate says how long a call will take that is answered later. Defaults to the measured latency per item, or
	// 30 s while there is none.
	Estimate func(call *Call) time.Duration
}

// Result is what an operation answers.
type Result struct {
	// Output is marshalled to JSON and must fit the operation's output schema. Write money as decimal strings.
	Output any
	// VerificationSteps say what was checked, in the words that the user will read (SPEC T2).
	VerificationSteps []string
	// Confidence is 0–1. Zero means that it is not stated, which counts as 1.
	Confidence float64
}

// Call is one call of an operation. Its arguments have been checked against the input schema.
type Call struct {
	Operation      string
	MessageID      string
	TraceID        string
	CycleID        string
	SessionID      string
	IdempotencyKey string
	Arguments      json.RawMessage

	snapshot string
	files    string
	client   *http.Client
	now      func() time.Time

	mu       sync.Mutex
	external int64
	waited   time.Duration
}

// Decode unmarshals the arguments into v. Numbers in interfaces become json.Number, so that they keep their digits. An
// error is a failure of status 400 that an operation can return as it is.
func (c *Call) Decode(v any) error {
	decoder := json.NewDecoder(bytes.NewReader(c.Arguments))
	decoder.UseNumber()
	if err := decoder.Decode(v); err != nil {
		return fail(http.StatusBadRequest, CodeInvalidArgument, false, "arguments of operation %q do not fit: %v",
			c.Operation, err)
	}
	return nil
}

// Snapshot is the distilled state of the conversation (SPEC C4), or its zero value if the caller sent none. It informs;
// what an operation acts on are its arguments.
func (c *Call) Snapshot() (conversation.Snapshot, error) {
	if c.snapshot == "" {
		return conversation.Snapshot{}, nil
	}
	return conversation.ParseSnapshot(c.snapshot)
}

// External counts one call that the operation made to another service, and how long it took, for the diagnostics
// (SPEC P6). It is safe for concurrent use. Fetching a file counts by itself.
func (c *Call) External(latency time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.external++
	c.waited += latency
}

func (c *Call) externalCalls() conversation.ExternalCalls {
	c.mu.Lock()
	defer c.mu.Unlock()
	calls := conversation.ExternalCalls{Count: c.external}
	if c.external > 0 {
		calls.MeanLatencyMS = float64(c.waited.Microseconds()) / 1000 / float64(c.external)
	}
	return calls
}

// items is how many items the call is about.
func (c *Call) items(batch string) int {
	var named map[string]json.RawMessage
	var list []json.RawMessage
	if batch == "" || json.Unmarshal(c.Arguments, &named) != nil || json.Unmarshal(named[batch], &list) != nil {
		return 1
	}
	return max(1, len(list))
}
