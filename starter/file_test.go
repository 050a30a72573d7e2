package starter_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"

	"github.com/hermes-orchestrator/hermes/conversation"
	"github.com/hermes-orchestrator/hermes/memory/blob"
	"github.com/hermes-orchestrator/hermes/starter"
)

func TestUpload(t *testing.T) {
	t.Parallel()
	b := setup(t)
	sum := sha256.Sum256(png)
	digest := hex.EncodeToString(sum[:])

	attachment := b.upload(t, "%E5%8F%91%E7%A5%A8.png")
	require.Equal(t, conversation.Attachment{
		Name: "发票.png", MediaType: "image/png", URI: "blob:sha256/" + digest, SHA256: digest, Size: int64(len(png)),
	}, attachment)

	got := b.get(t, "/v1/files/"+digest)
	require.Equal(t, string(png), got.body)
	require.Equal(t, "image/png", got.header.Get("Content-Type"))
	require.Equal(t, "nosniff", got.header.Get("X-Content-Type-Options"))
	require.Equal(t, http.StatusNotModified, b.get(t, "/v1/files/"+digest, "If-None-Match", got.header.Get("ETag")).status)
	require.Equal(t, http.StatusOK, b.do(t, http.MethodHead, "/v1/files/"+digest, nil).status)
	b.get(t, "/v1/files/"+strings.Repeat("0", 64)).refused(t, conversation.CodeNotFound)
	b.get(t, "/v1/files/..%2f..%2fetc").refused(t, conversation.CodeInvalidArgument)
}

func TestUploadRefused(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.post(t, "/v1/files?name=a.png", "", "Content-Type", "image/png").refused(t, conversation.CodeEmptyUpload)
	got := b.post(t, "/v1/files?name=a.png", "%PDF-1.7 …", "Content-Type", "image/png")
	require.Contains(t, got.refused(t, conversation.CodeUnsupportedMedia), "application/pdf")
	got = b.post(t, "/v1/files?name=a.html", "<html><script>", "Content-Type", "text/html")
	got.refused(t, conversation.CodeUnsupportedMedia)
	got = b.post(t, "/v1/files", "--x\r\n", "Content-Type", "multipart/form-data; boundary=x")
	require.Contains(t, got.refused(t, conversation.CodeUnsupportedMedia), "--data-binary")
	b.post(t, "/v1/files?name=%ff", string(png)).refused(t, conversation.CodeInvalidUTF8)

	large := io.MultiReader(bytes.NewReader(png), io.LimitReader(zeros{}, starter.MaxUploadBytes))
	b.do(t, http.MethodPost, "/v1/files?name=a.png", large).refused(t, conversation.CodeTooLarge)

	broken := io.MultiReader(bytes.NewReader(png[:10]), iotest.ErrReader(errors.New("gone")))
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, b.url+"/v1/files", broken)
	require.NoError(t, err)
	_, err = http.DefaultTransport.RoundTrip(r) //nolint:bodyclose // There is none.
	require.Error(t, err)
	sum := sha256.Sum256(png[:10])
	b.get(t, "/v1/files/"+hex.EncodeToString(sum[:])).refused(t, conversation.CodeNotFound)
}

// TestOtherContentIsNotServed: the store holds flows and recollections as well, under hashes of their own.
func TestOtherContentIsNotServed(t *testing.T) {
	t.Parallel()
	var digest string
	b := setup(t, func(c *starter.Config) {
		files, ok := c.Files.(*blob.Store)
		require.True(t, ok)
		var err error
		digest, err = files.PutObject(t.Context(), []byte(`{"preferences":{}}`))
		require.NoError(t, err)
	})
	b.get(t, "/v1/files/"+digest).refused(t, conversation.CodeNotFound)
	b.post(t, "/v1/conversations/s1/messages", `{"message_id":"m1","attachments":[{"sha256":"`+digest+`"}]}`).
		refused(t, conversation.CodeNotFound)
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}
