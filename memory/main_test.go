package memory_test

import (
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/hermes-orchestrator/hermes/conversation"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// clock is a clock that moves when it is told to.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func newClock() *clock { return &clock{now: time.Date(2024, 6, 3, 9, 0, 0, 0, time.UTC)} }

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) Advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

func requireCode(t require.TestingT, code conversation.Code, err error) {
	require.Error(t, err)
	require.Equal(t, code, conversation.CodeOf(err), "%v", err)
}
