package conversation

import (
	"encoding/json"
	"time"
)

// FactStatus says how far a fact can be trusted.
type FactStatus string

// The statuses of a fact.
const (
	FactDeclared FactStatus = "declared" // The user said so.
	FactVerified FactStatus = "verified" // A tool's signed answer says so.
	FactDegraded FactStatus = "degraded" // A fallback says so; Degraded notices name reason and time.
	FactDerived  FactStatus = "derived"  // Computed from other facts by the flow.
)

// Fact is one named value of a flow in progress, with its provenance. Rendering reads facts and nothing else (SPEC G).
type Fact struct {
	Name       string          `json:"name"`
	Value      json.RawMessage `json:"value"`
	Status     FactStatus      `json:"status"`
	Source     string          `json:"source"`               // "user", "flow" or "tool:<name>".
	MessageID  string          `json:"message_id,omitempty"` // Of the user message or the tool call.
	At         time.Time       `json:"at"`
	Confidence float64         `json:"confidence,omitempty"` // 0–1; 0 means not stated.
}

// Symbol is an entry of short-term memory (SPEC M1): a word of the conversation and the entity that it points to. It
// lives in the workflow and dies with it.
type Symbol struct {
	Name     string          `json:"name"`
	Entity   json.RawMessage `json:"entity"`
	At       time.Time       `json:"at"`
	ValidFor Duration        `json:"valid_for"`
	Verifier string          `json:"verifier,omitempty"` // Step of the flow that verifies it again.
}

// SymbolValidFor is how long a symbol is valid where the flow does not say otherwise (SPEC M1).
const SymbolValidFor = Duration(600 * time.Second)

// Valid reports whether the symbol may still be used at the given time without being verified again.
func (s Symbol) Valid(at time.Time) bool {
	return at.Before(s.At.Add(time.Duration(s.ValidFor)))
}
