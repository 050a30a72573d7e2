package stack_test

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/hermes-orchestrator/hermes/dev/stack"
	"github.com/hermes-orchestrator/hermes/memory"
	"github.com/hermes-orchestrator/hermes/memory/etcd"
	"github.com/hermes-orchestrator/hermes/memory/memorytest"
	"github.com/hermes-orchestrator/hermes/memory/redis"
	"github.com/hermes-orchestrator/hermes/memory/sqlite"
)

// TestMemory runs the conformance suites of every memory tier against what the stack has. Time passes by itself in all
// of it, so no clock is given to the suites.
func TestMemory(t *testing.T) {
	t.Parallel()
	s := start(t, stack.Options{})
	store := func(t *testing.T) *redis.Store {
		t.Helper()
		store, err := redis.Open(redis.Config{Addr: s.RedisAddress()})
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, store.Close()) })
		return store
	}
	t.Run("preferences in etcd", func(t *testing.T) {
		t.Parallel()
		memorytest.KV(t, func(t *testing.T) memory.KV {
			t.Helper()
			kv, err := etcd.Open(etcd.Config{Endpoints: s.EtcdEndpoints(), Namespace: memorytest.Fresh("ns") + "/"})
			require.NoError(t, err)
			t.Cleanup(func() { require.NoError(t, kv.Close()) })
			return kv
		}, nil)
	})
	t.Run("sessions in Redis", func(t *testing.T) {
		t.Parallel()
		memorytest.Sessions(t, func(t *testing.T) memory.SessionDriver { return store(t) }, nil)
	})
	t.Run("events in Redis", func(t *testing.T) {
		t.Parallel()
		memorytest.Events(t, func(t *testing.T) memory.StreamDriver { return store(t) }, nil)
	})
	t.Run("cache in Redis", func(t *testing.T) {
		t.Parallel()
		memorytest.Cache(t, func(t *testing.T) memory.Cache { return store(t).Cache() }, nil)
	})
	t.Run("graph in SQLite", func(t *testing.T) {
		t.Parallel()
		memorytest.Graph(t, func(t *testing.T) memory.GraphDriver {
			t.Helper()
			path := filepath.Join(s.DataDir(), memorytest.Fresh("graph")+".db")
			graph, err := sqlite.Open(t.Context(), sqlite.Config{Path: path})
			require.NoError(t, err)
			t.Cleanup(func() { require.NoError(t, graph.Close()) })
			return graph
		})
	})
}
