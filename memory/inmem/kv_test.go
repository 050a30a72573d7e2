package inmem_test

import (
	"sync"
	"testing"
	"time"

	"github.com/hermes-orchestrator/hermes/memory"
	"github.com/hermes-orchestrator/hermes/memory/inmem"
	"github.com/hermes-orchestrator/hermes/memory/memorytest"
)

func TestKV(t *testing.T) {
	t.Parallel()
	memorytest.KV(t, func(*testing.T) memory.KV { return inmem.NewKV(nil) }, nil)
}

// The clock stands still unless told: expiry depends on the clock that was given, and on nothing else.
func TestKV_GivenClock(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	now := time.Date(2024, 6, 3, 0, 0, 0, 0, time.UTC)
	clock := func() time.Time {
		mu.Lock()
		defer mu.Unlock()
		return now
	}
	advance := func(d time.Duration) {
		mu.Lock()
		defer mu.Unlock()
		now = now.Add(d)
	}
	memorytest.KV(t, func(*testing.T) memory.KV { return inmem.NewKV(clock) }, advance)
}
