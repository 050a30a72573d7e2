package workflows

import (
	"encoding/json"
	"time"

	"github.com/hermes-orchestrator/hermes/conversation"
)

// state is everything that a conversation carries from one run to the next: one struct, restored in one place. Fields
// may be added; their meaning never changes.
type state struct {
	UserHash string `json:"user_hash"`
	Locale   string `json:"locale"`
	Zone     string `json:"zone"`
	TraceID  string `json:"trace_id"`

	Flow   conversation.FlowRef   `json:"flow,omitzero"`
	Flows  []conversation.FlowRef `json:"flows,omitempty"`
	Limits conversation.Limits    `json:"limits"`

	State     conversation.State   `json:"state"`
	EnteredAt time.Time            `json:"entered_at"`
	Outcome   conversation.Outcome `json:"outcome,omitempty"`
	Path      conversation.Path    `json:"path"`
	Revision  int64                `json:"revision"`
	Cycles    int64                `json:"cycles"`
	Sequence  int64                `json:"sequence"` // Of published replies.

	Case    conversation.Case        `json:"case"`
	Summary string                   `json:"summary,omitempty"`
	Tools   []conversation.ToolTrace `json:"tools,omitempty"`
	Tokens  int64                    `json:"tokens,omitempty"`
	// Missing are the materials that the last plan named.
	Missing []string `json:"missing,omitempty"`

	// Asked and AskedOf are what the last reply asked: they give meaning to a short answer.
	Asked   conversation.ReplyKind `json:"asked,omitempty"`
	AskedOf string                 `json:"asked_of,omitempty"`
	// Deadline is when the wait for the user ends; zero for none. Warned says that its first limit has passed.
	Deadline time.Time `json:"deadline,omitzero"`
	Warned   bool      `json:"warned,omitempty"`

	Unclear   int                      `json:"unclear,omitempty"`
	Offer     *conversation.Unfinished `json:"offer,omitempty"` // Unfinished flow that was offered.
	Offered   bool                     `json:"offered,omitempty"`
	Reminders []string                 `json:"reminders,omitempty"` // To be said with the next reply.
	Reminded  bool                     `json:"reminded,omitempty"`
	// OpenKey is the key of an effect whose outcome is not known; it is used again, never a new one beside it.
	OpenKey string        `json:"open_key,omitempty"`
	Receipt *receipt      `json:"receipt,omitempty"`
	Pending []pendingCall `json:"pending,omitempty"`

	Preferences map[string]json.RawMessage `json:"preferences,omitempty"`
	// Unwritten could not be remembered yet, because a memory tier was down.
	Unwritten []conversation.Write `json:"unwritten,omitempty"`

	Messages   []messageRecord     `json:"messages,omitempty"`
	Transcript []conversation.Turn `json:"transcript,omitempty"`
}

// receipt is the approval receipt: a confirmation binds to what was shown. It is single-use, expires with the wait of
// S4, and its id is the Idempotency-Key of the effect.
type receipt struct {
	ID        string    `json:"id"`
	Digest    string    `json:"digest"`
	ExpiresAt time.Time `json:"expires_at"`
	Used      bool      `json:"used,omitempty"`
}

// pendingCall is a call that a tool has accepted and will answer later with task_complete.
type pendingCall struct {
	Phase     conversation.Phase `json:"phase"`
	MessageID string             `json:"message_id"`
	Step      string             `json:"step"`
	Tool      string             `json:"tool"`
	Operation string             `json:"operation"`
	Deadline  time.Time          `json:"deadline"`
	// Files are the hashes of the uploads that the tool is reading.
	Files []string `json:"files,omitempty"`
	// Late is an answer that has arrived and could not be taken in, because the session store was down: it is tried
	// again at Deadline.
	Late *conversation.Completion `json:"late,omitempty"`
}

// messageRecord is the verdict of one message. The latest ones keep their reply, so that a repeated message gets the
// same answer and not just a refusal.
type messageRecord struct {
	MessageID string               `json:"message_id"`
	Verdict   conversation.Verdict `json:"verdict"`
	Reply     *conversation.Reply  `json:"reply,omitempty"`
}

// What a run carries is bounded.
const (
	keptMessages = 2000 // As many as Temporal admits updates per run.
	keptReplies  = 20
	keptTurns    = 200
	keptTraces   = 20
	keptTurnText = 2000 // Runes.
)

func (s *state) record(r messageRecord) {
	for i := range s.Messages {
		if s.Messages[i].MessageID == r.MessageID {
			s.Messages[i] = r
			return
		}
	}
	s.Messages = append(s.Messages, r)
	if extra := len(s.Messages) - keptMessages; extra > 0 {
		s.Messages = s.Messages[extra:]
	}
	for i := range len(s.Messages) - keptReplies {
		s.Messages[i].Reply = nil
	}
}

func (s *state) recordOf(messageID string) *messageRecord {
	for i := range s.Messages {
		if s.Messages[i].MessageID == messageID {
			return &s.Messages[i]
		}
	}
	return nil
}

func (s *state) turn(t conversation.Turn) {
	t.Text = conversation.Clip(t.Text, keptTurnText)
	s.Transcript = append(s.Transcript, t)
	if extra := len(s.Transcript) - keptTurns; extra > 0 {
		s.Transcript = s.Transcript[extra:]
	}
}

func (s *state) trace(t conversation.ToolTrace) {
	s.Tools = append(s.Tools, t)
	if extra := len(s.Tools) - keptTraces; extra > 0 {
		s.Tools = s.Tools[extra:]
	}
}

// snapshot distils the state (SPEC C4).
func (s *state) snapshot(sessionID string) conversation.Snapshot {
	return conversation.Snapshot{
		State: s.State, EnteredAt: s.EnteredAt, Tokens: s.Tokens, UserHash: s.UserHash, SessionID: sessionID,
		TraceID: s.TraceID, Flow: s.Flow.ID, Revision: s.Revision, Summary: s.Summary, Intent: s.Case.Intent,
		Facts: s.Case.Facts, Tools: s.Tools,
	}
}
