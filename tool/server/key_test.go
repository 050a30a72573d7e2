package server_test

import (
	"crypto/ed25519"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/hermes-orchestrator/hermes/conversation"
	"github.com/hermes-orchestrator/hermes/tool/server"
)

func TestKeyFromFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "tool.key")
	keys := make([]ed25519.PrivateKey, 8)
	var group sync.WaitGroup
	for i := range keys {
		group.Go(func() {
			made, err := server.KeyFromFile(path)
			if err != nil {
				t.Errorf("key %d: %v", i, err)
			}
			keys[i] = made
		})
	}
	group.Wait()
	for _, made := range keys {
		require.True(t, keys[0].Equal(made), "all that start at once get the same key")
	}
	info, err := os.Stat(path)
	require.NoError(t, err)
	require.EqualValues(t, 0o600, info.Mode().Perm())
	entries, err := os.ReadDir(filepath.Dir(path))
	require.NoError(t, err)
	require.Len(t, entries, 1)

	require.NoError(t, os.WriteFile(path, []byte("c2hvcnQ="), 0o600))
	_, err = server.KeyFromFile(path)
	require.Equal(t, conversation.CodeInvalidConfig, conversation.CodeOf(err))
	require.NotContains(t, err.Error(), "c2hvcnQ")
	_, err = server.KeyFromFile(filepath.Join(path, "below", "tool.key"))
	require.Equal(t, conversation.CodeInvalidConfig, conversation.CodeOf(err))
	_, err = server.KeyFromFile(filepath.Join(t.TempDir(), "no", "tool.key"))
	require.ErrorContains(t, err, "cannot be written")
}
