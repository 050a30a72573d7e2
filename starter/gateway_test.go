package starter_test

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/hermes-orchestrator/hermes/conversation"
	"github.com/hermes-orchestrator/hermes/starter"
)

func TestBadBodies(t *testing.T) {
	t.Parallel()
	b := setup(t)
	const (
		invalid = conversation.CodeInvalidArgument
		notUTF8 = conversation.CodeInvalidUTF8
	)
	for name, test := range map[string]struct {
		body string
		code conversation.Code
		says string
	}{
		"InvalidUTF8":   {"{\"message_id\":\"m1\",\"text\":\"\xd6\xd0\"}", notUTF8, "byte 27 of the body (0xd6)"},
		"CutRune":       {"{\"text\":\"" + "文"[:2] + "\"}", notUTF8, "byte 9"},
		"LoneSurrogate": {`{"message_id":"m1","text":"\\u0041\ud800"}`, notUTF8, `column 35: \ud800 is half`},
		"OtherHalf":     {`{"text":"\ud83d\ud83d"}`, notUTF8, "column 10"},
		"ThreeMegabyte": {`{"text":"` + strings.Repeat("a", 3<<20) + `"}`, conversation.CodeTooLarge, "upload"},
		"Malformed":     {"{\"text\":\n  \"文\", oops}", invalid, "line 2, column 8"},
		"Unfinished":    {`{"text":"a`, invalid, "line 1"},
		"TwoValues":     {`{"text":"a"} {}`, invalid, "column 14"},
		"NotAnObject":   {`["text"]`, invalid, "["},
		"UnknownField":  {`{"message_id":"m1","txt":"a"}`, invalid, `unknown field "txt"`},
		"WrongType":     {`{"message_id":"m1","text":7}`, invalid, "(line 1:"},
		"FieldTwice":    {`{"text":"a","text":"b"}`, invalid, "duplicate"},
		"BadTime":       {`{"message_id":"m1","text":"a","sent_at":"yesterday"}`, invalid, "(line 1:41)"},
		"Empty":         {"", invalid, "message_id"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			message := b.post(t, "/v1/conversations/s1/messages", test.body).refused(t, test.code)
			require.Contains(t, message, test.says)
			require.True(t, utf8.ValidString(message))
		})
	}
}

func TestNoRoute(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for path, status := range map[string]int{
		"/v2": 404, "/v1/nothing": 404, "/v1/conversations/s1/nothing": 404, "/v1/files": 404, "/favicon.ico": 404,
		"/v1/%ff": 404,
	} {
		got := b.get(t, path)
		require.Equal(t, status, got.status, path)
		require.Contains(t, got.body, `{"error":{"code":"not_found"`, path)
	}
	require.Equal(t, http.StatusMethodNotAllowed, b.do(t, http.MethodDelete, "/v1/conversations", nil).status)
	b.get(t, "/v1/conversations/s%201/snapshot").refused(t, conversation.CodeInvalidArgument)
	got := b.get(t, "/v1/conversations/s1/events/list?since=3")
	require.Contains(t, got.refused(t, conversation.CodeInvalidArgument), `"since"`)
}

func TestOtherOriginsAreRefused(t *testing.T) {
	t.Parallel()
	b := setup(t)
	got := b.post(t, "/v1/conversations", `{"user_id":"u"}`,
		"Origin", "https://evil.example", "Sec-Fetch-Site", "cross-site")
	require.Equal(t, http.StatusForbidden, got.status)
	require.Contains(t, got.body, "evil.example")
}

func TestOperations(t *testing.T) {
	t.Parallel()
	b := setup(t)
	require.Equal(t, http.StatusOK, b.get(t, "/healthz").status)
	require.Equal(t, http.StatusOK, b.get(t, "/readyz").status)
	console := b.get(t, "/")
	require.Contains(t, console.body, "EventSource")
	require.Contains(t, console.header.Get("Content-Security-Policy"), "default-src 'self'")
	require.Contains(t, b.get(t, "/metrics").body,
		`hermes_starter_requests_total{route="/",status="200",transport="http"} 1`)
	b.server.Close()
	b.get(t, "/readyz").refused(t, conversation.CodeUnavailable)
	require.Equal(t, http.StatusOK, b.get(t, "/healthz").status)
}

func TestMissingConfig(t *testing.T) {
	t.Parallel()
	_, err := starter.New(starter.Config{})
	require.Equal(t, conversation.CodeInvalidConfig, conversation.CodeOf(err))
	require.ErrorContains(t, err, "Temporal")
}

// FuzzMessageBody: whatever bytes are posted, the answer is a coded refusal or the conversation gets a valid message.
func FuzzMessageBody(f *testing.F) {
	for _, seed := range []string{
		`{"message_id":"m1","text":"hi"}`, `{"message_id":"m1","choice":"confirm","revision":3}`, `{"text":"\ud800"}`,
		`{"message_id":"m","text":"a","sent_at":"2024-06-03T10:00:00+08:00"}`, `{"message_id":"m","attachments":[{}]}`,
		`{"message_id":"m","text":"a","user_id":"u","locale":"en"}`, "\xff", "", "[]",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		cfg, b := newConfig(t)
		var err error
		b.server, err = starter.New(cfg)
		require.NoError(t, err)
		defer b.server.Close()
		w := httptest.NewRecorder()
		r := httptest.NewRequest(http.MethodPost, "/v1/conversations/s1/messages", bytes.NewReader(body))
		b.server.Handler().ServeHTTP(w, r)
		require.True(t, utf8.Valid(w.Body.Bytes()))
		if w.Code == http.StatusOK {
			require.NoError(t, b.temporal.sent()[0].Validate())
			require.True(t, utf8.Valid(body))
			return
		}
		require.Contains(t, w.Body.String(), `{"error":{"code":"`)
		require.NotEqual(t, http.StatusInternalServerError, w.Code, w.Body.String())
	})
}
