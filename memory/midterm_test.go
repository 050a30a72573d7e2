package memory_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/hermes-orchestrator/hermes/conversation"
	"github.com/hermes-orchestrator/hermes/memory"
	"github.com/hermes-orchestrator/hermes/memory/inmem"
)

type midtermBundle struct {
	*memory.Midterm

	kv    *inmem.KV
	clock *clock
}

func setupMidterm() midtermBundle {
	c := newClock()
	kv := inmem.NewKV(c.Now)
	return midtermBundle{memory.NewMidterm(kv, memory.MidtermConfig{Now: c.Now}), kv, c}
}

// SPEC M2: key and value are as written there, for operators and other programs.
func TestPreference_StoredForm(t *testing.T) {
	t.Parallel()
	m := setupMidterm()
	require.NoError(t, m.SetPreference(t.Context(), "u1", "language", json.RawMessage(` "zh" `), "m-7"))
	value, _, found, err := m.kv.Get(t.Context(), "pref:u1:language")
	require.NoError(t, err)
	require.True(t, found)
	require.JSONEq(t, `{"value":"zh","updated_at":"2024-06-03T09:00:00Z","confirmed_by":"m-7"}`, string(value))
}

func TestPreference_NeedsConfirmation(t *testing.T) {
	t.Parallel()
	m := setupMidterm()
	err := m.SetPreference(t.Context(), "u1", "language", json.RawMessage(`"zh"`), "")
	requireCode(t, conversation.CodeUnverified, err)
	preferences, err := m.Preferences(t.Context(), "u1")
	require.NoError(t, err)
	require.Empty(t, preferences)
}

func TestPreference_Idempotent(t *testing.T) {
	t.Parallel()
	m := setupMidterm()
	set := func(value, confirmedBy string) memory.Preference {
		t.Helper()
		require.NoError(t, m.SetPreference(t.Context(), "u1", "language", json.RawMessage(value), confirmedBy))
		preferences, err := m.Preferences(t.Context(), "u1")
		require.NoError(t, err)
		return preferences["language"]
	}
	first := set(`"zh"`, "m-1")
	m.clock.Advance(time.Hour)
	require.Equal(t, first, set(`"zh"`, "m-1"))
	require.Equal(t, "m-2", set(`"zh"`, "m-2").ConfirmedBy)
	require.Equal(t, m.clock.Now(), set(`"en"`, "m-2").UpdatedAt)
	require.NoError(t, m.RevokePreference(t.Context(), "u1", "language"))
	require.NoError(t, m.RevokePreference(t.Context(), "u1", "language"))
	preferences, err := m.Preferences(t.Context(), "u1")
	require.NoError(t, err)
	require.Empty(t, preferences)
}

func TestMidterm_Refuses(t *testing.T) {
	t.Parallel()
	m := setupMidterm()
	set := func(user, name, value string) error {
		return m.SetPreference(t.Context(), user, name, json.RawMessage(value), "m")
	}
	unfinished := func(user, session string) error {
		return m.SaveUnfinished(t.Context(), user, conversation.Unfinished{SessionID: session})
	}
	long := strings.Repeat("x", 300)
	tests := []struct {
		name string
		err  error
		want conversation.Code
	}{
		{"no user", set("", "n", "1"), conversation.CodeInvalidArgument},
		{"long user", set(long, "n", "1"), conversation.CodeTooLarge},
		{"user is not text", set("\xff", "n", "1"), conversation.CodeInvalidUTF8},
		{"no name", set("u", "", "1"), conversation.CodeInvalidArgument},
		{"long name", set("u", long, "1"), conversation.CodeTooLarge},
		{"value is not JSON", set("u", "n", "{"), conversation.CodeInvalidArgument},
		{"no value", set("u", "n", ""), conversation.CodeInvalidArgument},
		{"large value", set("u", "n", `"`+strings.Repeat("x", memory.MaxPreferenceBytes)+`"`), conversation.CodeTooLarge},
		{"revoke without name", m.RevokePreference(t.Context(), "u", ""), conversation.CodeInvalidArgument},
		{"no session", unfinished("u", ""), conversation.CodeInvalidArgument},
		{"unfinished of nobody", unfinished("", "s"), conversation.CodeInvalidArgument},
		{"finish without session", m.FinishUnfinished(t.Context(), "u", ""), conversation.CodeInvalidArgument},
		{"warning without text", m.AddWarning(t.Context(), "u", "f", "", "m"), conversation.CodeInvalidArgument},
		{"warning without flow", m.AddWarning(t.Context(), "u", "", "t", "m"), conversation.CodeInvalidArgument},
		{"warning is not text", m.AddWarning(t.Context(), "u", "f", "\xff", "m"), conversation.CodeInvalidUTF8},
		{"long warning", m.AddWarning(t.Context(), "u", "f", strings.Repeat("x", 5<<10), "m"), conversation.CodeTooLarge},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			requireCode(t, tt.want, tt.err)
			require.NotContains(t, tt.err.Error(), "failed to")
		})
	}
}

func TestUnfinished(t *testing.T) {
	t.Parallel()
	m := setupMidterm()
	save := func(session string) conversation.Unfinished {
		t.Helper()
		u := conversation.Unfinished{SessionID: session, Outcome: conversation.OutcomeExpired, At: m.clock.Now()}
		require.NoError(t, m.SaveUnfinished(t.Context(), "u1", u))
		require.NoError(t, m.SaveUnfinished(t.Context(), "u1", u))
		return u
	}
	list := func() []conversation.Unfinished {
		t.Helper()
		all, err := m.Unfinished(t.Context(), "u1")
		require.NoError(t, err)
		return all
	}
	old := save("s1")
	m.clock.Advance(29 * 24 * time.Hour)
	recent := save("s0")
	require.Equal(t, []conversation.Unfinished{recent, old}, list())
	m.clock.Advance(24 * time.Hour)
	require.Equal(t, []conversation.Unfinished{recent}, list(), "offered for 30 days")
	require.NoError(t, m.SaveUnfinished(t.Context(), "u1", old), "too old to be kept")
	require.Equal(t, []conversation.Unfinished{recent}, list())
	require.NoError(t, m.FinishUnfinished(t.Context(), "u1", "s0"))
	require.NoError(t, m.FinishUnfinished(t.Context(), "u1", "s0"))
	require.Empty(t, list())
	require.NoError(t, m.SaveUnfinished(t.Context(), "u1", conversation.Unfinished{SessionID: "s2"}))
	require.Equal(t, m.clock.Now(), list()[0].At)
}

func TestWarnings(t *testing.T) {
	t.Parallel()
	m := setupMidterm()
	add := func(text, message string) {
		t.Helper()
		require.NoError(t, m.AddWarning(t.Context(), "u1", "f", text, message))
		m.clock.Advance(time.Second)
	}
	list := func() []string {
		t.Helper()
		warnings, err := m.Warnings(t.Context(), "u1", "f")
		require.NoError(t, err)
		return warnings
	}
	add("a", "m-1")
	add("b", "m-1")
	add("a", "m-1")
	require.Equal(t, []string{"b", "a"}, list(), "repeating a call changes nothing")
	m.clock.Advance(100 * 24 * time.Hour)
	add("a", "m-2")
	require.Equal(t, []string{"a", "b"}, list(), "given again, counts as new, once")
	m.clock.Advance(80 * 24 * time.Hour)
	require.Equal(t, []string{"a"}, list(), "repeated for 180 days")
	other, err := m.Warnings(t.Context(), "u1", "g")
	require.NoError(t, err)
	require.Empty(t, other)
}

// An entry that was changed from outside is named and not skipped, except where the user has just said what it is to
// be.
func TestMidterm_Damaged(t *testing.T) {
	t.Parallel()
	m := setupMidterm()
	for _, key := range []string{"pref:u1:language", "unfinished:u1:s", "warning:u1:f:x"} {
		_, err := m.kv.Put(t.Context(), key, []byte("{"), memory.AnyRevision, 0)
		require.NoError(t, err)
	}
	_, err := m.Preferences(t.Context(), "u1")
	requireCode(t, conversation.CodeInternal, err)
	_, err = m.Unfinished(t.Context(), "u1")
	requireCode(t, conversation.CodeInternal, err)
	_, err = m.Warnings(t.Context(), "u1", "f")
	requireCode(t, conversation.CodeInternal, err)
	require.NoError(t, m.SetPreference(t.Context(), "u1", "language", json.RawMessage(`1`), "m"))
	_, err = m.Preferences(t.Context(), "u1")
	require.NoError(t, err)
}

// Whatever users are called, what one writes is seen by that one and by nobody else.
func TestMidterm_Isolation(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		m := setupMidterm()
		ctx := t.Context()
		users := rapid.SliceOfNDistinct(hostile(), 2, 4, rapid.ID).Draw(r, "users")
		name, flow, session := hostile().Draw(r, "name"), hostile().Draw(r, "flow"), hostile().Draw(r, "session")
		for i, user := range users {
			own := fmt.Sprint(i)
			require.NoError(r, m.SetPreference(ctx, user, name, json.RawMessage(own), "m"))
			require.NoError(r, m.AddWarning(ctx, user, flow, own, "m"))
			require.NoError(r, m.SaveUnfinished(ctx, user, conversation.Unfinished{SessionID: session, Summary: own}))
		}
		gone := rapid.IntRange(0, len(users)-1).Draw(r, "gone")
		require.NoError(r, m.RevokePreference(ctx, users[gone], name))
		require.NoError(r, m.FinishUnfinished(ctx, users[gone], session))
		for i, user := range users {
			own := fmt.Sprint(i)
			preferences, err := m.Preferences(ctx, user)
			require.NoError(r, err)
			unfinished, err := m.Unfinished(ctx, user)
			require.NoError(r, err)
			warnings, err := m.Warnings(ctx, user, flow)
			require.NoError(r, err)
			require.Equal(r, []string{own}, warnings)
			if i == gone {
				require.Empty(r, preferences)
				require.Empty(r, unfinished)
				continue
			}
			require.Len(r, preferences, 1)
			require.Equal(r, own, string(preferences[name].Value))
			require.True(r, slices.ContainsFunc(unfinished, func(u conversation.Unfinished) bool { return u.Summary == own }))
			require.Len(r, unfinished, 1)
		}
	})
}
