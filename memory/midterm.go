package memory

import (
	"context"
	"encoding/json"
	"time"

	"github.com/hermes-orchestrator/hermes/conversation"
)

// Defaults of MidtermConfig.
const (
	DefaultUnfinishedFor = 30 * 24 * time.Hour
	DefaultWarningFor    = 180 * 24 * time.Hour
)

// MidtermConfig is how long mid-term memory keeps what it was not told to keep for ever.
type MidtermConfig struct {
	// UnfinishedFor is how long an unfinished flow is offered again. Defaults to DefaultUnfinishedFor.
	UnfinishedFor time.Duration
	// WarningFor is how long a warning is repeated. Defaults to DefaultWarningFor.
	WarningFor time.Duration
	// Now is the clock that stamps and expires entries. Defaults to time.Now.
	Now func() time.Time
}

// Midterm is mid-term memory (SPEC M2): preferences that the user confirmed, unfinished flows, warnings to repeat. All
// methods are idempotent and safe for concurrent use; a server that does not answer is CodeMemoryUnavailable. Nothing
// of one user can be read or changed under the id of another.
type Midterm struct {
	kv  KV
	cfg MidtermConfig
}

// NewMidterm returns mid-term memory that is kept in kv.
func NewMidterm(kv KV, cfg MidtermConfig) *Midterm {
	if cfg.UnfinishedFor <= 0 {
		cfg.UnfinishedFor = DefaultUnfinishedFor
	}
	if cfg.WarningFor <= 0 {
		cfg.WarningFor = DefaultWarningFor
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	return &Midterm{kv: kv, cfg: cfg}
}

// put writes value as JSON, whatever is there.
func (m *Midterm) put(ctx context.Context, what, key string, value any, ttl time.Duration) error {
	data, err := json.Marshal(value)
	if err != nil {
		return conversation.Errorf(conversation.CodeInvalidArgument, "%s cannot be written as JSON: %w", what, err)
	}
	_, err = m.kv.Put(ctx, key, data, AnyRevision, ttl)
	return err
}

// decode reads what put wrote. An entry that cannot be read is reported, never skipped: it was changed from outside.
func decode(what string, data []byte, into any) error {
	if err := json.Unmarshal(data, into); err != nil {
		return conversation.Errorf(conversation.CodeInternal,
			"%s in mid-term memory is not what Hermes writes: %w: correct or delete the entry", what, err)
	}
	return nil
}
