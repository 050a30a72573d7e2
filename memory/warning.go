package memory

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/hermes-orchestrator/hermes/conversation"
)

// MaxWarningBytes is the limit of a warning's text: it is a sentence to repeat, not a document (SPEC M5).
const MaxWarningBytes = 4 << 10

// warning is the stored form.
type warning struct {
	Text      string    `json:"text"`
	MessageID string    `json:"message_id"`
	At        time.Time `json:"at"`
}

// AddWarning keeps text to be repeated in the user's next conversations of the flow (SPEC F: "住宿费接近上限"). Texts are
// kept once: the same text from another message only counts as new. Repeating a call changes nothing. A warning
// expires MidtermConfig.WarningFor after it was last given.
func (m *Midterm) AddWarning(ctx context.Context, userID, flow, text, messageID string) error {
	if err := checkFlow(userID, flow); err != nil {
		return err
	}
	switch {
	case text == "":
		return conversation.Errorf(conversation.CodeInvalidArgument, "warning of flow %q has no text", flow)
	case len(text) > MaxWarningBytes:
		return conversation.Errorf(conversation.CodeTooLarge,
			"warning of flow %q has %d bytes, at most %d are allowed", flow, len(text), MaxWarningBytes)
	case !utf8.ValidString(text):
		return conversation.Errorf(conversation.CodeInvalidUTF8, "warning of flow %q is not valid UTF-8", flow)
	}
	sum := sha256.Sum256([]byte(text))
	key := Key("warning", userID, flow, hex.EncodeToString(sum[:16]))
	stored, _, found, err := m.kv.Get(ctx, key)
	if err != nil {
		return err
	}
	if found {
		var old warning
		if err := decode("a warning", stored, &old); err != nil {
			return err
		}
		if old.MessageID == messageID {
			return nil
		}
	}
	entry := warning{Text: text, MessageID: messageID, At: m.cfg.Now().UTC()}
	return m.put(ctx, "warning", key, entry, m.cfg.WarningFor)
}

// Warnings returns the texts to repeat to a user in a flow, the last given first.
func (m *Midterm) Warnings(ctx context.Context, userID, flow string) ([]string, error) {
	if err := checkFlow(userID, flow); err != nil {
		return nil, err
	}
	items, err := m.kv.List(ctx, prefix("warning", userID, flow))
	if err != nil {
		return nil, err
	}
	oldest := m.cfg.Now().Add(-m.cfg.WarningFor)
	warnings := make([]warning, 0, len(items))
	for _, item := range items {
		var w warning
		if err := decode("a warning", item.Value, &w); err != nil {
			return nil, err
		}
		if w.At.After(oldest) {
			warnings = append(warnings, w)
		}
	}
	slices.SortFunc(warnings, func(a, b warning) int {
		return cmp.Or(b.At.Compare(a.At), cmp.Compare(a.Text, b.Text))
	})
	texts := make([]string, len(warnings))
	for i, w := range warnings {
		texts[i] = w.Text
	}
	return texts, nil
}

func checkFlow(userID, flow string) error {
	if err := checkUser(userID); err != nil {
		return err
	}
	return checkPart("flow", flow, MaxNameLen, true)
}
