package fault_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/hermes-orchestrator/hermes/dev/fault"
)

func start(t *testing.T, handler http.Handler) *url.URL {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	u, err := url.Parse(server.URL)
	require.NoError(t, err)
	return u
}

// setup puts a proxy before a tool that answers with a signature and echoes what it was asked.
func setup(t *testing.T, rules ...fault.Rule) (*fault.Proxy, string) {
	t.Helper()
	mux := http.NewServeMux()
	mux.HandleFunc("/tool/health", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `{"status":"ok","latency_ms":3,"success_rate":1}`)
	})
	mux.HandleFunc("/tool/invoke/", func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		w.Header().Set("X-Verification-Signature", "sig")
		w.Header().Set("X-Callback-Seen", r.Header.Get("X-Hermes-Callback"))
		_, _ = w.Write(body)
	})
	proxy := fault.New(start(t, mux).JoinPath("tool"))
	proxy.Set(rules)
	return proxy, start(t, proxy).String()
}

type answer struct {
	status int
	header http.Header
	body   string
}

func call(t *testing.T, base, operation, body string) (answer, error) {
	t.Helper()
	request, err := http.NewRequest(http.MethodPost, base+"/invoke/"+operation, strings.NewReader(body))
	require.NoError(t, err)
	request.Header.Set("X-Hermes-Callback", "http://example.invalid/")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return answer{}, err
	}
	defer func() { _ = response.Body.Close() }()
	data, err := io.ReadAll(response.Body)
	return answer{status: response.StatusCode, header: response.Header, body: string(data)}, err
}

func TestPassesThroughWithoutRules(t *testing.T) {
	t.Parallel()
	proxy, base := setup(t)
	got, err := call(t, base, "read", `{"a":1}`)
	require.NoError(t, err)
	require.Equal(t, `{"a":1}`, got.body)
	require.Equal(t, "sig", got.header.Get("X-Verification-Signature"))
	require.Equal(t, 1, proxy.Calls("read"))
}

func TestRules(t *testing.T) {
	t.Parallel()
	t.Run("down", func(t *testing.T) {
		t.Parallel()
		_, base := setup(t, fault.Rule{Kind: fault.Down})
		_, err := call(t, base, "read", `{}`)
		require.Error(t, err)
	})
	t.Run("status after one call, once", func(t *testing.T) {
		t.Parallel()
		_, base := setup(t, fault.Rule{Kind: fault.Status, Status: 503, After: 1, Times: 1})
		for _, want := range []int{200, 503, 200} {
			got, err := call(t, base, "read", `{}`)
			require.NoError(t, err)
			require.Equal(t, want, got.status)
		}
	})
	t.Run("forge", func(t *testing.T) {
		t.Parallel()
		_, base := setup(t, fault.Rule{Kind: fault.Forge})
		got, err := call(t, base, "read", `{"amount":"125000.00"}`)
		require.NoError(t, err)
		require.NotEqual(t, `{"amount":"125000.00"}`, got.body)
		require.Len(t, got.body, len(`{"amount":"125000.00"}`))
	})
	t.Run("replay", func(t *testing.T) {
		t.Parallel()
		proxy, base := setup(t)
		_, err := call(t, base, "read", `{"n":1}`)
		require.NoError(t, err)
		proxy.Set([]fault.Rule{{Kind: fault.Replay}})
		got, err := call(t, base, "read", `{"n":2}`)
		require.NoError(t, err)
		require.Equal(t, `{"n":1}`, got.body)
	})
	t.Run("unsigned, one operation only", func(t *testing.T) {
		t.Parallel()
		_, base := setup(t, fault.Rule{Kind: fault.Unsigned, Operation: "write"})
		got, err := call(t, base, "write", `{}`)
		require.NoError(t, err)
		require.Empty(t, got.header.Get("X-Verification-Signature"))
		got, err = call(t, base, "read", `{}`)
		require.NoError(t, err)
		require.NotEmpty(t, got.header.Get("X-Verification-Signature"))
	})
	t.Run("lost callback", func(t *testing.T) {
		t.Parallel()
		_, base := setup(t, fault.Rule{Kind: fault.Lost})
		got, err := call(t, base, "read", `{}`)
		require.NoError(t, err)
		require.Equal(t, "http://127.0.0.1:1/", got.header.Get("X-Callback-Seen"))
	})
	t.Run("health", func(t *testing.T) {
		t.Parallel()
		_, base := setup(t, fault.Rule{Kind: fault.Health, LatencyMS: 1200, SuccessRate: 0.98})
		response, err := http.Get(base + "/health")
		require.NoError(t, err)
		defer func() { _ = response.Body.Close() }()
		body, err := io.ReadAll(response.Body)
		require.NoError(t, err)
		require.JSONEq(t, `{"status":"ok","latency_ms":1200,"success_rate":0.98}`, string(body))
	})
}
