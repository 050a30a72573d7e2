package stack_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.temporal.io/api/workflowservice/v1"
	"go.uber.org/zap"

	"github.com/hermes-orchestrator/hermes/conversation"
	"github.com/hermes-orchestrator/hermes/dev/stack"
)

// startLimit is generous: the start takes a fraction of a second, but tests share two cores.
const startLimit = time.Minute

// start starts a stack that is closed when the test ends.
func start(t *testing.T, options stack.Options) *stack.Stack {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), startLimit)
	defer cancel()
	s, err := stack.Start(ctx, options)
	require.NoError(t, err)
	t.Logf("started in %s", s.Took())
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return s
}

func TestWorkflowRuns(t *testing.T) {
	t.Parallel()
	s := start(t, stack.Options{Temporal: true, UI: true})
	c, _ := connect(t, s)
	run := begin(t, c, "conversation/1")
	require.Equal(t, "you said S2", say(t, c, run.GetID(), "S2"))

	t.Run("search attribute finds it", func(t *testing.T) {
		require.Eventually(t, func() bool {
			found, err := c.ListWorkflow(t.Context(), &workflowservice.ListWorkflowExecutionsRequest{
				Query: conversation.AttributeState + " = 'S2'",
			})
			require.NoError(t, err)
			return len(found.GetExecutions()) == 1
		}, startLimit, 5*time.Millisecond)
	})
	t.Run("Temporal Web serves its page and its data", func(t *testing.T) {
		status, page := get(t, s.WorkflowURL(run.GetID(), run.GetRunID(), stack.PageHistory))
		require.Equal(t, http.StatusOK, status)
		require.Contains(t, page, "_app/")
		status, data := get(t, s.UIURL()+"/api/v1/namespaces/"+stack.Namespace+"/workflows/conversation%2F1")
		require.Equal(t, http.StatusOK, status, data)
		require.Contains(t, data, conversation.AttributeState)
		status, _ = get(t, s.UIURL()+"/api/v1/settings")
		require.Equal(t, http.StatusOK, status)
	})

	require.NoError(t, c.SignalWorkflow(t.Context(), run.GetID(), "", "end", nil))
	var said int
	require.NoError(t, run.Get(t.Context(), &said))
	require.Equal(t, 1, said)
}

func TestRestartKeepsState(t *testing.T) {
	t.Parallel()
	// A name that a careless URL would cut short.
	dir := filepath.Join(t.TempDir(), "数据 50%?#1")
	options := stack.Options{DataDir: dir, Temporal: true}

	first := start(t, options)
	c, stop := connect(t, first)
	run := begin(t, c, "conversation/restart")
	say(t, c, run.GetID(), "S1")
	put(t, first, "pref:u1:language", "zh")
	stop()
	require.NoError(t, first.Close())

	second := start(t, options)
	c, _ = connect(t, second)
	require.Equal(t, "you said S2", say(t, c, run.GetID(), "S2"))
	require.Equal(t, "zh", lookup(t, second, "pref:u1:language"))
	require.NoError(t, c.SignalWorkflow(t.Context(), run.GetID(), "", "end", nil))
	var said int
	require.NoError(t, c.GetWorkflow(t.Context(), run.GetID(), "").Get(t.Context(), &said))
	require.Equal(t, 2, said)
}

func TestInterruptedFirstStart(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "temporal.db.new"), []byte("half a database"), 0o600))
	s := start(t, stack.Options{DataDir: dir, Temporal: true})
	require.NotEmpty(t, s.TemporalAddress())
}

func TestStacksDoNotMeet(t *testing.T) {
	t.Parallel()
	for i := range 3 {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			s := start(t, stack.Options{Temporal: true})
			put(t, s, "number", fmt.Sprint(i))
			c, _ := connect(t, s)
			run := begin(t, c, "same id")
			say(t, c, run.GetID(), fmt.Sprint(i))
			require.Equal(t, fmt.Sprint(i), lookup(t, s, "number"))
			described, err := c.DescribeWorkflow(t.Context(), run.GetID(), "")
			require.NoError(t, err)
			require.Equal(t, run.GetRunID(), described.WorkflowExecution.RunID)
		})
	}
}

func TestCloseLeavesNothing(t *testing.T) {
	t.Parallel()
	s := start(t, stack.Options{Temporal: true, UI: true})
	dir := s.DataDir()
	require.DirExists(t, dir)
	addresses := append(s.EtcdEndpoints(), s.TemporalAddress(), s.RedisAddress(), strings.TrimPrefix(s.UIURL(), "http://"))
	require.NoError(t, s.Close())
	require.NoError(t, s.Close(), "a second time")
	require.NoDirExists(t, dir)
	for _, address := range addresses {
		_, err := net.DialTimeout("tcp", address, time.Second)
		require.Error(t, err, address)
	}
	for _, file := range openFiles(t) {
		require.NotContains(t, file, dir)
	}
}

func TestKeysExpire(t *testing.T) {
	t.Parallel()
	s := start(t, stack.Options{})
	c := redis.NewClient(&redis.Options{Addr: s.RedisAddress()})
	t.Cleanup(func() { require.NoError(t, c.Close()) })
	require.NoError(t, c.Set(t.Context(), "short", 1, 20*time.Millisecond).Err())
	require.NoError(t, c.Set(t.Context(), "long", 1, time.Hour).Err())
	require.Eventually(t, func() bool { return c.Exists(t.Context(), "short").Val() == 0 }, startLimit, 5*time.Millisecond)
	require.EqualValues(t, 1, c.Exists(t.Context(), "long").Val())
}

func TestAddresses(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := start(t, stack.Options{DataDir: dir, RedisAddress: "redis.example:6379", Neo4jURL: "neo4j://graph.example:7687"})
	require.Equal(t, dir, s.DataDir())
	require.Equal(t, "file://"+dir+"/blobs", s.BlobURL())
	require.DirExists(t, filepath.Join(dir, "blobs"))
	require.Equal(t, "redis.example:6379", s.RedisAddress())
	require.Equal(t, "neo4j://graph.example:7687", s.GraphURL())
	require.Empty(t, s.TemporalAddress())
	require.Empty(t, s.UIURL())
	_, err := s.Client(t.Context())
	require.Equal(t, conversation.CodeUnavailable, conversation.CodeOf(err))

	s = start(t, stack.Options{})
	require.Equal(t, "sqlite:"+s.DataDir()+"/graph.db", s.GraphURL())
}

func get(t *testing.T, url string) (status int, body string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	require.NoError(t, err)
	transport := &http.Transport{DisableKeepAlives: true}
	response, err := (&http.Client{Transport: transport}).Do(request)
	require.NoError(t, err)
	defer response.Body.Close()
	data, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	return response.StatusCode, string(data)
}

func dialEtcd(t *testing.T, s *stack.Stack) *clientv3.Client {
	t.Helper()
	c, err := clientv3.New(clientv3.Config{Endpoints: s.EtcdEndpoints(), Logger: zap.NewNop()})
	require.NoError(t, err)
	return c
}

func put(t *testing.T, s *stack.Stack, key, value string) {
	t.Helper()
	c := dialEtcd(t, s)
	defer c.Close()
	_, err := c.Put(t.Context(), key, value)
	require.NoError(t, err)
}

func lookup(t *testing.T, s *stack.Stack, key string) string {
	t.Helper()
	c := dialEtcd(t, s)
	defer c.Close()
	found, err := c.Get(t.Context(), key)
	require.NoError(t, err)
	require.Len(t, found.Kvs, 1)
	return string(found.Kvs[0].Value)
}

// openFiles lists what the process has open, on systems that tell.
func openFiles(t *testing.T) []string {
	t.Helper()
	if runtime.GOOS != "linux" {
		return nil
	}
	entries, err := os.ReadDir("/proc/self/fd")
	require.NoError(t, err)
	var names []string
	for _, entry := range entries {
		// A descriptor may be gone by now, for example that of the listing.
		if name, err := os.Readlink(filepath.Join("/proc/self/fd", entry.Name())); err == nil {
			names = append(names, name)
		}
	}
	return names
}
