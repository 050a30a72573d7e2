package conversation

import (
	"encoding/json"
	"time"
)

// The activities that a conversation calls. Each takes one contract.Envelope whose payload.context.arguments hold the
// request below. Names and fields are recorded in histories: version them, never change them in place.
const (
	ActivityOpen       = "OpenConversation" // local; OpenRequest → Opened
	ActivityAccept     = "AcceptMessage"    // local; AcceptRequest → Accepted
	ActivityRecall     = "Recall"           // local; RecallRequest → Recollection
	ActivityUnderstand = "Understand"       // local; UnderstandRequest → Understanding
	ActivityPlan       = "Plan"             // local; PlanRequest → Plan
	ActivityInvoke     = "InvokeTool"       // ToolCall → Answer
	ActivityFallback   = "Fallback"         // ToolCall → Answer
	ActivityComplete   = "VerifyCompletion" // local; Completion → Answer
	ActivityRemember   = "Remember"         // RememberRequest → Remembered
	ActivityReply      = "Reply"            // local; ReplyRequest → Rendered (renders and publishes)
)

// FlowRef names one version of a flow: id and content hash. An open conversation keeps the version it started with.
type FlowRef struct {
	ID      string `json:"id"`
	Version string `json:"version"`
}

// OpenRequest asks for what a new conversation needs to know before its first message.
type OpenRequest struct {
	Input ConversationInput `json:"input"`
}

// Opened is the answer to OpenRequest. Flows are the versions that this conversation may choose from.
type Opened struct {
	UserHash string    `json:"user_hash"`
	Flows    []FlowRef `json:"flows"`
}

// AcceptRequest asks that a change of state may be made: an atomic compare-and-swap of the revision (SPEC C7).
type AcceptRequest struct {
	State    State `json:"state"`
	Expected int64 `json:"expected"`
	// Writer is the message id: the same writer repeating its own write succeeds.
	Writer string `json:"writer"`
}

// Accepted is the revision after the swap; or, with Conflict, who was first.
type Accepted struct {
	Revision int64  `json:"revision"`
	Conflict bool   `json:"conflict,omitempty"`
	Winner   string `json:"winner,omitempty"`
}

// RecallRequest is the task query_context (SPEC P2).
type RecallRequest struct {
	Flow FlowRef `json:"flow,omitzero"`
	// WithUnfinished asks for unfinished flows too; they are large and only S1 offers them.
	WithUnfinished bool `json:"with_unfinished,omitempty"`
}

// Recollection is one bounded context snapshot. An empty one is an answer as well.
type Recollection struct {
	At          time.Time                  `json:"at"`
	Preferences map[string]json.RawMessage `json:"preferences,omitempty"`
	Unfinished  []Unfinished               `json:"unfinished,omitempty"`
	Warnings    []string                   `json:"warnings,omitempty"`
	// Tiers that could not be asked.
	Degraded []Degraded `json:"degraded,omitempty"`
}

// Unfinished is the snapshot of a conversation that ended without commitment (SPEC C1, S5).
type Unfinished struct {
	SessionID string    `json:"session_id"`
	Flow      FlowRef   `json:"flow"`
	Outcome   Outcome   `json:"outcome"`
	Summary   string    `json:"summary"`
	At        time.Time `json:"at"`
	Case      Case      `json:"case"`
	// OpenKey is the Idempotency-Key of an effect whose outcome was not known when the conversation ended. Whoever
	// goes on must use it again: the tool then answers what it did, instead of doing it twice.
	OpenKey string `json:"open_key,omitempty"`
}

// UnderstandRequest asks what a message means in the present state.
type UnderstandRequest struct {
	Flow    FlowRef     `json:"flow,omitzero"`   // Zero until an intent is known.
	Flows   []FlowRef   `json:"flows,omitempty"` // To choose from, while Flow is zero.
	State   State       `json:"state"`
	Message UserMessage `json:"message"` // With SentAt, Locale and Zone filled in.
	Case    Case        `json:"case"`
	// Asked is what the last reply asked: a ReplyKind, and the finding or material that it was about.
	Asked   ReplyKind `json:"asked,omitempty"`
	AskedOf string    `json:"asked_of,omitempty"`
}

// Understanding is a proposal: Next decides.
type Understanding struct {
	Flow   FlowRef `json:"flow,omitzero"`
	Intent string  `json:"intent,omitempty"`
	// Event is what the message means for the state machine; empty if it only brings facts, files or nothing.
	Event Event `json:"event,omitempty"`
	// Facts are declared by the user: entities, figures, dates pinned to SentAt and Zone.
	Facts []Fact `json:"facts,omitempty"`
	// Clear lists facts and materials that the user wants to replace.
	Clear []string `json:"clear,omitempty"`
	// Choice is a core choice that the text expressed ("resume", "restart", "retry", …).
	Choice string `json:"choice,omitempty"`
	// Locale is the language of the message when it is certain.
	Locale string `json:"locale,omitempty"`
	// Ambiguous lists readings that the user must choose from.
	Ambiguous []Option `json:"ambiguous,omitempty"`
	// Tokens of language models used.
	Tokens int64 `json:"tokens,omitempty"`
}

// Phase is the part of a flow that is being planned.
type Phase string

// The phases of a flow, in order.
const (
	PhasePrepare  Phase = "prepare"  // When the intent is known (S1).
	PhaseInspect  Phase = "inspect"  // For each batch of uploads or figures (S2).
	PhaseValidate Phase = "validate" // All materials present (S3).
	PhaseCommit   Phase = "commit"   // Explicitly confirmed (S4).
)

// PlanRequest asks what to do next in a phase, given everything known and the answers that came since the last plan.
type PlanRequest struct {
	Flow    FlowRef   `json:"flow"`
	Phase   Phase     `json:"phase"`
	Now     time.Time `json:"now"` // The message's time.
	Zone    string    `json:"zone"`
	Locale  string    `json:"locale"`
	Case    Case      `json:"case"`
	Answers []Answer  `json:"answers,omitempty"`
	// Failed lists steps that have neither an answer nor a fallback answer, with the error code.
	Failed      []FailedStep               `json:"failed,omitempty"`
	Preferences map[string]json.RawMessage `json:"preferences,omitempty"`
	MessageID   string                     `json:"message_id"`
	// Clear lists facts and materials to forget before planning: what depends on them is asked and checked again.
	Clear []string `json:"clear,omitempty"`
	// Late says that the answers are of calls of an earlier cycle: uploads that came since are not theirs.
	Late bool `json:"late,omitempty"`
	// Accept is the finding that the user accepted with this message (SPEC C2).
	Accept string `json:"accept,omitempty"`
}

// FailedStep is a call that failed for good.
type FailedStep struct {
	Step   string `json:"step"`
	Tool   string `json:"tool"`
	Code   Code   `json:"code"`
	Reason string `json:"reason"`
}

// Plan is the next wave of a phase. With no calls the phase is done.
type Plan struct {
	Case  Case       `json:"case"`
	Calls []ToolCall `json:"calls,omitempty"`
	// Missing are the required materials that are not there.
	Missing []string `json:"missing,omitempty"`
	// Writes are what may now be remembered: only from verified answers and explicit user actions.
	Writes []Write `json:"writes,omitempty"`
	// SymbolsChanged says that the symbol table was written (SPEC P2).
	SymbolsChanged bool `json:"symbols_changed,omitempty"`
	// Manual is set when a tool cannot read the uploads and the user is asked for the figures instead: the step.
	Manual string `json:"manual,omitempty"`
	// Unread counts new uploads that no tool could read while nothing is missing: the user decides about them.
	Unread int `json:"unread,omitempty"`
	// Digest covers what a confirmation would show: task, arguments and facts (approval receipt).
	Digest string `json:"digest,omitempty"`
	// Summary for the snapshot, at most SummaryMaxRunes.
	Summary string `json:"summary,omitempty"`
	// Settings of the flow version that the workflow needs.
	Limits Limits `json:"limits,omitzero"`
}

// ToolCall is one call of a step, ready to be put into an envelope.
type ToolCall struct {
	Step        string          `json:"step"`
	Tool        string          `json:"tool"`
	Operation   string          `json:"operation"`
	Arguments   json.RawMessage `json:"arguments"`
	Effect      string          `json:"effect"` // "read" or "write".
	TimeoutMS   int64           `json:"timeout_ms"`
	MaxAttempts int32           `json:"max_attempts"`
	BackoffMS   int64           `json:"backoff_ms"`
	Fallback    bool            `json:"fallback,omitempty"`
	Optional    bool            `json:"optional,omitempty"`
	Async       bool            `json:"async,omitempty"`
	// Reason why the primary is not asked at all but its fallback (unhealthy).
	Unhealthy string `json:"unhealthy,omitempty"`
}

// Completion is the payload's arguments of a task_complete envelope: the tool's signed answer to a call that it had
// accepted, byte for byte.
type Completion struct {
	Tool      string `json:"tool"`
	Operation string `json:"operation"`
	Step      string `json:"step"`
	MessageID string `json:"message_id"` // Of the call.
	Status    int    `json:"status"`
	Body      []byte `json:"body"` // Base64 in JSON.
	Signature string `json:"signature"`
}

// WriteKind says which tier a write goes to.
type WriteKind string

// The kinds of writes.
const (
	WritePreference WriteKind = "preference" // mid-term; needs ConfirmedBy
	WriteWarning    WriteKind = "warning"    // mid-term; repeated next time
	WriteUnfinished WriteKind = "unfinished" // mid-term
	WriteFinished   WriteKind = "finished"   // mid-term: removes the unfinished flow
	WriteRelation   WriteKind = "relation"   // long-term; needs a Proof
)

// Write is one thing to remember.
type Write struct {
	Kind        WriteKind       `json:"kind"`
	Name        string          `json:"name,omitempty"`
	Value       json.RawMessage `json:"value,omitempty"`
	ConfirmedBy string          `json:"confirmed_by,omitempty"`
	Unfinished  *Unfinished     `json:"unfinished,omitempty"`
	Relation    *Relation       `json:"relation,omitempty"`
	Proof       *Proof          `json:"proof,omitempty"`
}

// Relation is an edge of long-term memory and its two nodes.
type Relation struct {
	From Entity `json:"from"`
	Type string `json:"type"` // "belongs_to", "approved_by".
	To   Entity `json:"to"`
}

// Entity is a node of long-term memory. (Type, ID) is its identity: equal names never merge.
type Entity struct {
	Type string `json:"type"`
	ID   string `json:"id"`
	Name string `json:"name,omitempty"`
}

// RememberRequest is a batch of writes.
type RememberRequest struct {
	Writes []Write `json:"writes"`
}

// Remembered says what was written. A tier that was down is named, not hidden.
type Remembered struct {
	Written  int        `json:"written"`
	Degraded []Degraded `json:"degraded,omitempty"`
}

// ReplyKind is what a reply is for; the flow has a text for it in each locale, or the core's catalog has.
type ReplyKind string

// The kinds of replies.
const (
	ReplyUnclear       ReplyKind = "unclear"        // S1: ask what is wanted.
	ReplyAbandoned     ReplyKind = "abandoned"      // S5: still unclear.
	ReplyAmbiguous     ReplyKind = "ambiguous"      // Readings to choose from.
	ReplyMaterials     ReplyKind = "materials"      // S2: list what is missing.
	ReplyProcessing    ReplyKind = "processing"     // Interim.
	ReplyManual        ReplyKind = "manual"         // S2: a tool cannot read it, ask for the figures.
	ReplyReview        ReplyKind = "review"         // S3.1: the finding's question.
	ReplyConfirmation  ReplyKind = "confirmation"   // S4: structured summary.
	ReplyCancelOffer   ReplyKind = "cancel_offer"   // S4 after giving up.
	ReplyCommitted     ReplyKind = "committed"      // S5.
	ReplyCancelled     ReplyKind = "cancelled"      // S5.
	ReplyExpired       ReplyKind = "expired"        // S5.
	ReplyFailed        ReplyKind = "failed"         // S5: fatal finding.
	ReplyUnknown       ReplyKind = "unknown"        // S5: outcome unknown; names the key to ask by.
	ReplyStillThere    ReplyKind = "still_there"    // S2, S3.1: first time limit.
	ReplyResumeOffer   ReplyKind = "resume_offer"   // S1: an unfinished flow.
	ReplyToolFailed    ReplyKind = "tool_failed"    // A call broke the cycle: what, and what to do.
	ReplyModify        ReplyKind = "modify"         // S2 after "modify": what to change.
	ReplyNotUsable     ReplyKind = "not_usable"     // An upload was refused; says why.
	ReplyNotUnderstood ReplyKind = "not_understood" // The message means nothing in this state; repeats the question.
	ReplyEnded         ReplyKind = "ended"          // The conversation is over.
	ReplyUnread        ReplyKind = "unread"         // S2: new uploads could not be read, nothing is missing.
	ReplyRefused       ReplyKind = "refused"        // The message was not used; the reply says why.
)

// ReplyRequest asks for a reply: rendered from the snapshot alone, then published.
type ReplyRequest struct {
	Kind     ReplyKind   `json:"kind"`
	About    string      `json:"about,omitempty"` // Finding, material or step that it is about.
	Flow     FlowRef     `json:"flow,omitzero"`
	Snapshot Snapshot    `json:"snapshot"`
	Missing  []string    `json:"missing,omitempty"`
	Findings []Finding   `json:"findings,omitempty"`
	Failed   *FailedStep `json:"failed,omitempty"`
	Offer    *Unfinished `json:"offer,omitempty"`
	Key      string      `json:"key,omitempty"` // Idempotency key, for ReplyUnknown.
	Zone     string      `json:"zone"`
	// Reminders are warnings of earlier conversations, repeated once (SPEC C1, M2).
	Reminders []string `json:"reminders,omitempty"`
	// Reply has everything but text and options; the activity fills them and publishes it under Sequence.
	Reply    Reply `json:"reply"`
	Sequence int64 `json:"sequence"`
}

// Rendered is the text and the options of a reply.
type Rendered struct {
	Text    string   `json:"text"`
	Options []Option `json:"options,omitempty"`
	// Published is false when the event stream could not be written: the reply still reaches the caller.
	Published bool `json:"published"`
}
