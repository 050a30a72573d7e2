package memory

import (
	"context"
	"time"

	"github.com/hermes-orchestrator/hermes/conversation"
)

// Defaults and limits of Events.
const (
	DefaultEventTTL    = 24 * time.Hour
	DefaultEventMaxLen = 1000
	DefaultEventBatch  = 100
	MaxEventBatch      = 1000
	MaxEventBlock      = time.Minute
	MaxEventBytes      = 1 << 20
)

// Event is one entry of the stream of a session. Data is JSON for those who publish it; here it is bytes.
type Event struct {
	Sequence int64
	Data     []byte
}

// EventsConfig is how event streams are kept.
type EventsConfig struct {
	// TTL is how long a stream is kept after its last event. Defaults to DefaultEventTTL.
	TTL time.Duration
	// MaxLen is how many events of a session are kept, the newest. Defaults to DefaultEventMaxLen.
	MaxLen int64
}

// Events carries replies from conversations to whoever listens (SSE). It is volatile: the transcript of the
// conversation is what counts. Safe for concurrent use.
type Events struct {
	driver StreamDriver
	cfg    EventsConfig
}

// NewEvents returns event streams that are kept in driver.
func NewEvents(driver StreamDriver, cfg EventsConfig) *Events {
	if cfg.TTL <= 0 {
		cfg.TTL = DefaultEventTTL
	}
	if cfg.MaxLen <= 0 {
		cfg.MaxLen = DefaultEventMaxLen
	}
	return &Events{driver: driver, cfg: cfg}
}

// Publish appends an event. Sequences start at 1 and grow, with or without gaps. Publishing a sequence again changes
// nothing and succeeds: the first data stays. A sequence that was never published and is lower than the last one gets
// CodeConflict, because listeners who have gone past it would never see it.
func (e *Events) Publish(ctx context.Context, sessionID string, sequence int64, data []byte) error {
	if err := checkPart("session id", sessionID, MaxNameLen, true); err != nil {
		return err
	}
	if sequence < 1 {
		return conversation.Errorf(conversation.CodeInvalidArgument,
			"event of session %q has sequence %d: sequences start at 1", sessionID, sequence)
	}
	if len(data) > MaxEventBytes {
		return conversation.Errorf(conversation.CodeTooLarge,
			"event %d of session %q has %d bytes, at most %d are allowed", sequence, sessionID, len(data), MaxEventBytes)
	}
	return e.driver.Publish(ctx, sessionID, sequence, data, e.cfg.MaxLen, e.cfg.TTL)
}

// Read returns the events after the given sequence (0 for all), oldest first, at most limit (DefaultEventBatch for 0,
// never more than MaxEventBatch). If there are none it waits for the first one, at most block (never more than
// MaxEventBlock; 0 does not wait), and then returns none and no error. Cancelling ctx ends the wait within a second,
// with an error that wraps ctx.Err().
func (e *Events) Read(
	ctx context.Context, sessionID string, after int64, block time.Duration, limit int,
) ([]Event, error) {
	if err := checkPart("session id", sessionID, MaxNameLen, true); err != nil {
		return nil, err
	}
	if after < 0 {
		return nil, conversation.Errorf(conversation.CodeInvalidArgument,
			"events of session %q after %d: sequences start at 1, 0 reads all", sessionID, after)
	}
	switch {
	case limit <= 0:
		limit = DefaultEventBatch
	case limit > MaxEventBatch:
		limit = MaxEventBatch
	}
	block = min(block, MaxEventBlock)
	return e.driver.Read(ctx, sessionID, after, block, limit)
}
