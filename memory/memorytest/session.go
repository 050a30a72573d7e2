package memorytest

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/hermes-orchestrator/hermes/conversation"
	"github.com/hermes-orchestrator/hermes/memory"
)

// Sessions is the suite of memory.SessionDriver.
func Sessions(t *testing.T, open func(t *testing.T) memory.SessionDriver, advance Advance) {
	t.Helper()
	exercise(t, open, []behaviour[memory.SessionDriver]{
		{"ExpectedRevisionIsAccepted", sessionAccepts},
		{"LoserIsToldTheWinner", sessionLoser},
		{"WriterRepeatsItsOwnWrite", sessionRepeat},
		{"WriterRepeatsAfterOthersWentOn", sessionRepeatLate},
		{"WriterChangesSeveralStates", sessionSeveralStates},
		{"OneRevisionWhateverTheState", sessionOneRevision},
		{"LostRecordTakesExpectedAsBaseline", sessionBaseline},
		{"OlderRecordTakesExpectedAsBaseline", sessionAhead},
		{"LongForgottenRevisionIsAConflict", sessionForgotten},
		{"SessionsDoNotTouchEachOther", sessionIsolation},
		{"RecordExpires", func(t *testing.T, d memory.SessionDriver) { sessionExpires(t, d, advance) }},
		{"ConcurrentWritersLoseNothing", sessionConcurrent},
		{"BehavesAsTheModel", sessionModel},
		{"CancelledContext", sessionCancelled},
	})
}

func key(session string) memory.SessionKey {
	return memory.SessionKey{State: conversation.StateMaterials, SessionID: session}
}

func swap(
	t *testing.T, d memory.SessionDriver, key memory.SessionKey, expected int64, writer string,
) conversation.Accepted {
	t.Helper()
	accepted, err := d.Swap(t.Context(), key, expected, writer, time.Hour)
	require.NoError(t, err)
	return accepted
}

func accepted(revision int64) conversation.Accepted { return conversation.Accepted{Revision: revision} }

func lost(revision int64, winner string) conversation.Accepted {
	return conversation.Accepted{Revision: revision, Conflict: true, Winner: winner}
}

func sessionAccepts(t *testing.T, d memory.SessionDriver) {
	k := key(Fresh("s"))
	require.Equal(t, accepted(1), swap(t, d, k, 0, "a"))
	require.Equal(t, accepted(2), swap(t, d, k, 1, "b"))
	require.Equal(t, accepted(3), swap(t, d, k, 2, "a"))
}

func sessionLoser(t *testing.T, d memory.SessionDriver) {
	k := key(Fresh("s"))
	swap(t, d, k, 0, "a")
	require.Equal(t, lost(1, "a"), swap(t, d, k, 0, "b"))
	swap(t, d, k, 1, "c")
	require.Equal(t, lost(2, "a"), swap(t, d, k, 0, "b"), "who took the revision, not who came last")
	require.Equal(t, lost(2, "c"), swap(t, d, k, 1, "b"))
	require.Equal(t, accepted(3), swap(t, d, k, 2, "b"))
}

func sessionRepeat(t *testing.T, d memory.SessionDriver) {
	k := key(Fresh("s"))
	for range 3 {
		require.Equal(t, accepted(1), swap(t, d, k, 0, "a"))
	}
	require.Equal(t, accepted(2), swap(t, d, k, 1, "b"))
}

func sessionRepeatLate(t *testing.T, d memory.SessionDriver) {
	k := key(Fresh("s"))
	swap(t, d, k, 0, "a")
	swap(t, d, k, 1, "b")
	require.Equal(t, accepted(1), swap(t, d, k, 0, "a"))
	require.Equal(t, lost(2, "b"), swap(t, d, k, 1, "a"))
}

func sessionSeveralStates(t *testing.T, d memory.SessionDriver) {
	session := Fresh("s")
	states := []conversation.State{
		conversation.StateMaterials, conversation.StateValidation, conversation.StateReview,
	}
	for range 2 { // The second round is that of an activity that runs again.
		for i, state := range states {
			k := memory.SessionKey{State: state, SessionID: session}
			require.Equal(t, accepted(int64(i)+1), swap(t, d, k, int64(i), "a"))
		}
	}
}

func sessionOneRevision(t *testing.T, d memory.SessionDriver) {
	session := Fresh("s")
	intent := memory.SessionKey{State: conversation.StateIntent, SessionID: session}
	review := memory.SessionKey{State: conversation.StateReview, SessionID: session}
	require.Equal(t, accepted(1), swap(t, d, intent, 0, "a"))
	require.Equal(t, lost(1, "a"), swap(t, d, review, 0, "b"), "a tab that still sees another state is behind as well")
	require.Equal(t, accepted(2), swap(t, d, review, 1, "b"))
}

func sessionBaseline(t *testing.T, d memory.SessionDriver) {
	k := key(Fresh("s"))
	require.Equal(t, accepted(42), swap(t, d, k, 41, "a"))
	require.Equal(t, lost(42, "a"), swap(t, d, k, 41, "b"))
	require.Equal(t, accepted(43), swap(t, d, k, 42, "b"))
}

func sessionAhead(t *testing.T, d memory.SessionDriver) {
	k := key(Fresh("s"))
	swap(t, d, k, 0, "a")
	require.Equal(t, accepted(8), swap(t, d, k, 7, "b"), "the conversation knows more than an older copy of the store")
	require.Equal(t, lost(8, "b"), swap(t, d, k, 0, "a"), "what the older copy knew of writers is of another history")
}

func sessionForgotten(t *testing.T, d memory.SessionDriver) {
	k := key(Fresh("s"))
	const last = 200
	for revision := range int64(last) {
		swap(t, d, k, revision, fmt.Sprintf("w%d", revision))
	}
	require.Equal(t, lost(last, fmt.Sprintf("w%d", last-1)), swap(t, d, k, 0, "late"))
	require.Equal(t, lost(last, fmt.Sprintf("w%d", last-10)), swap(t, d, k, last-10, "late"))
}

func sessionIsolation(t *testing.T, d memory.SessionDriver) {
	session := Fresh("s")
	for i, id := range []string{session, session + "}", session + ":session", session + "{x}", session + "/张三"} {
		require.Equal(t, accepted(int64(i)+1), swap(t, d, key(id), int64(i), "a"), "session %q", id)
		require.Equal(t, lost(int64(i)+1, "a"), swap(t, d, key(id), int64(i), "b"), "session %q", id)
	}
}

func sessionExpires(t *testing.T, d memory.SessionDriver, advance Advance) {
	k := key(Fresh("s"))
	const ttl = 300 * time.Millisecond
	got, err := d.Swap(t.Context(), k, 41, "a", ttl)
	require.NoError(t, err)
	require.Equal(t, accepted(42), got)
	// Revision 0 is below what is recorded, so it is accepted only once the record has gone; a conflict does not extend
	// its life.
	eventually(t, advance, 2*ttl, func() bool {
		got, err := d.Swap(t.Context(), k, 0, "b", time.Hour)
		require.NoError(t, err)
		return got == accepted(1)
	})
}

// sessionConcurrent has tabs that race for every revision: each change is won by exactly one, and each loser is told by
// whom (SPEC C7: none lost).
func sessionConcurrent(t *testing.T, d memory.SessionDriver) {
	const tabs, rounds = 5, 40
	k := key(Fresh("s"))
	winners := make([]string, rounds) // Guarded by mu.
	told := make([]map[string]string, rounds)
	var mu sync.Mutex
	var group sync.WaitGroup
	errs := make(chan error, tabs)
	for tab := range tabs {
		group.Go(func() {
			for round := range int64(rounds) {
				writer := fmt.Sprintf("tab-%d/%d", tab, round)
				got, err := d.Swap(t.Context(), k, round, writer, time.Hour)
				if err != nil {
					errs <- err
					return
				}
				mu.Lock()
				switch {
				case got.Conflict:
					if told[round] == nil {
						told[round] = map[string]string{}
					}
					told[round][writer] = got.Winner
				case winners[round] != "":
					errs <- fmt.Errorf("revision %d was given to %q and to %q", round, winners[round], writer)
				default:
					winners[round] = writer
				}
				mu.Unlock()
			}
		})
	}
	group.Wait()
	close(errs)
	for err := range errs {
		require.NoError(t, err)
	}
	for round := range rounds {
		require.NotEmpty(t, winners[round], "revision %d was lost", round)
		require.Len(t, told[round], tabs-1)
		for loser, winner := range told[round] {
			require.Equal(t, winners[round], winner, "%s at revision %d", loser, round)
		}
	}
}

// sessionModel compares with a model in a few lines: a list of writers by revision.
func sessionModel(t *testing.T, d memory.SessionDriver) {
	rapid.Check(t, func(r *rapid.T) {
		session := Fresh("s")
		writers := map[int64]string{}
		var current int64
		known := false
		for range rapid.IntRange(1, 25).Draw(r, "steps") {
			state := rapid.SampledFrom(conversation.States()).Draw(r, "state")
			writer := rapid.SampledFrom([]string{"a", "b", "c"}).Draw(r, "writer")
			expected := max(0, current+rapid.Int64Range(-3, 1).Draw(r, "expected"))
			want := accepted(expected + 1)
			switch {
			case known && expected < current && writers[expected+1] != writer:
				winner, ok := writers[expected+1]
				if !ok {
					winner = writers[current]
				}
				want = lost(current, winner)
			case !known || expected >= current:
				if expected > current {
					writers = map[int64]string{}
				}
				known, current = true, expected+1
				writers[current] = writer
			}
			got, err := d.Swap(t.Context(), memory.SessionKey{State: state, SessionID: session}, expected, writer, time.Hour)
			require.NoError(r, err)
			require.Equal(r, want, got, "%s %d by %q", state, expected, writer)
		}
	})
}

func sessionCancelled(t *testing.T, d memory.SessionDriver) {
	requireCancelled(t, func(ctx context.Context) error {
		_, err := d.Swap(ctx, key(Fresh("s")), 0, "a", time.Hour)
		return err
	})
}
