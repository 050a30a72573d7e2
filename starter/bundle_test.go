package starter_test

import (
	"bytes"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/hermes-orchestrator/hermes/conversation"
	"github.com/hermes-orchestrator/hermes/memory"
	"github.com/hermes-orchestrator/hermes/memory/blob"
	"github.com/hermes-orchestrator/hermes/memory/redis"
	"github.com/hermes-orchestrator/hermes/starter"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// arrival is the clock of every server under test.
var arrival = time.Date(2024, 6, 3, 9, 30, 0, 0, time.UTC)

// bundle is a server on real stores, with a double of Temporal's client for answers and errors. What needs a real
// cluster is tested in dev/.
type bundle struct {
	server   *starter.Server
	temporal *cluster
	events   *memory.Events
	url      string
}

func setup(t *testing.T, change ...func(*starter.Config)) *bundle {
	t.Helper()
	cfg, b := newConfig(t)
	for _, c := range change {
		c(&cfg)
	}
	var err error
	b.server, err = starter.New(cfg)
	require.NoError(t, err)
	t.Cleanup(b.server.Close)
	web := httptest.NewServer(b.server.Handler())
	t.Cleanup(web.Close)
	t.Cleanup(b.server.Close) // Runs before web.Close, which waits for open streams.
	b.url = web.URL
	return b
}

func newConfig(t *testing.T) (starter.Config, *bundle) {
	t.Helper()
	files, err := blob.Open(t.Context(), blob.Config{URL: "mem://"})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, files.Close()) })
	store, err := redis.Open(redis.Config{Addr: miniredis.RunT(t).Addr()})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, store.Close()) })
	b := &bundle{temporal: newCluster(), events: memory.NewEvents(store, memory.EventsConfig{})}
	return starter.Config{
		Temporal: b.temporal, Files: files, Events: b.events,
		HashUser:   func(userID string) string { return "hash-of-" + userID },
		ListenHTTP: "127.0.0.1:0", ListenGRPC: "127.0.0.1:0",
		Logger: slog.New(slog.DiscardHandler), Now: func() time.Time { return arrival },
		Heartbeat: 50 * time.Millisecond, ShutdownTimeout: 5 * time.Second,
	}, b
}

// answer is an HTTP answer that was read to its end.
type answer struct {
	status int
	header http.Header
	body   string
}

func (a answer) json(t *testing.T) map[string]any {
	t.Helper()
	var body map[string]any
	require.NoError(t, json.Unmarshal([]byte(a.body), &body), a.body)
	return body
}

// refused checks that an answer is the error of that code, and returns its message.
func (a answer) refused(t *testing.T, code conversation.Code) string {
	t.Helper()
	var body struct {
		Error *conversation.Error `json:"error"`
	}
	require.NoError(t, json.Unmarshal([]byte(a.body), &body), a.body)
	require.NotNil(t, body.Error, a.body)
	require.Equal(t, code, body.Error.Code, body.Error.Message)
	require.Equal(t, starter.HTTPStatus(code), a.status)
	require.NotEmpty(t, body.Error.Message)
	return body.Error.Message
}

func (b *bundle) do(t *testing.T, method, path string, body io.Reader, headers ...string) answer {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, b.url+path, body)
	require.NoError(t, err)
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	got, err := http.DefaultTransport.RoundTrip(r)
	require.NoError(t, err)
	defer func() { require.NoError(t, got.Body.Close()) }()
	text, err := io.ReadAll(got.Body)
	require.NoError(t, err)
	return answer{got.StatusCode, got.Header, string(text)}
}

func (b *bundle) get(t *testing.T, path string, headers ...string) answer {
	t.Helper()
	return b.do(t, http.MethodGet, path, nil, headers...)
}

func (b *bundle) post(t *testing.T, path, body string, headers ...string) answer {
	t.Helper()
	return b.do(t, http.MethodPost, path, strings.NewReader(body), headers...)
}

// upload stores a small image and returns its attachment.
func (b *bundle) upload(t *testing.T, name string) conversation.Attachment {
	t.Helper()
	got := b.do(t, http.MethodPost, "/v1/files?name="+name, bytes.NewReader(png), "Content-Type", "image/png")
	require.Equal(t, http.StatusCreated, got.status, got.body)
	var attachment conversation.Attachment
	require.NoError(t, json.Unmarshal([]byte(got.body), &attachment))
	return attachment
}

// png is an image of one pixel.
var png = []byte("\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x01\x00\x00\x00\x01\x08\x00\x00\x00\x00:~\x9bU" +
	"\x00\x00\x00\nIDATx\x9cc`\x00\x00\x00\x02\x00\x01H\xaf\xa4q\x00\x00\x00\x00IEND\xaeB`\x82")

// publish does what a conversation does with a reply.
func (b *bundle) publish(t *testing.T, sessionID string, sequence int64, reply conversation.Reply) {
	t.Helper()
	data, err := json.Marshal(reply)
	require.NoError(t, err)
	require.NoError(t, b.events.Publish(t.Context(), sessionID, sequence, data))
}
