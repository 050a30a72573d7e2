package starter_test

import (
	"bufio"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/hermes-orchestrator/hermes/conversation"
)

// stream opens an event stream and returns a function that reads its next line that is not empty.
func (b *bundle) stream(t *testing.T, path string, headers ...string) (next func() (string, bool)) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, b.url+path, nil)
	require.NoError(t, err)
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	got, err := http.DefaultTransport.RoundTrip(r)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, got.Body.Close()) })
	require.Equal(t, http.StatusOK, got.StatusCode)
	require.Equal(t, "text/event-stream; charset=utf-8", got.Header.Get("Content-Type"))
	lines := bufio.NewScanner(got.Body)
	return func() (string, bool) {
		for lines.Scan() {
			if lines.Text() != "" {
				return lines.Text(), true
			}
		}
		return "", false
	}
}

// event reads up to the next event and returns its id and data.
func event(t *testing.T, next func() (string, bool)) (id, data string) {
	t.Helper()
	for {
		line, ok := next()
		require.True(t, ok, "the stream ended")
		if rest, found := strings.CutPrefix(line, "id: "); found {
			id = rest
		}
		if rest, found := strings.CutPrefix(line, "data: "); found {
			return id, rest
		}
	}
}

// drain reads a stream to its end.
func drain(next func() (string, bool)) {
	for ok := true; ok; {
		_, ok = next()
	}
}

func TestEventStream(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.temporal.add("s1", "", running)
	b.publish(t, "s1", 1, conversation.Reply{Text: "一"})
	b.publish(t, "s1", 2, conversation.Reply{Text: "二"})

	next := b.stream(t, "/v1/conversations/s1/events")
	id, data := event(t, next)
	require.Equal(t, "1", id)
	require.Contains(t, data, `"text":"一"`)
	id, _ = event(t, next)
	require.Equal(t, "2", id)
	for line, ok := next(); line != ": heartbeat"; line, ok = next() {
		require.True(t, ok)
	}
	b.publish(t, "s1", 3, conversation.Reply{Text: "三"})
	id, _ = event(t, next)
	require.Equal(t, "3", id)

	// A browser that comes back says what it saw last; the address it opened first is older.
	id, _ = event(t, b.stream(t, "/v1/conversations/s1/events?after=1", "Last-Event-ID", "2"))
	require.Equal(t, "3", id)
	id, _ = event(t, b.stream(t, "/v1/conversations/s1/events?after=1"))
	require.Equal(t, "2", id)

	b.server.Close()
	drain(next)
}

func TestEventStreamRefused(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.get(t, "/v1/conversations/s1/events").refused(t, conversation.CodeNotFound)
	b.get(t, "/v1/conversations/s1/events?after=x").refused(t, conversation.CodeInvalidArgument)
	b.get(t, "/v1/conversations/s1/events", "Last-Event-ID", "-1").refused(t, conversation.CodeInvalidArgument)
	b.get(t, "/v1/conversations/s%201/events").refused(t, conversation.CodeInvalidArgument)
}

func TestListEvents(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for sequence := range int64(3) {
		b.publish(t, "s1", sequence+1, conversation.Reply{Text: "x", Revision: sequence})
	}
	events, ok := b.get(t, "/v1/conversations/s1/events/list?after=1&page_size=1").json(t)["events"].([]any)
	require.True(t, ok)
	require.Equal(t, []any{map[string]any{"sequence": "2", "reply": map[string]any{"text": "x", "revision": 1.0}}}, events)
	b.get(t, "/v1/conversations/s1/events/list?page_size=-1").refused(t, conversation.CodeInvalidArgument)
	b.get(t, "/v1/conversations/s2/events/list").refused(t, conversation.CodeNotFound)
}
