package memory

import (
	"context"
	"time"

	"github.com/hermes-orchestrator/hermes/conversation"
)

// DefaultSessionTTL is how long the record of a session is kept after its last change.
const DefaultSessionTTL = 24 * time.Hour

// maxRevision is the largest revision that every store counts exactly (Lua has doubles).
const maxRevision = int64(1) << 53

// SessionKey is what a state change is recorded under (SPEC C7): the state that is being left and the session.
type SessionKey struct {
	State     conversation.State
	SessionID string
}

// SessionsConfig is how session records are kept.
type SessionsConfig struct {
	// TTL is how long a record is kept after its last change. Defaults to DefaultSessionTTL.
	TTL time.Duration
}

// Sessions keeps concurrent tabs of one user from overwriting each other (SPEC C7). It is volatile: the conversation
// itself holds the revision that counts, Sessions decides who of several writers that saw it goes first.
type Sessions struct {
	driver SessionDriver
	ttl    time.Duration
}

// NewSessions returns sessions that are kept in driver.
func NewSessions(driver SessionDriver, cfg SessionsConfig) *Sessions {
	if cfg.TTL <= 0 {
		cfg.TTL = DefaultSessionTTL
	}
	return &Sessions{driver: driver, ttl: cfg.TTL}
}

// Swap makes expected+1 the revision of the session, if nobody else has done so since expected was read. A session has
// one revision whatever its state; the record of each (state, session) says who last left that state.
//
//   - The revision is expected: accepted, Revision is expected+1.
//   - The writer made this very change before (its activity ran twice): accepted again with the same Revision.
//   - Another writer was first: Conflict, Winner is who took the revision, Revision is the present one.
//   - Nothing is known of the session, or only an older revision: the store was emptied or fell back to an older copy.
//     Expected is accepted as the new baseline. That is why it must come from the conversation, which is durable, and
//     never from a client.
//
// A conflict is an answer, not an error.
func (s *Sessions) Swap(
	ctx context.Context, key SessionKey, expected int64, writer string,
) (conversation.Accepted, error) {
	if !key.State.Valid() {
		return conversation.Accepted{}, conversation.Errorf(conversation.CodeInvalidArgument,
			"state %q is not a state of a conversation", key.State)
	}
	if err := checkPart("session id", key.SessionID, MaxNameLen, true); err != nil {
		return conversation.Accepted{}, err
	}
	if err := checkPart("writer", writer, MaxNameLen, true); err != nil {
		return conversation.Accepted{}, err
	}
	if expected < 0 || expected >= maxRevision {
		return conversation.Accepted{}, conversation.Errorf(conversation.CodeInvalidArgument,
			"expected revision %d is not one that was given out", expected)
	}
	return s.driver.Swap(ctx, key, expected, writer, s.ttl)
}
