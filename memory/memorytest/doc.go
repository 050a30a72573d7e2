// Package memorytest has the conformance suites of package memory: tables of named behaviours that every adapter runs
// against its real store. A suite takes a factory that opens a driver; it is called once for each behaviour, and
// drivers may share a server: all keys are fresh. It imports memory and test libraries, and is imported by tests only.
//
//	func TestKV(t *testing.T) {
//		address := memorytest.Server(t, memorytest.Etcd)
//		memorytest.KV(t, func(t *testing.T) memory.KV { return open(t, address) }, nil)
//	}
package memorytest

import (
	"context"
	"crypto/rand"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/hermes-orchestrator/hermes/conversation"
)

// External is a server that a suite needs and cannot start by itself: the name of the environment variable that has its
// address.
type External string

// The external servers.
const (
	Redis External = "HERMES_TEST_REDIS" // host:port
	Etcd  External = "HERMES_TEST_ETCD"  // host:port
	Neo4j External = "HERMES_TEST_NEO4J" // bolt://host:port
)

// start tells how to get one.
func (e External) start() string {
	switch e {
	case Redis:
		return "run redis-server --port 6399 --save '', then set it to 127.0.0.1:6399"
	case Etcd:
		return "run etcd --data-dir $(mktemp -d), then set it to 127.0.0.1:2379"
	case Neo4j:
		return "run scripts/neo4j, then set it to bolt://127.0.0.1:7687"
	}
	return "see docs/memory.md"
}

// Server returns the address of an external server. Without one it skips the test and says how to get one; where
// HERMES_CI is 1, nothing may be skipped and the test fails.
func Server(t *testing.T, external External) string {
	t.Helper()
	if address := os.Getenv(string(external)); address != "" {
		return address
	}
	message := "NOT TESTED AGAINST A REAL SERVER: " + string(external) + " is not set: " + external.start()
	if os.Getenv("HERMES_CI") == "1" {
		t.Fatal(message + " (HERMES_CI is 1: nothing is skipped)")
	}
	t.Skip(message)
	return ""
}

// Advance makes time pass in a store whose clock stands still unless told (miniredis). Suites are given nil for stores
// whose time passes by itself; they wait for the condition then.
type Advance func(time.Duration)

// Fresh returns a name that no other test uses.
func Fresh(prefix string) string { return prefix + "-" + rand.Text()[:12] }

// patience bounds every wait: a store that takes longer is broken.
const patience = 15 * time.Second

// eventually advances time by step and waits until condition holds.
func eventually(t *testing.T, advance Advance, step time.Duration, condition func() bool) {
	t.Helper()
	if advance != nil {
		advance(step)
	}
	require.Eventually(t, condition, patience, 20*time.Millisecond)
}

// requireCode checks that err is a *conversation.Error with the code.
func requireCode(t require.TestingT, code conversation.Code, err error) {
	if h, ok := t.(interface{ Helper() }); ok {
		h.Helper()
	}
	require.Error(t, err)
	require.Equal(t, code, conversation.CodeOf(err), "%v", err)
}

// requireCancelled checks what every operation owes to a context that is over.
func requireCancelled(t *testing.T, operation func(ctx context.Context) error) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	err := operation(ctx)
	requireCode(t, conversation.CodeMemoryUnavailable, err)
	require.ErrorIs(t, err, context.Canceled)
}

// behaviour is a row of a suite.
type behaviour[D any] struct {
	name string
	run  func(t *testing.T, driver D)
}

func exercise[D any](t *testing.T, open func(t *testing.T) D, behaviours []behaviour[D]) {
	t.Helper()
	for _, b := range behaviours {
		t.Run(b.name, func(t *testing.T) {
			t.Parallel()
			b.run(t, open(t))
		})
	}
}
