package main_test

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/hermes-orchestrator/hermes/dev/stack"
)

// programLimit bounds the life of the program in a test. It is a guard against hanging, not an expectation.
const programLimit = 3 * time.Minute

// portFlags are all ports that can be given.
var portFlags = []string{"--http-port", "--grpc-port", "--temporal-port", "--ui-port", "--etcd-port", "--redis-port"}

// freePorts are arguments that leave no port to the defaults, which other programs may have.
func freePorts() []string {
	var args []string
	for _, flag := range portFlags {
		args = append(args, flag, "0")
	}
	return args
}

// build builds the program that is tested.
func build(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "dev")
	output, err := exec.CommandContext(t.Context(), "go", "build", "-o", path, ".").CombinedOutput()
	require.NoError(t, err, "%s", output)
	return path
}

// TestServe starts the program as a user does, looks at what it prints, and ends it with Ctrl-C.
func TestServe(t *testing.T) {
	t.Parallel()
	program := build(t)

	t.Run("until Ctrl-C", func(t *testing.T) {
		t.Parallel()
		ctx, cancel := context.WithTimeout(t.Context(), programLimit)
		defer cancel()
		data := filepath.Join(t.TempDir(), "data")
		command := exec.CommandContext(ctx, program, append(freePorts(), "--data", data)...)
		command.Dir = ".." // The example is found from the root of the repository.
		out, err := command.StdoutPipe()
		require.NoError(t, err)
		command.Stderr = os.Stderr
		require.NoError(t, command.Start())
		var printed []string
		lines := bufio.NewScanner(out)
		for lines.Scan() {
			printed = append(printed, lines.Text())
			if strings.HasPrefix(lines.Text(), "ready in ") {
				break
			}
		}
		table := strings.Join(printed, "\n")
		var urls []string
		for _, name := range []string{"web console", "Temporal Web", "metrics"} {
			found := regexp.MustCompile(name + ` +(http://\S+)`).FindStringSubmatch(table)
			require.NotNil(t, found, "%s is not in:\n%s", name, table)
			urls = append(urls, found[1])
		}
		for _, name := range []string{"gRPC", "Temporal", "etcd", "Redis"} {
			require.Regexp(t, name+` +127\.0\.0\.1:\d+`, table)
		}
		require.Contains(t, table, data)
		for _, url := range urls {
			require.Equal(t, http.StatusOK, status(t, url), url)
		}

		require.NoError(t, command.Process.Signal(os.Interrupt))
		for lines.Scan() { // To the end, so that Wait does not cut it off.
			continue
		}
		require.NoError(t, command.Wait(), "Ctrl-C is a normal end")
		for _, url := range urls {
			address, _, _ := strings.Cut(strings.TrimPrefix(url, "http://"), "/")
			_, err := net.DialTimeout("tcp", address, time.Second)
			require.Error(t, err, "%s is still open", address)
		}
	})

	t.Run("port in use", func(t *testing.T) {
		t.Parallel()
		taken, err := stack.Listen(t.Context(), "a test", "--none", 0)
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, taken.Close()) })
		number := taken.Addr().(*net.TCPAddr).Port
		for _, flag := range portFlags {
			// The last one of a flag goes.
			command := exec.CommandContext(t.Context(), program, append(freePorts(), flag, fmt.Sprint(number))...)
			command.Dir = ".."
			output, err := command.CombinedOutput()
			require.Error(t, err)
			require.Equal(t, 1, command.ProcessState.ExitCode(), "%s", output)
			require.Contains(t, string(output), fmt.Sprintf("port %d is in use", number))
			require.Contains(t, string(output), flag)
		}
	})
}

func status(t *testing.T, url string) int {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	require.NoError(t, err)
	response, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(request)
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
	return response.StatusCode
}
