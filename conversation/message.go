package conversation

import (
	"encoding/json"
	"time"
	"unicode/utf8"
)

// Names of the Temporal interface (DESIGN 3). They are stable: services in any language use them.
const (
	WorkflowType      = "Conversation"
	DefaultTaskQueue  = "hermes"
	WorkflowIDPrefix  = "conversation/"
	SignalUserMessage = "user_message"
	SignalComplete    = "task_complete"
	SignalContinue    = "continue"
	SignalErrorReport = "error_report"
	UpdateConverse    = "converse"
	QuerySnapshot     = "snapshot"
	QueryPath         = "path"
	QueryTranscript   = "transcript"
	QueryCase         = "case"
)

// Search attributes, all of type Keyword.
const (
	AttributeState = "HermesState"
	AttributeFlow  = "HermesFlow"
	AttributeUser  = "HermesUser" // Keyed hash, never the id.
	AttributeTrace = "HermesTrace"
	AttributePath  = "HermesPath"
)

// Headers.
const (
	// HeaderSnapshot carries the snapshot (SPEC C4) as a Temporal header and, towards tools, as an HTTP header.
	HeaderSnapshot = "X-Hermes-Snapshot"
)

// Limits of what one message may carry.
const (
	MaxTextBytes    = 128 << 10
	MaxAttachments  = 20
	MaxMessageIDLen = 128
	// MaxAttachmentName bounds each text of an attachment, MaxMaterials the uploads of one conversation: both are part
	// of its state.
	MaxAttachmentName = 255
	MaxMaterials      = 200
)

// WorkflowID returns the id of the workflow that holds the conversation of a session.
func WorkflowID(sessionID string) string { return WorkflowIDPrefix + sessionID }

// Attachment refers to bytes in the blob store.
type Attachment struct {
	Name      string `json:"name"`
	MediaType string `json:"media_type"`
	URI       string `json:"uri"` // "blob:sha256/<hex>".
	SHA256    string `json:"sha256"`
	Size      int64  `json:"size,omitempty"`
}

// UserMessage is the payload of the signal user_message and of the update converse.
type UserMessage struct {
	MessageID   string       `json:"message_id"`
	Text        string       `json:"text,omitempty"`
	Attachments []Attachment `json:"attachments,omitempty"`
	// Choice is the id of an option that a reply offered. It is explicit, so it goes before Text.
	Choice string `json:"choice,omitempty"`
	// SentAt is the clock of the sender. Relative dates are resolved against it, in Zone. Zero means arrival.
	SentAt time.Time `json:"sent_at,omitzero"`
	// Locale ("zh", "en") and Zone (IANA name) override those of the conversation for this message.
	Locale string `json:"locale,omitempty"`
	Zone   string `json:"zone,omitempty"`
	// Revision is the revision that the sender saw; 0 means that it does not say. A sender that has seen an older one
	// than the present gets CodeConflict (SPEC C7).
	Revision int64 `json:"revision,omitempty"`
}

// Validate checks what can be checked without knowing the conversation.
func (m UserMessage) Validate() error {
	switch {
	case m.MessageID == "":
		return Errorf(CodeInvalidArgument,
			"message_id is empty: give each message an id of your own, and repeat it when you send the message again")
	case len(m.MessageID) > MaxMessageIDLen:
		return Errorf(CodeInvalidArgument,
			"message_id has %d bytes, at most %d are allowed", len(m.MessageID), MaxMessageIDLen)
	case len(m.Text) > MaxTextBytes:
		return Errorf(CodeTooLarge,
			"text has %d bytes, at most %d are allowed: upload long texts as a file", len(m.Text), MaxTextBytes)
	case !utf8.ValidString(m.Text), !utf8.ValidString(m.Choice), !utf8.ValidString(m.MessageID):
		return Errorf(CodeInvalidUTF8, "message %q is not valid UTF-8", m.MessageID)
	case len(m.Attachments) > MaxAttachments:
		return Errorf(CodeTooLarge,
			"%d attachments, at most %d are allowed in one message", len(m.Attachments), MaxAttachments)
	case m.Text == "" && m.Choice == "" && len(m.Attachments) == 0:
		return Errorf(CodeInvalidArgument, "message %q has neither text, choice nor attachments", m.MessageID)
	case m.Locale != "" && m.Locale != LocaleChinese && m.Locale != LocaleEnglish:
		return Errorf(CodeInvalidArgument, "locale %q is not one of %q, %q", m.Locale, LocaleChinese, LocaleEnglish)
	}
	for i, a := range m.Attachments {
		if len(a.Name) > MaxAttachmentName || len(a.URI) > MaxAttachmentName || len(a.MediaType) > MaxAttachmentName ||
			len(a.SHA256) > MaxAttachmentName {
			return Errorf(CodeTooLarge,
				"attachments[%d]: name, uri, media_type and sha256 may have %d bytes each", i, MaxAttachmentName)
		}
		if a.URI == "" || a.SHA256 == "" {
			return Errorf(CodeInvalidArgument, "attachments[%d] %q has no uri or sha256: upload the file first", i, a.Name)
		}
	}
	return nil
}

// Locales (SPEC C10).
const (
	LocaleChinese = "zh"
	LocaleEnglish = "en"
)

// Option is a choice offered by a reply.
type Option struct {
	ID    string `json:"id"`
	Label string `json:"label"`
}

// Ids of the options that the core offers.
const (
	ChoiceConfirm = "confirm"
	ChoiceModify  = "modify"
	ChoiceCancel  = "cancel"
	ChoiceAccept  = "accept"
	ChoiceReject  = "reject"
	ChoiceGoOn    = "go_on"
	ChoiceResume  = "resume"
	ChoiceRestart = "restart"
	ChoiceRetry   = "retry"
)

// Verdict says what became of a message.
type Verdict string

// The verdicts.
const (
	VerdictUsed      Verdict = "used"
	VerdictDuplicate Verdict = "duplicate"
	VerdictRefused   Verdict = "refused"
)

// Reply is what the user is told: the result of converse, and the data of a published event.
type Reply struct {
	// MessageID says which message it answers; it is empty for a reply of its own (time limit, late result).
	MessageID         string     `json:"message_id,omitempty"`
	Verdict           Verdict    `json:"verdict"`
	Text              string     `json:"text"`
	Locale            string     `json:"locale"`
	Options           []Option   `json:"options,omitempty"`
	State             State      `json:"state"`
	Outcome           Outcome    `json:"outcome,omitempty"`
	Path              string     `json:"path"`
	Revision          int64      `json:"revision"`
	TraceID           string     `json:"trace_id"`
	CycleID           string     `json:"cycle_id"`
	Degraded          []Degraded `json:"degraded,omitempty"`
	VerificationSteps []string   `json:"verification_steps,omitempty"`
	// Interim is set for a reply after which another will follow by itself (a slow tool).
	Interim       bool   `json:"interim,omitempty"`
	Status        string `json:"status,omitempty"`         // "processing" with Interim.
	EstimatedTime string `json:"estimated_time,omitempty"` // "30s" with Interim.
	Error         *Error `json:"error,omitempty"`
}

// ConversationInput is the input of the workflow.
type ConversationInput struct {
	SessionID string `json:"session_id"`
	UserID    string `json:"user_id"`
	// UserHash is the keyed hash of UserID; a starter that does not know the key leaves it empty and the first
	// activity fills it.
	UserHash    string `json:"user_hash,omitempty"`
	Flow        string `json:"flow,omitempty"`         // Empty: the first message decides among all flows.
	FlowVersion string `json:"flow_version,omitempty"` // Content hash; empty: the newest.
	Locale      string `json:"locale,omitempty"`       // Defaults to "zh".
	Zone        string `json:"zone,omitempty"`         // IANA name; defaults to "Asia/Shanghai".
	RuleSet     int    `json:"rule_set,omitempty"`     // Contract rule-set; 0 means 1.
	// Limits override those of the flow (tests and dialogue scripts).
	Limits Limits `json:"limits,omitzero"`
	// MaxMessages makes the conversation continue as new after so many messages; 0 means by suggestion of the server.
	MaxMessages int `json:"max_messages,omitempty"`
	// Carried is the state handed over by continue-as-new; nil for a new conversation. It belongs to the workflow.
	Carried json.RawMessage `json:"carried,omitempty"`
}

// ConversationResult is the result of the workflow.
type ConversationResult struct {
	SessionID string  `json:"session_id"`
	Outcome   Outcome `json:"outcome"`
	Path      string  `json:"path"`
	TraceID   string  `json:"trace_id"`
	Revision  int64   `json:"revision"`
}

// Turn is one line of the transcript.
type Turn struct {
	At        time.Time `json:"at"`
	Role      string    `json:"role"` // "user" or "hermes".
	MessageID string    `json:"message_id,omitempty"`
	Text      string    `json:"text"`
	State     State     `json:"state,omitempty"`
	Files     []string  `json:"files,omitempty"`
	Options   []Option  `json:"options,omitempty"`
}
