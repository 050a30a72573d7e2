package stack_test

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/hermes-orchestrator/hermes/conversation"
	"github.com/hermes-orchestrator/hermes/dev/stack"
)

func TestPortInUse(t *testing.T) {
	t.Parallel()
	taken, err := stack.Listen(t.Context(), "a test", "--none", 0)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, taken.Close()) })
	number := taken.Addr().(*net.TCPAddr).Port
	require.Zero(t, stack.Prefer(t.Context(), number), "a preferred port gives way")

	for _, tt := range []struct {
		name, flag string
		options    stack.Options
	}{
		{"Temporal", stack.FlagTemporalPort, stack.Options{Temporal: true, TemporalPort: number}},
		{"Temporal Web", stack.FlagUIPort, stack.Options{Temporal: true, UI: true, UIPort: number}},
		{"etcd", stack.FlagEtcdPort, stack.Options{EtcdPort: number}},
		{"Redis", stack.FlagRedisPort, stack.Options{RedisPort: number}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			tt.options.DataDir = filepath.Join(t.TempDir(), "data")
			_, err := stack.Start(t.Context(), tt.options)
			require.Equal(t, conversation.CodeUnavailable, conversation.CodeOf(err))
			require.ErrorContains(t, err, fmt.Sprintf("start %s: port %d is in use", tt.name, number))
			require.ErrorContains(t, err, tt.flag)
			require.NoDirExists(t, tt.options.DataDir, "nothing is written before the ports are known to be free")
		})
	}
}

func TestGivenPorts(t *testing.T) {
	t.Parallel()
	numbers := make([]int, 4)
	for i := range numbers {
		number, err := stack.FreePort(t.Context())
		require.NoError(t, err)
		numbers[i] = number
	}
	s := start(t, stack.Options{
		Temporal: true, UI: true,
		TemporalPort: numbers[0], UIPort: numbers[1], EtcdPort: numbers[2], RedisPort: numbers[3],
	})
	require.Equal(t, fmt.Sprintf("127.0.0.1:%d", numbers[0]), s.TemporalAddress())
	require.Equal(t, fmt.Sprintf("http://127.0.0.1:%d", numbers[1]), s.UIURL())
	require.Equal(t, []string{fmt.Sprintf("127.0.0.1:%d", numbers[2])}, s.EtcdEndpoints())
	require.Equal(t, fmt.Sprintf("127.0.0.1:%d", numbers[3]), s.RedisAddress())
}

func TestDataDirInUse(t *testing.T) {
	t.Parallel()
	s := start(t, stack.Options{DataDir: t.TempDir()})
	_, err := stack.Start(t.Context(), stack.Options{DataDir: s.DataDir()})
	require.Equal(t, conversation.CodeUnavailable, conversation.CodeOf(err))
	require.ErrorContains(t, err, s.DataDir())
	require.ErrorContains(t, err, "--data")
}

func TestDataDirIsFile(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	_, err := stack.Start(t.Context(), stack.Options{DataDir: file})
	require.Equal(t, conversation.CodeUnavailable, conversation.CodeOf(err))
	require.ErrorContains(t, err, file)
}

func TestInvalidOptions(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, says string
		options    stack.Options
	}{
		{"Web without Temporal", "set Temporal as well", stack.Options{UI: true}},
		{"log level", `"loud"`, stack.Options{LogLevel: "loud"}},
		{"port", "--etcd-port 70000", stack.Options{EtcdPort: 70000}},
		{"relative directory", `"data"`, stack.Options{DataDir: "data"}},
		{"Neo4j address", `"localhost:7687"`, stack.Options{Neo4jURL: "localhost:7687"}},
		{"two Redis", "--redis-port 6379", stack.Options{RedisAddress: "localhost:6379", RedisPort: 6379}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := stack.Start(t.Context(), tt.options)
			require.Equal(t, conversation.CodeInvalidConfig, conversation.CodeOf(err))
			require.ErrorContains(t, err, tt.says)
		})
	}
}

// TestPortTakenAtTheLastMoment runs in a process of its own: a server that is given up half made leaves goroutines.
func TestPortTakenAtTheLastMoment(t *testing.T) {
	t.Parallel()
	if os.Getenv(envGiveUp) == "" {
		command := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+t.Name()+"$", "-test.count=1")
		command.Env = append(os.Environ(), envGiveUp+"=1")
		output, err := command.CombinedOutput()
		require.NoError(t, err, "%s", output)
		return
	}
	taken, err := stack.Listen(t.Context(), "a test", "--none", 0)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, taken.Close()) })
	fatal, err := stack.MakeTemporalOn(taken.Addr().(*net.TCPAddr).Port)
	require.NoError(t, err)
	require.True(t, fatal, "the server would have ended the process")
}
