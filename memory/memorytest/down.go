package memorytest

import (
	"context"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/hermes-orchestrator/hermes/conversation"
)

// DownTimeout is what a driver under test of Down is to be configured with.
const DownTimeout = 300 * time.Millisecond

// Down is the suite of a server that is not there: at a port where nobody listens, and at one where connections are
// taken and never answered. Open gets its address and returns the operations to try; each must return
// CodeMemoryUnavailable with its cause, soon after DownTimeout at the latest.
func Down(t *testing.T, open func(t *testing.T, address string) map[string]func(ctx context.Context) error) {
	t.Helper()
	tests := []struct {
		name    string
		address func(t *testing.T) string
	}{
		{"NobodyListens", closedPort},
		{"NobodyAnswers", silentPort},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			for name, operation := range open(t, tt.address(t)) {
				began := time.Now()
				err := operation(t.Context())
				took := time.Since(began)
				requireCode(t, conversation.CodeMemoryUnavailable, err)
				require.Contains(t, err.Error(), "check that the server is running", name)
				// Generous: machines that run tests are busy. What counts is that it ends by its own limit.
				require.Less(t, took, 10*DownTimeout, "%s took %s", name, took)
			}
		})
	}
}

func closedPort(t *testing.T) string {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.NoError(t, listener.Close())
	return listener.Addr().String()
}

func silentPort(t *testing.T) string {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	var group sync.WaitGroup
	var mu sync.Mutex
	var taken []net.Conn // Guarded by mu.
	group.Go(func() {
		for {
			connection, err := listener.Accept()
			if err != nil {
				return
			}
			mu.Lock()
			taken = append(taken, connection)
			mu.Unlock()
		}
	})
	t.Cleanup(func() {
		_ = listener.Close()
		group.Wait()
		for _, connection := range taken {
			_ = connection.Close()
		}
	})
	return listener.Addr().String()
}
