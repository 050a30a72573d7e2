package memorytest

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/hermes-orchestrator/hermes/conversation"
	"github.com/hermes-orchestrator/hermes/memory"
)

// Events is the suite of memory.StreamDriver.
func Events(t *testing.T, open func(t *testing.T) memory.StreamDriver, advance Advance) {
	t.Helper()
	exercise(t, open, []behaviour[memory.StreamDriver]{
		{"NothingToRead", eventNothing},
		{"ReadsWhatIsAfter", eventAfter},
		{"ReadsAtMostLimit", eventLimit},
		{"PublishingAgainChangesNothing", eventAgain},
		{"LateSequenceIsAConflict", eventLate},
		{"KeepsTheNewest", eventMaxLen},
		{"WaitingReaderGetsTheNextEvent", eventWait},
		{"WaitEndsWithTheContext", eventWaitCancelled},
		{"SessionsDoNotTouchEachOther", eventIsolation},
		{"StreamExpires", func(t *testing.T, d memory.StreamDriver) { eventExpires(t, d, advance) }},
		{"ManyReadersDoNotKeepWritersOut", eventManyReaders},
		{"CancelledContext", eventCancelled},
	})
}

func publish(t *testing.T, d memory.StreamDriver, session string, sequences ...int64) {
	t.Helper()
	for _, sequence := range sequences {
		require.NoError(t, d.Publish(t.Context(), session, sequence, fmt.Appendf(nil, "data %d", sequence), 100, time.Hour))
	}
}

func requireEvents(t *testing.T, d memory.StreamDriver, session string, after int64, limit int, want ...int64) {
	t.Helper()
	events, err := d.Read(t.Context(), session, after, 0, limit)
	require.NoError(t, err)
	var got []int64
	for _, event := range events {
		got = append(got, event.Sequence)
		require.Equal(t, fmt.Sprintf("data %d", event.Sequence), string(event.Data))
	}
	require.Equal(t, want, got)
}

func eventNothing(t *testing.T, d memory.StreamDriver) {
	session := Fresh("s")
	requireEvents(t, d, session, 0, 10)
	events, err := d.Read(t.Context(), session, 0, 50*time.Millisecond, 10)
	require.NoError(t, err)
	require.Empty(t, events)
	publish(t, d, session, 1)
	requireEvents(t, d, session, 1, 10)
}

func eventAfter(t *testing.T, d memory.StreamDriver) {
	session := Fresh("s")
	publish(t, d, session, 1, 2, 5, 6)
	requireEvents(t, d, session, 0, 10, 1, 2, 5, 6)
	requireEvents(t, d, session, 2, 10, 5, 6)
	requireEvents(t, d, session, 3, 10, 5, 6)
	requireEvents(t, d, session, 99, 10)
}

func eventLimit(t *testing.T, d memory.StreamDriver) {
	session := Fresh("s")
	publish(t, d, session, 1, 2, 3)
	requireEvents(t, d, session, 0, 2, 1, 2)
	requireEvents(t, d, session, 2, 2, 3)
}

func eventAgain(t *testing.T, d memory.StreamDriver) {
	session := Fresh("s")
	publish(t, d, session, 1, 2)
	require.NoError(t, d.Publish(t.Context(), session, 1, []byte("other"), 100, time.Hour))
	require.NoError(t, d.Publish(t.Context(), session, 2, []byte("other"), 100, time.Hour))
	requireEvents(t, d, session, 0, 10, 1, 2)
}

func eventLate(t *testing.T, d memory.StreamDriver) {
	session := Fresh("s")
	publish(t, d, session, 1, 4)
	requireCode(t, conversation.CodeConflict, d.Publish(t.Context(), session, 3, []byte("late"), 100, time.Hour))
	requireEvents(t, d, session, 0, 10, 1, 4)
}

func eventMaxLen(t *testing.T, d memory.StreamDriver) {
	session := Fresh("s")
	for sequence := range int64(10) {
		require.NoError(t,
			d.Publish(t.Context(), session, sequence+1, fmt.Appendf(nil, "data %d", sequence+1), 3, time.Hour))
	}
	requireEvents(t, d, session, 0, 10, 8, 9, 10)
	require.NoError(t, d.Publish(t.Context(), session, 2, []byte("again"), 3, time.Hour), "it was published, long ago")
	requireEvents(t, d, session, 0, 10, 8, 9, 10)
}

func eventWait(t *testing.T, d memory.StreamDriver) {
	session := Fresh("s")
	publish(t, d, session, 1)
	type result struct {
		events []memory.Event
		err    error
	}
	results := make(chan result, 1)
	go func() {
		events, err := d.Read(t.Context(), session, 1, patience, 10)
		results <- result{events, err}
	}()
	publish(t, d, session, 2)
	got := <-results
	require.NoError(t, got.err)
	require.Equal(t, []memory.Event{{Sequence: 2, Data: []byte("data 2")}}, got.events)
}

func eventWaitCancelled(t *testing.T, d memory.StreamDriver) {
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	began := time.Now()
	_, err := d.Read(ctx, Fresh("s"), 0, patience, 10)
	requireCode(t, conversation.CodeMemoryUnavailable, err)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.Less(t, time.Since(began), patience/2)
}

func eventIsolation(t *testing.T, d memory.StreamDriver) {
	session := Fresh("s")
	publish(t, d, session, 1)
	publish(t, d, session+":events", 7)
	publish(t, d, session+"}", 9)
	requireEvents(t, d, session, 0, 10, 1)
	requireEvents(t, d, session+":events", 0, 10, 7)
	requireEvents(t, d, session+"}", 0, 10, 9)
}

func eventExpires(t *testing.T, d memory.StreamDriver, advance Advance) {
	session := Fresh("s")
	const ttl = 300 * time.Millisecond
	require.NoError(t, d.Publish(t.Context(), session, 1, []byte("data 1"), 10, ttl))
	requireEvents(t, d, session, 0, 10, 1)
	eventually(t, advance, 2*ttl, func() bool {
		events, err := d.Read(t.Context(), session, 0, 0, 10)
		require.NoError(t, err)
		return len(events) == 0
	})
}

func eventManyReaders(t *testing.T, d memory.StreamDriver) {
	const readers = 60
	session := Fresh("s")
	errs := make(chan error, readers)
	for range readers {
		go func() {
			events, err := d.Read(t.Context(), session, 0, patience, 10)
			if err == nil && len(events) != 1 {
				err = fmt.Errorf("%d events instead of 1", len(events))
			}
			errs <- err
		}()
	}
	publish(t, d, session, 1)
	for range readers {
		require.NoError(t, <-errs)
	}
}

func eventCancelled(t *testing.T, d memory.StreamDriver) {
	session := Fresh("s")
	requireCancelled(t, func(ctx context.Context) error {
		return d.Publish(ctx, session, 1, []byte(strings.Repeat("x", 10)), 10, time.Hour)
	})
	requireCancelled(t, func(ctx context.Context) error {
		_, err := d.Read(ctx, session, 0, 0, 10)
		return err
	})
}
