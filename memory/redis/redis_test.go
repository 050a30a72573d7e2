package redis_test

import (
	"context"
	"log/slog"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/hermes-orchestrator/hermes/conversation"
	"github.com/hermes-orchestrator/hermes/memory"
	"github.com/hermes-orchestrator/hermes/memory/memorytest"
	"github.com/hermes-orchestrator/hermes/memory/redis"
)

func TestMain(m *testing.M) {
	redis.LogTo(slog.New(slog.DiscardHandler))
	goleak.VerifyTestMain(m)
}

func open(t *testing.T, cfg redis.Config) *redis.Store {
	t.Helper()
	store, err := redis.Open(cfg)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, store.Close()) })
	return store
}

// suites runs all suites against one server.
func suites(t *testing.T, address string, advance memorytest.Advance) {
	t.Helper()
	store := open(t, redis.Config{Addr: address})
	t.Run("Sessions", func(t *testing.T) {
		memorytest.Sessions(t, func(*testing.T) memory.SessionDriver { return store }, advance)
	})
	t.Run("Events", func(t *testing.T) {
		memorytest.Events(t, func(*testing.T) memory.StreamDriver { return store }, advance)
	})
	t.Run("Cache", func(t *testing.T) {
		memorytest.Cache(t, func(*testing.T) memory.Cache { return store.Cache() }, advance)
	})
}

func TestStore_Miniredis(t *testing.T) {
	t.Parallel()
	server := miniredis.RunT(t)
	suites(t, server.Addr(), server.FastForward)
}

func TestStore_Server(t *testing.T) {
	t.Parallel()
	suites(t, memorytest.Server(t, memorytest.Redis), nil)
}

func TestOpen_URL(t *testing.T) {
	t.Parallel()
	server := miniredis.RunT(t)
	server.RequireUserAuth("hermes", "secret")
	store := open(t, redis.Config{Addr: "redis://hermes:secret@" + server.Addr() + "/3"})
	require.NoError(t, store.Ping(t.Context()))
	require.NoError(t, store.Cache().Put(t.Context(), "k", []byte("v"), time.Now(), time.Minute))
	require.True(t, server.DB(3).Exists("hermes:cache:k"))
}

func TestOpen_InvalidConfig(t *testing.T) {
	t.Parallel()
	for _, address := range []string{"", "http://:secret@host"} {
		_, err := redis.Open(redis.Config{Addr: address})
		require.Equal(t, conversation.CodeInvalidConfig, conversation.CodeOf(err))
		require.NotContains(t, err.Error(), "secret")
	}
}

func TestDown(t *testing.T) {
	t.Parallel()
	memorytest.Down(t, func(t *testing.T, address string) map[string]func(context.Context) error {
		store := open(t, redis.Config{Addr: address, Timeout: memorytest.DownTimeout})
		key := memory.SessionKey{State: conversation.StateIntent, SessionID: "s"}
		return map[string]func(context.Context) error{
			"ping":    store.Ping,
			"swap":    func(ctx context.Context) error { _, err := store.Swap(ctx, key, 0, "w", time.Hour); return err },
			"publish": func(ctx context.Context) error { return store.Publish(ctx, "s", 1, nil, 10, time.Hour) },
			"read":    func(ctx context.Context) error { _, err := store.Read(ctx, "s", 0, 0, 10); return err },
			"wait": func(ctx context.Context) error {
				_, err := store.Read(ctx, "s", 0, time.Millisecond, 10)
				return err
			},
			"cache get": func(ctx context.Context) error { _, _, _, err := store.Cache().Get(ctx, "k"); return err },
			"cache put": func(ctx context.Context) error { return store.Cache().Put(ctx, "k", nil, time.Now(), time.Hour) },
		}
	})
}

// The volatile store may be restarted at any time: what was open goes on with the next operation.
func TestRestart(t *testing.T) {
	t.Parallel()
	server := miniredis.RunT(t)
	store := open(t, redis.Config{Addr: server.Addr()})
	sessions := memory.NewSessions(store, memory.SessionsConfig{})
	key := memory.SessionKey{State: conversation.StateIntent, SessionID: "s"}
	swap := func(expected int64, writer string) (conversation.Accepted, error) {
		return sessions.Swap(t.Context(), key, expected, writer)
	}
	got, err := swap(0, "a")
	require.NoError(t, err)
	require.Equal(t, conversation.Accepted{Revision: 1}, got)

	server.Close()
	_, err = swap(1, "b")
	require.Equal(t, conversation.CodeMemoryUnavailable, conversation.CodeOf(err))
	server.FlushAll()
	require.NoError(t, server.Restart())

	got, err = swap(1, "b")
	require.NoError(t, err)
	require.Equal(t, conversation.Accepted{Revision: 2}, got)
}

// What is written by hand into Redis is named, not taken for something else.
func TestDamaged(t *testing.T) {
	t.Parallel()
	server := miniredis.RunT(t)
	store := open(t, redis.Config{Addr: server.Addr()})
	server.HSet("hermes:cache:k", "data", "x", "at", "yesterday")
	_, _, _, err := store.Cache().Get(t.Context(), "k")
	require.Equal(t, conversation.CodeInternal, conversation.CodeOf(err))
	_, err = server.XAdd("hermes:{s}:events", "1-1", []string{"other", "x"})
	require.NoError(t, err)
	_, err = store.Read(t.Context(), "s", 0, 0, 10)
	require.Equal(t, conversation.CodeInternal, conversation.CodeOf(err))
}

// SPEC C7: keys are (state id, session id), and all keys of a session are in one slot of a cluster.
func TestKeys(t *testing.T) {
	t.Parallel()
	server := miniredis.RunT(t)
	store := open(t, redis.Config{Addr: server.Addr()})
	key := memory.SessionKey{State: conversation.StateReview, SessionID: "s}1"}
	_, err := store.Swap(t.Context(), key, 0, "w", time.Hour)
	require.NoError(t, err)
	require.NoError(t, store.Publish(t.Context(), "s}1", 1, nil, 10, time.Hour))
	require.Equal(t,
		[]string{"hermes:{s%7D1}:events", "hermes:{s%7D1}:session", "hermes:{s%7D1}:state:S3.1"}, server.Keys())
	require.Equal(t, "w", server.HGet("hermes:{s%7D1}:state:S3.1", "writer"))
	require.Equal(t, "1", server.HGet("hermes:{s%7D1}:session", "revision"))
}

// DESIGN 6: concurrent tabs, 5 writers for each change. Each operation is one change that all five want; the metrics
// say how many were lost and how many losers were not told the winner.
func BenchmarkSessions_FiveTabs(b *testing.B) {
	address := os.Getenv(string(memorytest.Redis))
	if address == "" {
		b.Skipf("%s is not set", memorytest.Redis)
	}
	store, err := redis.Open(redis.Config{Addr: address})
	require.NoError(b, err)
	defer store.Close()
	const tabs = 5
	key := memory.SessionKey{State: conversation.StateMaterials, SessionID: memorytest.Fresh("s")}
	var revision int64
	lost, untold := 0, 0
	for b.Loop() {
		answers := make(chan conversation.Accepted, tabs)
		for tab := range tabs {
			go func() {
				answer, err := store.Swap(b.Context(), key, revision, strconv.Itoa(tab), time.Hour)
				if err != nil {
					b.Error(err)
				}
				answers <- answer
			}()
		}
		won := 0
		for range tabs {
			switch answer := <-answers; {
			case !answer.Conflict:
				won++
			case answer.Winner == "":
				untold++
			}
		}
		if won != 1 {
			lost++
		}
		revision++
	}
	b.ReportMetric(float64(lost), "lost")
	b.ReportMetric(float64(untold), "untold")
}
