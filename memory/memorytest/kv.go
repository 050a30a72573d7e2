package memorytest

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/hermes-orchestrator/hermes/conversation"
	"github.com/hermes-orchestrator/hermes/memory"
)

// KV is the suite of memory.KV.
func KV(t *testing.T, open func(t *testing.T) memory.KV, advance Advance) {
	t.Helper()
	exercise(t, open, []behaviour[memory.KV]{
		{"AbsentKeyIsNotFound", kvAbsent},
		{"PutThenGet", kvPutGet},
		{"PutExpectingAbsentLosesToWhatIsThere", kvPutAbsent},
		{"PutExpectingRevisionLosesToNewer", kvPutRevision},
		{"PutExpectingAnyRevisionWins", kvPutAny},
		{"DeleteIsIdempotent", kvDelete},
		{"RevisionAfterDeleteIsNew", kvRevisionAfterDelete},
		{"ListReturnsExactlyThePrefixInOrder", kvList},
		{"ListCallersMayChangeWhatTheyGet", kvListCopies},
		{"EntryExpires", func(t *testing.T, kv memory.KV) { kvExpires(t, kv, advance) }},
		{"PutWithoutTTLKeepsWhatWouldExpire", func(t *testing.T, kv memory.KV) { kvKeeps(t, kv, advance) }},
		{"RefreshedEntryOutlivesItsOldTTL", func(t *testing.T, kv memory.KV) { kvRefresh(t, kv, advance) }},
		{"ConcurrentSwapsLoseNothing", kvConcurrent},
		{"BytesOfAnyKind", kvBytes},
		{"ValueOfTheGreatestSize", kvLarge},
		{"CancelledContext", kvCancelled},
		{"Midterm", func(t *testing.T, kv memory.KV) { midterm(t, kv) }},
	})
}

func kvAbsent(t *testing.T, kv memory.KV) {
	value, revision, found, err := kv.Get(t.Context(), Fresh("absent"))
	require.NoError(t, err)
	require.False(t, found)
	require.Zero(t, revision)
	require.Empty(t, value)
}

func kvPutGet(t *testing.T, kv memory.KV) {
	key := Fresh("key")
	written, err := kv.Put(t.Context(), key, []byte("one"), memory.AnyRevision, 0)
	require.NoError(t, err)
	require.Positive(t, written)
	requireValue(t, kv, key, "one", written)
}

func kvPutAbsent(t *testing.T, kv memory.KV) {
	key := Fresh("key")
	first, err := kv.Put(t.Context(), key, []byte("one"), memory.AbsentRevision, 0)
	require.NoError(t, err)
	_, err = kv.Put(t.Context(), key, []byte("two"), memory.AbsentRevision, time.Minute)
	requireCode(t, conversation.CodeConflict, err)
	requireValue(t, kv, key, "one", first)
}

func kvPutRevision(t *testing.T, kv memory.KV) {
	key := Fresh("key")
	first, err := kv.Put(t.Context(), key, []byte("one"), memory.AbsentRevision, 0)
	require.NoError(t, err)
	second, err := kv.Put(t.Context(), key, []byte("two"), first, 0)
	require.NoError(t, err)
	require.Greater(t, second, first)
	_, err = kv.Put(t.Context(), key, []byte("late"), first, 0)
	requireCode(t, conversation.CodeConflict, err)
	requireValue(t, kv, key, "two", second)
	_, err = kv.Put(t.Context(), Fresh("absent"), []byte("late"), first, 0)
	requireCode(t, conversation.CodeConflict, err)
}

func kvPutAny(t *testing.T, kv memory.KV) {
	key := Fresh("key")
	first, err := kv.Put(t.Context(), key, []byte("one"), memory.AnyRevision, 0)
	require.NoError(t, err)
	second, err := kv.Put(t.Context(), key, []byte("two"), memory.AnyRevision, 0)
	require.NoError(t, err)
	require.Greater(t, second, first)
	requireValue(t, kv, key, "two", second)
}

func kvDelete(t *testing.T, kv memory.KV) {
	key := Fresh("key")
	require.NoError(t, kv.Delete(t.Context(), key))
	for _, ttl := range []time.Duration{0, time.Hour} {
		_, err := kv.Put(t.Context(), key, []byte("one"), memory.AbsentRevision, ttl)
		require.NoError(t, err)
		require.NoError(t, kv.Delete(t.Context(), key))
		require.NoError(t, kv.Delete(t.Context(), key))
		requireGone(t, kv, key)
	}
}

func kvRevisionAfterDelete(t *testing.T, kv memory.KV) {
	key := Fresh("key")
	first, err := kv.Put(t.Context(), key, []byte("one"), memory.AnyRevision, 0)
	require.NoError(t, err)
	require.NoError(t, kv.Delete(t.Context(), key))
	second, err := kv.Put(t.Context(), key, []byte("one"), memory.AbsentRevision, 0)
	require.NoError(t, err)
	require.NotEqual(t, first, second, "who read the first must not be able to overwrite the second")
}

func kvList(t *testing.T, kv memory.KV) {
	root := Fresh("list")
	var want []string
	for _, suffix := range []string{":a", ":b", ":b:c", ":张三", ":\xf0\x9f\x98\x80"} {
		want = append(want, root+suffix)
	}
	for _, key := range append([]string{root, root + "a:a"}, want...) {
		_, err := kv.Put(t.Context(), key, []byte(key), memory.AnyRevision, 0)
		require.NoError(t, err)
	}
	items, err := kv.List(t.Context(), root+":")
	require.NoError(t, err)
	var got []string
	for _, item := range items {
		got = append(got, item.Key)
		require.Equal(t, item.Key, string(item.Value))
		require.Positive(t, item.Revision)
	}
	require.Equal(t, want, got)
	items, err = kv.List(t.Context(), Fresh("nothing"))
	require.NoError(t, err)
	require.Empty(t, items)
}

func kvListCopies(t *testing.T, kv memory.KV) {
	key, value := Fresh("key"), []byte("one")
	revision, err := kv.Put(t.Context(), key, value, memory.AnyRevision, 0)
	require.NoError(t, err)
	value[0] = 'X'
	items, err := kv.List(t.Context(), key)
	require.NoError(t, err)
	require.Len(t, items, 1)
	items[0].Value[0] = 'X'
	requireValue(t, kv, key, "one", revision)
}

func kvExpires(t *testing.T, kv memory.KV, advance Advance) {
	key := Fresh("key")
	_, err := kv.Put(t.Context(), key, []byte("one"), memory.AnyRevision, time.Second)
	require.NoError(t, err)
	eventually(t, advance, 2*time.Second, func() bool { return absent(t, kv, key) })
	items, err := kv.List(t.Context(), key)
	require.NoError(t, err)
	require.Empty(t, items)
	_, err = kv.Put(t.Context(), key, []byte("two"), memory.AbsentRevision, 0)
	require.NoError(t, err)
}

func kvKeeps(t *testing.T, kv memory.KV, advance Advance) {
	key, witness := Fresh("key"), Fresh("witness")
	_, err := kv.Put(t.Context(), key, []byte("one"), memory.AnyRevision, time.Second)
	require.NoError(t, err)
	revision, err := kv.Put(t.Context(), key, []byte("two"), memory.AnyRevision, 0)
	require.NoError(t, err)
	// The witness is written later with the same time to live, so once it has gone, key would have gone as well.
	_, err = kv.Put(t.Context(), witness, []byte("w"), memory.AnyRevision, time.Second)
	require.NoError(t, err)
	eventually(t, advance, 2*time.Second, func() bool { return absent(t, kv, witness) })
	requireValue(t, kv, key, "two", revision)
}

func kvRefresh(t *testing.T, kv memory.KV, advance Advance) {
	key, witness := Fresh("key"), Fresh("witness")
	_, err := kv.Put(t.Context(), key, []byte("one"), memory.AnyRevision, time.Second)
	require.NoError(t, err)
	revision, err := kv.Put(t.Context(), key, []byte("two"), memory.AnyRevision, time.Hour)
	require.NoError(t, err)
	_, err = kv.Put(t.Context(), witness, []byte("w"), memory.AnyRevision, time.Second)
	require.NoError(t, err)
	eventually(t, advance, 2*time.Second, func() bool { return absent(t, kv, witness) })
	requireValue(t, kv, key, "two", revision)
}

// kvConcurrent has several writers append to one value by compare-and-swap: every append must be there at the end.
func kvConcurrent(t *testing.T, kv memory.KV) {
	const writers, appends = 4, 10
	key := Fresh("key")
	var group sync.WaitGroup
	errs := make(chan error, writers)
	for writer := range writers {
		group.Go(func() {
			for i := range appends {
				if err := appendTo(t.Context(), kv, key, fmt.Sprintf("%d.%d ", writer, i)); err != nil {
					errs <- err
					return
				}
			}
		})
	}
	group.Wait()
	close(errs)
	for err := range errs {
		require.NoError(t, err)
	}
	value, _, _, err := kv.Get(t.Context(), key)
	require.NoError(t, err)
	require.Len(t, strings.Fields(string(value)), writers*appends)
}

func appendTo(ctx context.Context, kv memory.KV, key, text string) error {
	for {
		value, revision, _, err := kv.Get(ctx, key)
		if err != nil {
			return err
		}
		_, err = kv.Put(ctx, key, append(value, text...), revision, 0)
		if conversation.CodeOf(err) != conversation.CodeConflict {
			return err
		}
	}
}

func kvBytes(t *testing.T, kv memory.KV) {
	for _, value := range []string{"", "\x00\xff\xfe", strings.Repeat("字", 30_000)} {
		key := Fresh("key")
		revision, err := kv.Put(t.Context(), key, []byte(value), memory.AnyRevision, 0)
		require.NoError(t, err)
		requireValue(t, kv, key, value, revision)
	}
}

func kvLarge(t *testing.T, kv memory.KV) {
	key, value := Fresh("key"), strings.Repeat("x", memory.MaxValueBytes)
	revision, err := kv.Put(t.Context(), key, []byte(value), memory.AnyRevision, 0)
	require.NoError(t, err)
	_, err = kv.Put(t.Context(), key, []byte(value+"x"), memory.AnyRevision, 0)
	requireCode(t, conversation.CodeTooLarge, err)
	requireValue(t, kv, key, value, revision)
	require.NoError(t, kv.Delete(t.Context(), key))
}

func kvCancelled(t *testing.T, kv memory.KV) {
	key := Fresh("key")
	requireCancelled(t, func(ctx context.Context) error { _, _, _, err := kv.Get(ctx, key); return err })
	requireCancelled(t, func(ctx context.Context) error { _, err := kv.List(ctx, key); return err })
	requireCancelled(t, func(ctx context.Context) error {
		_, err := kv.Put(ctx, key, nil, memory.AnyRevision, time.Minute)
		return err
	})
	requireCancelled(t, func(ctx context.Context) error { return kv.Delete(ctx, key) })
}

func requireValue(t *testing.T, kv memory.KV, key, value string, revision int64) {
	t.Helper()
	got, at, found, err := kv.Get(t.Context(), key)
	require.NoError(t, err)
	require.True(t, found)
	require.Equal(t, value, string(got))
	require.Equal(t, revision, at)
}

func requireGone(t *testing.T, kv memory.KV, key string) {
	t.Helper()
	require.True(t, absent(t, kv, key))
}

func absent(t *testing.T, kv memory.KV, key string) bool {
	t.Helper()
	_, _, found, err := kv.Get(t.Context(), key)
	require.NoError(t, err)
	return !found
}
