package conversation_test

import (
	"encoding/json"
	"math"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/hermes-orchestrator/hermes/conversation"
)

func TestSnapshotHeaderRoundTrip(t *testing.T) {
	t.Parallel()
	want := conversation.Snapshot{
		State: conversation.StateMaterials, EnteredAt: time.Date(2024, 6, 3, 2, 0, 0, 0, time.UTC), UserHash: "h",
		SessionID: "s", TraceID: "t", Summary: "已上传2张发票，待OCR识别", Intent: "expense_submit",
		Facts: []conversation.Fact{{Name: "city", Value: json.RawMessage(`"深圳"`), Status: conversation.FactDeclared, Source: "user"}},
	}
	got, err := conversation.ParseSnapshot(want.Header())
	require.NoError(t, err)
	require.Equal(t, want, got)
}

// However much a conversation knows, its header keeps within its bound, stays readable and says what it left out.
func TestSnapshotHeaderIsBounded(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := conversation.Snapshot{
			State: conversation.StateConfirmation, Summary: rapid.String().Draw(t, "summary"),
			SessionID: rapid.StringN(0, 200, 4000).Draw(t, "session"),
		}
		for range rapid.IntRange(0, 40).Draw(t, "facts") {
			value, err := json.Marshal(strings.Repeat("张", rapid.IntRange(0, 900).Draw(t, "length")))
			require.NoError(t, err)
			s.Facts = append(s.Facts, conversation.Fact{Name: "f", Value: value})
		}
		header := s.Header()
		require.LessOrEqual(t, len(header), conversation.SnapshotMaxBytes)
		got, err := conversation.ParseSnapshot(header)
		require.NoError(t, err)
		require.LessOrEqual(t, utf8.RuneCountInString(got.Summary), conversation.SummaryMaxRunes)
		require.True(t, utf8.ValidString(got.Summary))
		require.Equal(t, len(got.Facts) < len(s.Facts), got.Truncated && len(got.Facts) < len(s.Facts))
	})
}

// No field can keep a header from ending within its bound.
func TestSnapshotHeaderOfHugeFields(t *testing.T) {
	t.Parallel()
	huge := strings.Repeat("h", 3*conversation.SnapshotMaxBytes)
	controls := strings.Repeat("\x01", 5000) // Six bytes each in JSON.
	for name, s := range map[string]conversation.Snapshot{
		"user hash": {UserHash: huge}, "trace": {TraceID: huge}, "flow": {Flow: huge}, "session": {SessionID: huge},
		"intent": {Intent: huge}, "summary": {Summary: huge}, "state": {State: conversation.State(huge)},
		"tool": {Tools: []conversation.ToolTrace{{Tool: huge}}}, "fact": {Facts: []conversation.Fact{{Name: huge}}},
		"everything": {
			State: conversation.State(controls), EnteredAt: time.Date(2024, 6, 3, 2, 0, 0, 123456789, time.FixedZone("", 28800)),
			Tokens: math.MinInt64, UserHash: controls, SessionID: controls, TraceID: controls, Flow: controls,
			Revision: math.MinInt64, Summary: controls, Intent: controls,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			header := s.Header()
			require.LessOrEqual(t, len(header), conversation.SnapshotMaxBytes)
			_, err := conversation.ParseSnapshot(header)
			require.NoError(t, err)
		})
	}
}

func TestClipNeverCutsInsideARune(t *testing.T) {
	t.Parallel()
	require.Equal(t, "差旅…", conversation.Clip("差旅费报销", 3))
	require.Equal(t, "差旅费", conversation.Clip("差旅费", 3))
	rapid.Check(t, func(t *rapid.T) {
		text, n := rapid.String().Draw(t, "text"), rapid.IntRange(1, 80).Draw(t, "n")
		clipped := conversation.Clip(text, n)
		require.True(t, utf8.ValidString(clipped))
		require.LessOrEqual(t, utf8.RuneCountInString(clipped), n)
	})
}

func FuzzParseSnapshot(f *testing.F) {
	f.Add(conversation.Snapshot{State: conversation.StateIntent}.Header())
	f.Add("%%%")
	f.Fuzz(func(t *testing.T, header string) {
		if _, err := conversation.ParseSnapshot(header); err != nil {
			require.Equal(t, conversation.CodeInvalidArgument, conversation.CodeOf(err))
		}
	})
}
