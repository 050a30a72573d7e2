package memory

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/hermes-orchestrator/hermes/conversation"
)

// Drivers are what an adapter implements: few methods, no policy. Policy (names, limits, expiry, proof) is in the
// portable types of this package, written once. Every driver is safe for concurrent use, bounds each call by a time
// limit of its own (DefaultTimeout unless configured), and returns *conversation.Error: CodeMemoryUnavailable with the
// cause when its server does not answer. The suites of package memorytest say the rest.

// DefaultTimeout bounds dialling and each operation of an adapter where its configuration does not say otherwise.
const DefaultTimeout = 2 * time.Second

// Revisions with a special meaning for KV.Put.
const (
	AnyRevision    int64 = -1 // Write whatever is there.
	AbsentRevision int64 = 0  // Write only where nothing is.
)

// MaxValueBytes is the largest value of a KV: mid-term memory holds settings and summaries, not documents.
const MaxValueBytes = 1 << 20

// Item is an entry of a KV.
type Item struct {
	Key      string
	Value    []byte
	Revision int64
}

// KV is the driver of mid-term memory: durable, consistent, small values.
type KV interface {
	// Get returns the value and its revision, which is greater than zero. An absent key is not an error.
	Get(ctx context.Context, key string) (value []byte, revision int64, found bool, err error)
	// List returns the items whose key begins with prefix, in order of their keys.
	List(ctx context.Context, prefix string) ([]Item, error)
	// Put writes value if the revision of key is the expected one (or AnyRevision, AbsentRevision), atomically, and
	// returns the new revision. Otherwise it writes nothing and returns CodeConflict. The entry disappears after ttl,
	// within a second or two; zero keeps it, also where the replaced value would have expired. More than MaxValueBytes
	// is CodeTooLarge.
	Put(ctx context.Context, key string, value []byte, expected int64, ttl time.Duration) (revision int64, err error)
	// Delete removes key. An absent key is not an error.
	Delete(ctx context.Context, key string) error
}

// SessionDriver is the driver of Sessions: one atomic compare-and-swap.
type SessionDriver interface {
	// Swap does what Sessions.Swap says, in one atomic step, and keeps the record for ttl after the last change.
	Swap(
		ctx context.Context, key SessionKey, expected int64, writer string, ttl time.Duration,
	) (conversation.Accepted, error)
}

// StreamDriver is the driver of Events.
type StreamDriver interface {
	// Publish does what Events.Publish says; it keeps the newest maxLen events, for ttl after the last one.
	Publish(ctx context.Context, sessionID string, sequence int64, data []byte, maxLen int64, ttl time.Duration) error
	// Read does what Events.Read says, with block and limit within their limits.
	Read(ctx context.Context, sessionID string, after int64, block time.Duration, limit int) ([]Event, error)
}

// Cache keeps last good answers of tools for fallbacks (SPEC T3). It has no policy, so it is used as it is; package
// tool declares the same two methods.
type Cache interface {
	// Get returns data and the time at which it was good. An absent or expired key is not an error.
	Get(ctx context.Context, key string) (data []byte, at time.Time, found bool, err error)
	// Put replaces what is there. The entry disappears after ttl; zero keeps it as long as the store can.
	Put(ctx context.Context, key string, data []byte, at time.Time, ttl time.Duration) error
}

// GraphDriver is the driver of Graph.
type GraphDriver interface {
	// Relate writes all assertions for owner, or none. Nodes are unique by (type, id), edges by (from, type, to). Of
	// several assertions of one edge or node the strongest is kept: higher Trust first, then later VerifiedAt.
	// Repeating a call changes nothing. An owner who asserts what another already did shares it.
	Relate(ctx context.Context, owner string, assertions []Assertion) error
	// Relations returns what owner has asserted and query selects: newest VerifiedAt first, at most query.Limit.
	Relations(ctx context.Context, owner string, query Query) ([]Assertion, error)
}

// Unavailable is the error of an adapter whose server did not do what it was asked: CodeMemoryUnavailable around cause,
// or cause itself where it has a code already, or nil for nil. Where ctx is over, its error is part of the chain, even
// if the client library only tells of a closed connection. The message names store and operation and never a key: keys
// hold user ids, and messages reach logs and clients.
func Unavailable(ctx context.Context, store, operation string, cause error) error {
	if cause == nil {
		return nil
	}
	if _, ok := errors.AsType[*conversation.Error](cause); ok {
		return cause
	}
	if over := overBy(ctx); over != nil && !errors.Is(cause, over) {
		cause = fmt.Errorf("%w (%s)", over, cause.Error()) // Its text alone: the chain says what ended ctx.
	}
	return conversation.Errorf(conversation.CodeMemoryUnavailable,
		"%s %s: %w: check that the server is running and reachable, then try again", store, operation, cause)
}

// overBy is ctx.Err, but also set when the deadline has passed and the context has not noticed yet: connections get the
// same deadline and are sometimes first.
func overBy(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if deadline, ok := ctx.Deadline(); ok && !time.Now().Before(deadline) {
		return context.DeadlineExceeded
	}
	return nil
}

// CheckValue is what every KV does first in Put: it returns CodeTooLarge for a value of more than MaxValueBytes.
func CheckValue(store string, value []byte) error {
	if len(value) > MaxValueBytes {
		return conversation.Errorf(conversation.CodeTooLarge,
			"%s put: the value has %d bytes, at most %d are allowed", store, len(value), MaxValueBytes)
	}
	return nil
}
