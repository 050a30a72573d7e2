package server_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/hermes-orchestrator/hermes/conversation"
	"github.com/hermes-orchestrator/hermes/tool"
	"github.com/hermes-orchestrator/hermes/tool/server"
)

// inbox is a receiver of late answers that takes what it is told to.
type inbox struct {
	*httptest.Server
	offered chan reply
}

func newInbox(t *testing.T, status func(attempt int) int) *inbox {
	t.Helper()
	i := &inbox{offered: make(chan reply, 100)}
	var mu sync.Mutex
	attempts := 0
	i.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		mu.Lock()
		attempts++
		code := status(attempts)
		mu.Unlock()
		signed, _ := strconv.Atoi(r.Header.Get(tool.HeaderStatus))
		i.offered <- reply{status: signed, header: r.Header, body: body}
		w.WriteHeader(code)
	}))
	t.Cleanup(i.Close)
	return i
}

func (i *inbox) asked() map[string]string {
	return map[string]string{tool.HeaderPrefer: "respond-async, wait=10", tool.HeaderCallback: i.URL + "/done?x=1"}
}

func TestAsync(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	_, web := start(t, func(ctx context.Context, c *server.Call) (*server.Result, error) {
		<-release
		return echo(ctx, c)
	}, func(c *server.Config) {
		c.Operations[0].Estimate = func(*server.Call) time.Duration { return 1200 * time.Millisecond }
		c.MaxAsync = 1
	})
	box := newInbox(t, func(attempt int) int {
		return map[bool]int{true: 503, false: 204}[attempt < 3]
	})
	accepted := call(t, "POST", web.URL+"/invoke/say", `{"word":"a"}`, box.asked())
	require.Equal(t, 202, accepted.status)
	require.Equal(t, "respond-async", accepted.header.Get("Preference-Applied"))
	body := accepted.answers(t)
	require.Equal(t, conversation.AnswerProcessing, body.Status)
	require.Equal(t, "2s", body.EstimatedTime)

	again := call(t, "POST", web.URL+"/invoke/say", `{"word":"a"}`, box.asked())
	require.Equal(t, 202, again.status, "a repeated request starts nothing")
	headers := box.asked()
	headers[tool.HeaderMessageID] = "m-2"
	busy := call(t, "POST", web.URL+"/invoke/say", `{"word":"a"}`, headers)
	require.Equal(t, 429, busy.status)
	require.Equal(t, server.CodeBusy, busy.fails(t).Error.Code)
	refused := call(t, "POST", web.URL+"/invoke/say", `{}`, box.asked())
	require.Equal(t, 400, refused.status, "wrong arguments are refused at once")

	close(release)
	for range 3 {
		late := <-box.offered
		require.Equal(t, 200, late.status)
		_, err := manifest().Verify(late.header.Values(tool.HeaderSignature), "m-1", 200, late.body)
		require.NoError(t, err)
		require.Equal(t, "m-1", late.header.Get(tool.HeaderMessageID))
		require.JSONEq(t, `{"word":"a"}`, string(late.answers(t).Output))
	}
	require.Empty(t, box.offered, "what was taken is not offered again")
}

func TestAsyncIsTheCallersWish(t *testing.T) {
	t.Parallel()
	_, web := start(t, echo, nil)
	for _, headers := range []map[string]string{
		{tool.HeaderPrefer: "respond-async"},
		{tool.HeaderCallback: "http://x.example"},
		{tool.HeaderPrefer: "respond-async", tool.HeaderCallback: "file:///etc/passwd"},
		{tool.HeaderPrefer: "respond-async", tool.HeaderCallback: "http://"},
	} {
		require.Equal(t, 200, call(t, "POST", web.URL+"/invoke/say", `{"word":"a"}`, headers).status)
	}
}

func TestAsyncFailureIsDelivered(t *testing.T) {
	t.Parallel()
	_, web := start(t, func(ctx context.Context, _ *server.Call) (*server.Result, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	}, nil)
	box := newInbox(t, func(int) int { return 200 })
	headers := box.asked()
	headers[tool.HeaderTimeoutMS] = "20"
	accepted := call(t, "POST", web.URL+"/invoke/say", `{"word":"a"}`, headers)
	require.Equal(t, "30s", accepted.answers(t).EstimatedTime)
	late := <-box.offered
	require.Equal(t, 504, late.status)
	_, err := manifest().Verify(late.header.Values(tool.HeaderSignature), "m-1", 504, late.body)
	require.NoError(t, err)
	require.Equal(t, "timeout", late.fails(t).Error.Code)
}

func TestAsyncGivesUp(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ status, offers int }{
		"attempts used up":      {500, 3},
		"nobody waits any more": {410, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, web := start(t, echo, func(c *server.Config) { c.CallbackAttempts = 3 })
			box := newInbox(t, func(int) int { return tt.status })
			require.Equal(t, 202, call(t, "POST", web.URL+"/invoke/say", `{"word":"a"}`, box.asked()).status)
			for range tt.offers {
				<-box.offered
			}
			s.Close()
			require.Empty(t, box.offered)
		})
	}
}

func TestCloseEndsWhatIsInProgress(t *testing.T) {
	t.Parallel()
	started := make(chan struct{})
	s, web := start(t, func(ctx context.Context, _ *server.Call) (*server.Result, error) {
		close(started)
		<-ctx.Done()
		return nil, ctx.Err()
	}, func(c *server.Config) { c.CallbackBackoff = time.Hour })
	box := newInbox(t, func(int) int { return 500 })
	require.Equal(t, 202, call(t, "POST", web.URL+"/invoke/say", `{"word":"a"}`, box.asked()).status)
	<-started
	s.Close()
	require.Empty(t, box.offered)
	closed := call(t, "POST", web.URL+"/invoke/say", `{"word":"a"}`, box.asked())
	require.Equal(t, 503, closed.status)

	// One that waits to be delivered ends as well.
	s, web = start(t, echo, func(c *server.Config) { c.CallbackBackoff = time.Hour })
	require.Equal(t, 202, call(t, "POST", web.URL+"/invoke/say", `{"word":"a"}`, box.asked()).status)
	<-box.offered
	s.Close()
}
