package conversation

import (
	"strings"
	"time"
)

// Step is one entry of a Path: which state was entered, when, and why.
type Step struct {
	State  State     `json:"state"`
	At     time.Time `json:"at"`
	Event  Event     `json:"event,omitempty"` // Empty for the first step.
	Reason string    `json:"reason,omitempty"`
}

// Path is the way that a conversation took (SPEC C3). It only grows.
type Path []Step

// String writes the path on one line, "S1→S2→S2→S3→S3.1→S4→S5".
func (p Path) String() string {
	var b strings.Builder
	for i, step := range p {
		if i > 0 {
			b.WriteString("→")
		}
		b.WriteString(string(step.State))
	}
	return b.String()
}
