package conversation

import (
	"encoding/base64"
	"encoding/json"
	"time"
	"unicode/utf8"
)

// SummaryMaxRunes and SnapshotMaxBytes bound a snapshot (SPEC C4, DESIGN 3).
const (
	SummaryMaxRunes  = 50
	SnapshotMaxBytes = 4 << 10
)

// Snapshot is made before every transition and travels as a header with each dispatch (SPEC C4). It holds distilled
// facts, never raw data, and it is all that rendering may read.
type Snapshot struct {
	State     State       `json:"state"`
	EnteredAt time.Time   `json:"entered_at"`
	Tokens    int64       `json:"tokens"` // Of language models, so far.
	UserHash  string      `json:"user_hash"`
	SessionID string      `json:"session_id"`
	TraceID   string      `json:"trace_id"`
	Flow      string      `json:"flow,omitempty"`
	Revision  int64       `json:"revision"`
	Summary   string      `json:"summary"`
	Intent    string      `json:"intent,omitempty"`
	Facts     []Fact      `json:"facts,omitempty"`
	Tools     []ToolTrace `json:"tools,omitempty"`
	// Truncated is set when facts or traces were left out to keep within SnapshotMaxBytes.
	Truncated bool `json:"truncated,omitempty"`
}

// ToolTrace says that a tool was called, not what was said.
type ToolTrace struct {
	Tool           string `json:"tool"`
	Operation      string `json:"operation"`
	ArgumentDigest string `json:"argument_digest"`
	Status         string `json:"status"` // "ok", "processing", "degraded" or an error code.
}

// Header returns the snapshot as base64url JSON of at most SnapshotMaxBytes. What does not fit is left out, oldest
// tool traces first, then the largest facts, and Truncated says so: a header that is refused would lose more.
func (s Snapshot) Header() string {
	s.Summary = Clip(s.Summary, SummaryMaxRunes)
	for {
		data, err := json.Marshal(s)
		if err != nil { // Only a fact whose value is not JSON can do that.
			s.Facts, s.Truncated = nil, true
			continue
		}
		if base64.RawURLEncoding.EncodedLen(len(data)) <= SnapshotMaxBytes {
			return base64.RawURLEncoding.EncodeToString(data)
		}
		s.Truncated = true
		switch {
		case len(s.Tools) > 1:
			s.Tools = s.Tools[1:]
		case len(s.Facts) > 0:
			s.Facts = withoutLargest(s.Facts)
		default:
			// At six bytes of JSON a rune all of these together keep within the bound: the loop ends.
			s.State = State(Clip(string(s.State), 16))
			s.Tools, s.SessionID, s.Intent = nil, Clip(s.SessionID, 64), Clip(s.Intent, 64)
			s.Flow, s.TraceID, s.UserHash = Clip(s.Flow, 64), Clip(s.TraceID, 64), Clip(s.UserHash, 64)
		}
	}
}

// ParseSnapshot reads what Header wrote.
func ParseSnapshot(header string) (Snapshot, error) {
	var s Snapshot
	data, err := base64.RawURLEncoding.DecodeString(header)
	if err != nil {
		return s, Errorf(CodeInvalidArgument, "snapshot header is not base64url: %w", err)
	}
	if err := json.Unmarshal(data, &s); err != nil {
		return s, Errorf(CodeInvalidArgument, "snapshot header is not JSON: %w", err)
	}
	return s, nil
}

func withoutLargest(facts []Fact) []Fact {
	largest := 0
	for i := range facts {
		if len(facts[i].Value) > len(facts[largest].Value) {
			largest = i
		}
	}
	rest := make([]Fact, 0, len(facts)-1)
	rest = append(rest, facts[:largest]...)
	return append(rest, facts[largest+1:]...)
}

// Clip shortens text to at most n runes and never cuts inside one.
func Clip(text string, n int) string {
	if utf8.RuneCountInString(text) <= n {
		return text
	}
	runes := 0
	for i := range text {
		if runes == n-1 {
			return text[:i] + "…"
		}
		runes++
	}
	return text
}
