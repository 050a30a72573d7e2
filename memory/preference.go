package memory

import (
	"bytes"
	"context"
	"encoding/json"
	"time"

	"github.com/hermes-orchestrator/hermes/conversation"
)

// MaxPreferenceBytes is the limit of a preference's value.
const MaxPreferenceBytes = 8 << 10

// Preference is a setting that the user declared (SPEC M2). It is stored under pref:{user_id}:{preference_name}.
type Preference struct {
	Value     json.RawMessage `json:"value"`
	UpdatedAt time.Time       `json:"updated_at"`
	// ConfirmedBy is the id of the user's confirming action: the message that said yes.
	ConfirmedBy string `json:"confirmed_by"`
}

// Preferences returns all preferences of a user by name; an empty map if there are none.
func (m *Midterm) Preferences(ctx context.Context, userID string) (map[string]Preference, error) {
	if err := checkUser(userID); err != nil {
		return nil, err
	}
	items, err := m.kv.List(ctx, prefix("pref", userID))
	if err != nil {
		return nil, err
	}
	preferences := make(map[string]Preference, len(items))
	for _, item := range items {
		parts, err := SplitKey(item.Key)
		if err != nil {
			return nil, err
		}
		name := parts[len(parts)-1]
		var preference Preference
		if err := decode("a preference", item.Value, &preference); err != nil {
			return nil, err
		}
		preferences[name] = preference
	}
	return preferences, nil
}

// SetPreference writes one preference. Without confirmedBy, the id of the user's explicit action, it is refused with
// CodeUnverified: Hermes asks, it does not assume. Which names and values there may be is the caller's to check.
// Repeating a call changes nothing, UpdatedAt included.
func (m *Midterm) SetPreference(
	ctx context.Context, userID, name string, value json.RawMessage, confirmedBy string,
) error {
	if confirmedBy == "" {
		return conversation.Errorf(conversation.CodeUnverified,
			"preference %q has no confirmed_by: ask the user, then give the id of the message that said yes", name)
	}
	key, err := preferenceKey(userID, name)
	if err != nil {
		return err
	}
	if len(value) > MaxPreferenceBytes {
		return conversation.Errorf(conversation.CodeTooLarge,
			"preference %q has %d bytes, at most %d are allowed", name, len(value), MaxPreferenceBytes)
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, value); err != nil {
		return conversation.Errorf(conversation.CodeInvalidArgument, "preference %q is not JSON: %w", name, err)
	}
	stored, _, found, err := m.kv.Get(ctx, key)
	if err != nil {
		return err
	}
	if found {
		var old Preference
		// What cannot be read is replaced by what the user has just confirmed.
		if json.Unmarshal(stored, &old) == nil && old.ConfirmedBy == confirmedBy &&
			bytes.Equal(old.Value, compact.Bytes()) {
			return nil
		}
	}
	return m.put(ctx, "preference", key, Preference{
		Value: compact.Bytes(), UpdatedAt: m.cfg.Now().UTC(), ConfirmedBy: confirmedBy,
	}, 0)
}

// RevokePreference removes one preference. One that does not exist is not an error.
func (m *Midterm) RevokePreference(ctx context.Context, userID, name string) error {
	key, err := preferenceKey(userID, name)
	if err != nil {
		return err
	}
	return m.kv.Delete(ctx, key)
}

func preferenceKey(userID, name string) (string, error) {
	if err := checkUser(userID); err != nil {
		return "", err
	}
	if err := checkPart("preference name", name, MaxNameLen, true); err != nil {
		return "", err
	}
	return Key("pref", userID, name), nil
}
