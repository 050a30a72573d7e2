package conversation

import (
	"encoding/json"
	"slices"
)

// Material is an upload that the conversation has accepted for a material of its flow.
type Material struct {
	Name       string     `json:"name"` // Material of the flow; empty until a tool has told which one it is.
	Attachment Attachment `json:"attachment"`
	MessageID  string     `json:"message_id"`
	// Inspected is set once a tool has read it (or the user gave the figures instead).
	Inspected bool `json:"inspected,omitempty"`
}

// FindingKind says what a finding means for the conversation.
type FindingKind string

// The kinds of findings.
const (
	FindingWarning FindingKind = "warning" // Shown with the confirmation.
	FindingReview  FindingKind = "review"  // A person must accept it (S3.1).
	FindingFatal   FindingKind = "fatal"   // Ends validation (S5, failed).
)

// Finding is something that validation has to say.
type Finding struct {
	ID       string      `json:"id"` // Rule of the flow, or "tool_failed:<step>" and the like.
	Kind     FindingKind `json:"kind"`
	Text     string      `json:"text,omitempty"` // Passed unchanged from a tool, or rendered by the flow.
	Accepted bool        `json:"accepted,omitempty"`
	// AcceptedBy is the id of the message by which a person accepted it (SPEC C2).
	AcceptedBy string `json:"accepted_by,omitempty"`
	// Basis is a digest of the facts that the finding was built on: while they are unchanged, an acceptance stays valid.
	Basis string `json:"basis,omitempty"`
}

// Case is everything that is known of one flow in progress. It is what a snapshot distils, what an unfinished flow
// keeps, and the input of planning. It holds references to uploads, never their bytes.
type Case struct {
	Intent    string     `json:"intent,omitempty"`
	Facts     []Fact     `json:"facts,omitempty"`
	Materials []Material `json:"materials,omitempty"`
	Symbols   []Symbol   `json:"symbols,omitempty"`
	Findings  []Finding  `json:"findings,omitempty"`
	// Degraded lists the notices that the user must see with whatever is built on them.
	Degraded []Degraded `json:"degraded,omitempty"`
	// Verification lists verification steps of tools, unchanged (SPEC T2).
	Verification []string `json:"verification,omitempty"`
	// Done lists the steps of the flow that have an answer in the present round.
	Done []string `json:"done,omitempty"`
}

// Fact returns the fact of that name.
func (c *Case) Fact(name string) (Fact, bool) {
	for _, f := range c.Facts {
		if f.Name == name {
			return f, true
		}
	}
	return Fact{}, false
}

// SetFact replaces the fact of that name or appends it. Facts keep their order of first appearance.
func (c *Case) SetFact(f Fact) {
	for i := range c.Facts {
		if c.Facts[i].Name == f.Name {
			c.Facts[i] = f
			return
		}
	}
	c.Facts = append(c.Facts, f)
}

// DropFact removes the fact of that name, if there is one.
func (c *Case) DropFact(name string) {
	c.Facts = slices.DeleteFunc(c.Facts, func(f Fact) bool { return f.Name == name })
}

// SetSymbol replaces the symbol of that name or appends it.
func (c *Case) SetSymbol(s Symbol) {
	for i := range c.Symbols {
		if c.Symbols[i].Name == s.Name {
			c.Symbols[i] = s
			return
		}
	}
	c.Symbols = append(c.Symbols, s)
}

// OpenReviews returns the review findings that nobody has accepted.
func (c *Case) OpenReviews() []Finding {
	var open []Finding
	for _, f := range c.Findings {
		if f.Kind == FindingReview && !f.Accepted {
			open = append(open, f)
		}
	}
	return open
}

// Clone returns a copy that shares no slice with c.
func (c *Case) Clone() Case {
	return Case{
		Intent: c.Intent, Facts: slices.Clone(c.Facts), Materials: slices.Clone(c.Materials),
		Symbols: slices.Clone(c.Symbols), Findings: slices.Clone(c.Findings), Degraded: slices.Clone(c.Degraded),
		Verification: slices.Clone(c.Verification), Done: slices.Clone(c.Done),
	}
}

// Degraded is the notice of an answer that did not come from the tool itself (SPEC T3), or of a memory tier that could
// not be asked.
type Degraded struct {
	Component string `json:"component"` // "tool:finance_tool", "memory:midterm".
	Strategy  string `json:"strategy"`  // cache, mock, proxy, absent.
	Reason    string `json:"reason"`
	AsOf      string `json:"as_of,omitempty"` // RFC 3339; when the answer was good.
	Step      string `json:"step,omitempty"`  // Step of the flow whose answer it was.
}

// Answer is a verified (or, if Degraded is set, a fallback) answer of a tool to one call.
type Answer struct {
	Step         string          `json:"step"`
	Tool         string          `json:"tool"`
	Operation    string          `json:"operation"`
	MessageID    string          `json:"message_id"`
	Status       string          `json:"status"` // AnswerOK or AnswerProcessing.
	Output       json.RawMessage `json:"output,omitempty"`
	Estimated    string          `json:"estimated_time,omitempty"` // With AnswerProcessing, as the tool says it ("30s").
	Verification []string        `json:"verification_steps,omitempty"`
	Degraded     *Degraded       `json:"degraded,omitempty"`
	Proof        *Proof          `json:"proof,omitempty"` // Absent where Degraded is set.
	Diagnostics  Diagnostics     `json:"diagnostics"`
}

// Statuses of an Answer.
const (
	AnswerOK         = "ok"
	AnswerProcessing = "processing"
)

// Proof is what lets anyone with the registered public key check again that a tool gave an answer (SPEC T2, M3).
type Proof struct {
	Tool      string `json:"tool"`
	MessageID string `json:"message_id"`
	KeyID     string `json:"key_id"`
	Digest    string `json:"digest"`    // Hex SHA-256 of the answer's body.
	Status    int    `json:"status"`    // HTTP status that was signed.
	Signature string `json:"signature"` // Base64url Ed25519 signature.
	At        string `json:"at"`        // RFC 3339; when the dispatcher verified it.
}

// Diagnostics come with every answer (SPEC P6).
type Diagnostics struct {
	ProcessingTimeMS int64         `json:"processing_time_ms"`
	MemoryUsedKB     int64         `json:"memory_used_kb"`
	ExternalCalls    ExternalCalls `json:"external_calls"`
	ConfidenceScore  float64       `json:"confidence_score"`
}

// ExternalCalls counts what a component asked of others.
type ExternalCalls struct {
	Count         int64   `json:"count"`
	MeanLatencyMS float64 `json:"mean_latency_ms"`
}

// CaseView is the answer to the query case: what an operator or a test may see of a flow in progress. It holds facts
// and symbols, never bytes of uploads.
type CaseView struct {
	State    State       `json:"state"`
	Outcome  Outcome     `json:"outcome,omitempty"`
	TraceID  string      `json:"trace_id"`
	Revision int64       `json:"revision"`
	Flow     FlowRef     `json:"flow,omitzero"`
	Path     Path        `json:"path"`
	Case     Case        `json:"case"`
	Tools    []ToolTrace `json:"tools,omitempty"`
	Pending  []string    `json:"pending,omitempty"`
	Messages int         `json:"messages"`
}
