package memorytest

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/hermes-orchestrator/hermes/memory"
)

// Cache is the suite of memory.Cache.
func Cache(t *testing.T, open func(t *testing.T) memory.Cache, advance Advance) {
	t.Helper()
	at := time.Date(2024, 6, 3, 14, 22, 0, 123456789, time.UTC)
	exercise(t, open, []behaviour[memory.Cache]{
		{"AbsentKeyIsNotFound", func(t *testing.T, c memory.Cache) {
			_, _, found, err := c.Get(t.Context(), Fresh("k"))
			require.NoError(t, err)
			require.False(t, found)
		}},
		{"PutThenGet", func(t *testing.T, c memory.Cache) {
			key := Fresh("k{}:/张三")
			for _, data := range []string{`{"budget":"125000.00"}`, "\x00\xff", ""} {
				require.NoError(t, c.Put(t.Context(), key, []byte(data), at, time.Hour))
				requireCached(t, c, key, data, at)
			}
		}},
		{"KeysAreExact", func(t *testing.T, c memory.Cache) {
			key := Fresh("k")
			require.NoError(t, c.Put(t.Context(), key+":a", []byte("a"), at, time.Hour))
			require.NoError(t, c.Put(t.Context(), key+"%3Aa", []byte("b"), at, time.Hour))
			requireCached(t, c, key+":a", "a", at)
			requireCached(t, c, key+"%3Aa", "b", at)
		}},
		{"EntryExpires", func(t *testing.T, c memory.Cache) {
			key := Fresh("k")
			const ttl = 300 * time.Millisecond
			require.NoError(t, c.Put(t.Context(), key, []byte("a"), at, ttl))
			eventually(t, advance, 2*ttl, func() bool {
				_, _, found, err := c.Get(t.Context(), key)
				require.NoError(t, err)
				return !found
			})
		}},
		{"PutWithoutTTLKeepsWhatWouldExpire", func(t *testing.T, c memory.Cache) {
			key, witness := Fresh("k"), Fresh("witness")
			const ttl = 300 * time.Millisecond
			require.NoError(t, c.Put(t.Context(), key, []byte("a"), at, ttl))
			require.NoError(t, c.Put(t.Context(), key, []byte("b"), at, 0))
			require.NoError(t, c.Put(t.Context(), witness, []byte("w"), at, ttl))
			eventually(t, advance, 2*ttl, func() bool {
				_, _, found, err := c.Get(t.Context(), witness)
				require.NoError(t, err)
				return !found
			})
			requireCached(t, c, key, "b", at)
		}},
		{"CancelledContext", func(t *testing.T, c memory.Cache) {
			requireCancelled(t, func(ctx context.Context) error { _, _, _, err := c.Get(ctx, "k"); return err })
			requireCancelled(t, func(ctx context.Context) error { return c.Put(ctx, "k", nil, at, time.Hour) })
		}},
	})
}

func requireCached(t *testing.T, c memory.Cache, key, data string, at time.Time) {
	t.Helper()
	got, gotAt, found, err := c.Get(t.Context(), key)
	require.NoError(t, err)
	require.True(t, found)
	require.Equal(t, data, string(got))
	require.True(t, at.Equal(gotAt), "%s instead of %s", gotAt, at)
}
