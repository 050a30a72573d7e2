package server_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/hermes-orchestrator/hermes/tool"
	"github.com/hermes-orchestrator/hermes/tool/server"
)

func TestFile(t *testing.T) {
	t.Parallel()
	picture := []byte("picture")
	digest := func(data []byte) string {
		sum := sha256.Sum256(data)
		return hex.EncodeToString(sum[:])
	}
	huge := digest([]byte("huge"))
	swapped := digest([]byte("swapped"))
	broken := digest([]byte("broken"))
	store := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch strings.TrimPrefix(r.URL.Path, "/blobs/") {
		case digest(picture):
			_, _ = w.Write(picture)
		case swapped:
			_, _ = w.Write([]byte("other bytes"))
		case huge:
			// Chunked, so that its length is not told.
			chunk := bytes.Repeat([]byte("x"), 1<<20)
			for range tool.MaxFileBytes>>20 + 1 {
				if _, err := w.Write(chunk); err != nil {
					return
				}
			}
		case broken:
			w.WriteHeader(http.StatusBadGateway)
		default:
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(store.Close)
	_, web := start(t, func(ctx context.Context, c *server.Call) (*server.Result, error) {
		var arguments struct{ Word string }
		if err := c.Decode(&arguments); err != nil {
			return nil, err
		}
		data, err := c.File(ctx, arguments.Word)
		if err != nil {
			return nil, err
		}
		return &server.Result{Output: map[string]string{"word": string(data)}}, nil
	}, nil)
	fetch := func(uri, files string) reply {
		return call(
			t,
			"POST",
			web.URL+"/invoke/say",
			`{"word":"`+uri+`"}`,
			map[string]string{tool.HeaderFiles: files, tool.HeaderTimeoutMS: "30000"},
		)
	}
	files := store.URL + "/blobs/"
	got := fetch("blob:sha256/"+digest(picture), files)
	require.Equal(t, 200, got.status)
	body := got.answers(t)
	require.JSONEq(t, `{"word":"picture"}`, string(body.Output))
	require.EqualValues(t, 1, body.Diagnostics.ExternalCalls.Count)

	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	for name, tt := range map[string]struct {
		uri, files string
		status     int
		code       string
	}{
		"missing":      {"blob:sha256/" + digest([]byte("missing")), files, 404, "not_found"},
		"other bytes":  {"blob:sha256/" + swapped, files, 503, "unavailable"},
		"too large":    {"blob:sha256/" + huge, files, 413, "too_large"},
		"store broken": {"blob:sha256/" + broken, files, 503, "unavailable"},
		"store gone":   {"blob:sha256/" + digest(picture), gone.URL, 503, "unavailable"},
		"no store":     {"blob:sha256/" + digest(picture), "", 400, "invalid_argument"},
		"path":         {"blob:sha256/../../etc/passwd", files, 400, "invalid_argument"},
		"other scheme": {"file:///etc/passwd", files, 400, "invalid_argument"},
		"upper case":   {"blob:sha256/" + strings.ToUpper(digest(picture)), files, 400, "invalid_argument"},
	} {
		got := fetch(tt.uri, tt.files)
		require.Equal(t, tt.status, got.status, name)
		require.Equal(t, tt.code, got.fails(t).Error.Code, name)
	}
}
