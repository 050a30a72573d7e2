package memory_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/hermes-orchestrator/hermes/conversation"
	"github.com/hermes-orchestrator/hermes/memory"
)

// probe notes the limits that reach a driver.
type probe struct {
	ttl    time.Duration
	maxLen int64
	block  time.Duration
	limit  int
}

func (p *probe) Swap(
	_ context.Context, _ memory.SessionKey, expected int64, _ string, ttl time.Duration,
) (conversation.Accepted, error) {
	p.ttl = ttl
	return conversation.Accepted{Revision: expected + 1}, nil
}

func (p *probe) Publish(_ context.Context, _ string, _ int64, _ []byte, maxLen int64, ttl time.Duration) error {
	p.maxLen, p.ttl = maxLen, ttl
	return nil
}

func (p *probe) Read(_ context.Context, _ string, _ int64, block time.Duration, limit int) ([]memory.Event, error) {
	p.block, p.limit = block, limit
	return nil, nil
}

func TestSessions_Refuses(t *testing.T) {
	t.Parallel()
	sessions := memory.NewSessions(&probe{}, memory.SessionsConfig{})
	good := memory.SessionKey{State: conversation.StateIntent, SessionID: "s"}
	tests := []struct {
		name     string
		key      memory.SessionKey
		expected int64
		writer   string
		want     conversation.Code
	}{
		{"state", memory.SessionKey{State: "S9", SessionID: "s"}, 0, "w", conversation.CodeInvalidArgument},
		{"session", memory.SessionKey{State: conversation.StateIntent}, 0, "w", conversation.CodeInvalidArgument},
		{"writer", good, 0, "", conversation.CodeInvalidArgument},
		{"long writer", good, 0, strings.Repeat("w", 300), conversation.CodeTooLarge},
		{"negative", good, -1, "w", conversation.CodeInvalidArgument},
		{"not exact in Lua", good, 1 << 53, "w", conversation.CodeInvalidArgument},
	}
	for _, tt := range tests {
		_, err := sessions.Swap(t.Context(), tt.key, tt.expected, tt.writer)
		requireCode(t, tt.want, err)
	}
}

func TestSessions_TTL(t *testing.T) {
	t.Parallel()
	for give, want := range map[time.Duration]time.Duration{0: memory.DefaultSessionTTL, time.Minute: time.Minute} {
		driver := &probe{}
		_, err := memory.NewSessions(driver, memory.SessionsConfig{TTL: give}).Swap(t.Context(),
			memory.SessionKey{State: conversation.StateIntent, SessionID: "s"}, 0, "w")
		require.NoError(t, err)
		require.Equal(t, want, driver.ttl)
	}
}

func TestEvents_Limits(t *testing.T) {
	t.Parallel()
	driver := &probe{}
	events := memory.NewEvents(driver, memory.EventsConfig{})
	require.NoError(t, events.Publish(t.Context(), "s", 1, nil))
	require.Equal(t, memory.DefaultEventTTL, driver.ttl)
	require.EqualValues(t, memory.DefaultEventMaxLen, driver.maxLen)
	for give, want := range map[int]int{
		0: memory.DefaultEventBatch, -1: memory.DefaultEventBatch, 7: 7, 1e6: memory.MaxEventBatch,
	} {
		_, err := events.Read(t.Context(), "s", 0, time.Hour, give)
		require.NoError(t, err)
		require.Equal(t, want, driver.limit)
		require.Equal(t, memory.MaxEventBlock, driver.block)
	}
	requireCode(t, conversation.CodeInvalidArgument, events.Publish(t.Context(), "", 1, nil))
	requireCode(t, conversation.CodeInvalidArgument, events.Publish(t.Context(), "s", 0, nil))
	requireCode(t, conversation.CodeTooLarge, events.Publish(t.Context(), "s", 1, make([]byte, memory.MaxEventBytes+1)))
	_, err := events.Read(t.Context(), "s", -1, 0, 0)
	requireCode(t, conversation.CodeInvalidArgument, err)
	_, err = events.Read(t.Context(), "", 0, 0, 0)
	requireCode(t, conversation.CodeInvalidArgument, err)
}

func TestUnavailable(t *testing.T) {
	t.Parallel()
	require.NoError(t, memory.Unavailable(t.Context(), "store", "get", nil))
	cause := errors.New("connection refused")
	err := memory.Unavailable(t.Context(), "store", "get", cause)
	requireCode(t, conversation.CodeMemoryUnavailable, err)
	require.ErrorIs(t, err, cause)
	require.ErrorContains(t, err, "store get: connection refused")
	require.True(t, conversation.CodeOf(err).Retryable())
	conflict := conversation.Errorf(conversation.CodeConflict, "x")
	require.Equal(t, conflict, memory.Unavailable(t.Context(), "store", "get", conflict))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	err = memory.Unavailable(ctx, "store", "get", cause)
	require.ErrorIs(t, err, context.Canceled)
	require.ErrorContains(t, err, "connection refused")
}
