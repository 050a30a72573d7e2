// Package inmem is a memory.KV in the memory of one process: real in every behaviour that the conformance suite names,
// but nothing survives the process. Tests of policies use it; it is not for production. It imports memory only.
package inmem

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hermes-orchestrator/hermes/conversation"
	"github.com/hermes-orchestrator/hermes/memory"
)

var _ memory.KV = (*KV)(nil)

// KV is a memory.KV. The zero value is not usable; NewKV makes one.
type KV struct {
	now func() time.Time

	mu       sync.Mutex
	revision int64 // Grows with every write of any key, as in etcd.
	entries  map[string]entry
}

type entry struct {
	value    []byte
	revision int64
	expires  time.Time // Zero: never.
}

// NewKV returns an empty KV. Entries expire by the clock now; nil means time.Now.
func NewKV(now func() time.Time) *KV {
	if now == nil {
		now = time.Now
	}
	return &KV{now: now, entries: map[string]entry{}}
}

// Get implements memory.KV.
func (kv *KV) Get(ctx context.Context, key string) ([]byte, int64, bool, error) {
	if err := memory.Unavailable(ctx, "inmem", "get", ctx.Err()); err != nil {
		return nil, 0, false, err
	}
	kv.mu.Lock()
	defer kv.mu.Unlock()
	e, found := kv.get(key)
	return slices.Clone(e.value), e.revision, found, nil
}

// List implements memory.KV.
func (kv *KV) List(ctx context.Context, prefix string) ([]memory.Item, error) {
	if err := memory.Unavailable(ctx, "inmem", "list", ctx.Err()); err != nil {
		return nil, err
	}
	kv.mu.Lock()
	defer kv.mu.Unlock()
	var items []memory.Item
	for key := range kv.entries {
		if !strings.HasPrefix(key, prefix) {
			continue
		}
		if e, found := kv.get(key); found {
			items = append(items, memory.Item{Key: key, Value: slices.Clone(e.value), Revision: e.revision})
		}
	}
	slices.SortFunc(items, func(a, b memory.Item) int { return strings.Compare(a.Key, b.Key) })
	return items, nil
}

// Put implements memory.KV.
func (kv *KV) Put(
	ctx context.Context, key string, value []byte, expected int64, ttl time.Duration,
) (int64, error) {
	if err := memory.Unavailable(ctx, "inmem", "put", ctx.Err()); err != nil {
		return 0, err
	}
	if err := memory.CheckValue("inmem", value); err != nil {
		return 0, err
	}
	kv.mu.Lock()
	defer kv.mu.Unlock()
	e, _ := kv.get(key)
	if expected != memory.AnyRevision && expected != e.revision {
		return 0, conversation.Errorf(conversation.CodeConflict,
			"inmem put: revision is %d, not the expected %d: read again", e.revision, expected)
	}
	kv.revision++
	e = entry{value: slices.Clone(value), revision: kv.revision}
	if ttl > 0 {
		e.expires = kv.now().Add(ttl)
	}
	kv.entries[key] = e
	return e.revision, nil
}

// Delete implements memory.KV.
func (kv *KV) Delete(ctx context.Context, key string) error {
	if err := memory.Unavailable(ctx, "inmem", "delete", ctx.Err()); err != nil {
		return err
	}
	kv.mu.Lock()
	defer kv.mu.Unlock()
	delete(kv.entries, key)
	return nil
}

// get returns the entry unless it is absent or expired, and forgets it then. The lock is held.
func (kv *KV) get(key string) (entry, bool) {
	e, found := kv.entries[key]
	if found && !e.expires.IsZero() && !kv.now().Before(e.expires) {
		delete(kv.entries, key)
		return entry{}, false
	}
	return e, found
}
