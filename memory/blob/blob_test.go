package blob_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"image"
	"image/gif"
	"image/jpeg"
	"image/png"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/hermes-orchestrator/hermes/conversation"
	"github.com/hermes-orchestrator/hermes/memory/blob"
	"github.com/hermes-orchestrator/hermes/memory/memorytest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func open(t testing.TB, target string) *blob.Store {
	t.Helper()
	store, err := blob.Open(t.Context(), blob.Config{URL: target, Timeout: memorytest.DownTimeout * 30})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, store.Close()) })
	return store
}

func fileURL(directory string) string {
	return (&url.URL{Scheme: "file", Path: filepath.ToSlash(directory)}).String()
}

// encoded returns a small image in each format.
func encoded(t testing.TB) map[string][]byte {
	t.Helper()
	picture := image.NewGray(image.Rect(0, 0, 4, 4))
	var asPNG, asJPEG, asGIF bytes.Buffer
	require.NoError(t, png.Encode(&asPNG, picture))
	require.NoError(t, jpeg.Encode(&asJPEG, picture, nil))
	require.NoError(t, gif.Encode(&asGIF, picture, nil))
	return map[string][]byte{
		"image/png": asPNG.Bytes(), "image/jpeg": asJPEG.Bytes(), "image/gif": asGIF.Bytes(),
		"image/tiff": []byte("II*\x00rest"), "image/heic": []byte("\x00\x00\x00\x18ftypheicrest"),
		"text/plain": []byte("文字 text"), "application/pdf": []byte("%PDF-1.7 rest"),
	}
}

func TestStore(t *testing.T) {
	t.Parallel()
	directory := filepath.Join(t.TempDir(), "a", "数据 b")
	for name, target := range map[string]string{"File": fileURL(directory), "Memory": "mem://"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			store := open(t, target)
			picture := encoded(t)["image/png"]
			sum := sha256.Sum256(picture)
			hash := hex.EncodeToString(sum[:])
			for range 2 {
				attachment, err := store.Put(t.Context(), "发票.png", "image/png", bytes.NewReader(picture), 0)
				require.NoError(t, err)
				require.Equal(t, conversation.Attachment{
					Name: "发票.png", MediaType: "image/png", URI: "blob:sha256/" + hash, SHA256: hash,
					Size: int64(len(picture)),
				}, attachment)
			}
			got, err := store.Read(t.Context(), hash)
			require.NoError(t, err)
			require.Equal(t, picture, got)

			stored, err := store.PutObject(t.Context(), picture)
			require.NoError(t, err)
			require.Equal(t, hash, stored)
			empty, err := store.PutObject(t.Context(), nil)
			require.NoError(t, err)
			got, err = store.GetObject(t.Context(), empty)
			require.NoError(t, err)
			require.Empty(t, got)

			reader, err := store.Open(t.Context(), hash)
			require.NoError(t, err)
			require.NoError(t, iotest.TestReader(reader, picture))
			require.NoError(t, reader.Close())

			_, err = store.Read(t.Context(), strings.Repeat("0", 64))
			require.Equal(t, conversation.CodeNotFound, conversation.CodeOf(err))
			for _, bad := range []string{"", "..", "../x", strings.ToUpper(hash), hash + "0", strings.Repeat("z", 64)} {
				_, err = store.Read(t.Context(), bad)
				require.Equal(t, conversation.CodeInvalidArgument, conversation.CodeOf(err), "%q", bad)
			}
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			_, err = store.PutObject(ctx, picture)
			require.Equal(t, conversation.CodeMemoryUnavailable, conversation.CodeOf(err), "%v", err)
		})
	}
}

func TestPut_Refuses(t *testing.T) {
	t.Parallel()
	store := open(t, "mem://")
	data := encoded(t)
	const unsupported = conversation.CodeUnsupportedMedia
	tests := []struct {
		name, file, media string
		data              []byte
		max               int64
		want              conversation.Code
		says              string
	}{
		{"empty", "a.png", "image/png", nil, 0, conversation.CodeEmptyUpload, `"a.png" has no bytes`},
		{"one byte too large", "a.bin", "", make([]byte, 11), 10, conversation.CodeTooLarge, "more than 10 bytes"},
		{
			"text declared as image", "a.png", "image/png", data["text/plain"], 0, unsupported,
			`"a.png" is said to be image/png, but its bytes are text/plain`,
		},
		{"text named as image", "a.PNG", "", data["text/plain"], 0, unsupported, "bytes are text/plain"},
		{
			"text named as image, declared as text", "a.png", "text/plain", data["text/plain"], 0, unsupported,
			"named as image/png",
		},
		{"pdf declared as image", "a", "image/jpeg", data["application/pdf"], 0, unsupported, "bytes are application/pdf"},
		{"jpeg declared as png", "a", "image/png", data["image/jpeg"], 0, unsupported, "bytes are image/jpeg"},
		{"image declared as text", "a.txt", "text/plain", data["image/png"], 0, unsupported, "bytes are image/png"},
		{"unknown image kind", "a.svg", "image/svg+xml", []byte("<svg></svg>"), 0, unsupported, "image/svg+xml"},
		{"media type that is none", "a.png", "png;;", data["image/png"], 0, conversation.CodeInvalidArgument, `"png;;"`},
		{"name that is not text", "a\xff.png", "", data["image/png"], 0, conversation.CodeInvalidUTF8, `"a\xff.png"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := store.Put(t.Context(), tt.file, tt.media, bytes.NewReader(tt.data), tt.max)
			require.Equal(t, tt.want, conversation.CodeOf(err), "%v", err)
			require.ErrorContains(t, err, tt.says)
		})
	}
}

func TestPut_Accepts(t *testing.T) {
	t.Parallel()
	store := open(t, "mem://")
	data := encoded(t)
	tests := []struct {
		name, file, media string
		data              []byte
		want              string
	}{
		{"declared", "a.png", "image/png; q=1", data["image/png"], "image/png"},
		{"alias", "a.jpg", "image/jpg", data["image/jpeg"], "image/jpeg"},
		{"undeclared", "a.jpeg", "", data["image/jpeg"], "image/jpeg"},
		{"declared as bytes", "photo", "application/octet-stream", data["image/gif"], "image/gif"},
		{"telephone", "a.heic", "image/heif", data["image/heic"], "image/heic"},
		{"scanner", "a.tif", "image/tiff", data["image/tiff"], "image/tiff"},
		{"document", "a.pdf", "application/pdf", data["application/pdf"], "application/pdf"},
		{"what only the sender knows", "a.csv", "text/csv", data["text/plain"], "text/csv"},
		{"largest allowed", "a.bin", "", make([]byte, 10), "application/octet-stream"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			attachment, err := store.Put(t.Context(), tt.file, tt.media, bytes.NewReader(tt.data), int64(len(tt.data)))
			require.NoError(t, err)
			require.Equal(t, tt.want, attachment.MediaType)
		})
	}
}

func TestPut_Name(t *testing.T) {
	t.Parallel()
	store := open(t, "mem://")
	for give, want := range map[string]string{
		"../../etc/passwd": "passwd", `C:\photos\a.bin`: "a.bin", "": "upload", "..": "upload", "/": "upload",
		"a\x00\nb.bin":                    "ab.bin",
		" 发票 .bin":                        "发票 .bin", //nolint:gocritic // The space is what is tested.
		strings.Repeat("长", 300) + ".bin": strings.Repeat("长", 115) + "….bin",
	} {
		attachment, err := store.Put(t.Context(), give, "", strings.NewReader("x"), 0)
		require.NoError(t, err)
		require.Equal(t, want, attachment.Name)
	}
}

func TestPut_BrokenOff(t *testing.T) {
	t.Parallel()
	store := open(t, "mem://")
	cause := errors.New("connection reset")
	_, err := store.Put(t.Context(), "a", "", io.MultiReader(strings.NewReader("abc"), iotest.ErrReader(cause)), 0)
	require.Equal(t, conversation.CodeInvalidArgument, conversation.CodeOf(err))
	require.ErrorIs(t, err, cause)
	require.ErrorContains(t, err, "after 3 bytes")
}

// Bytes that were changed in the store are never returned as what they were, and storing them again repairs it.
func TestRead_Damaged(t *testing.T) {
	t.Parallel()
	directory := t.TempDir()
	store := open(t, fileURL(directory))
	hash, err := store.PutObject(t.Context(), []byte("flow"))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(directory, "sha256", hash), []byte("fl0w"), 0o600))
	_, err = store.GetObject(t.Context(), hash)
	require.Equal(t, conversation.CodeNotFound, conversation.CodeOf(err))
	require.ErrorContains(t, err, "damaged")
	_, err = store.PutObject(t.Context(), []byte("flow"))
	require.NoError(t, err)
	got, err := store.GetObject(t.Context(), hash)
	require.NoError(t, err)
	require.Equal(t, "flow", string(got))
}

func TestStore_Private(t *testing.T) {
	t.Parallel()
	directory := filepath.Join(t.TempDir(), "blobs")
	store := open(t, fileURL(directory))
	_, err := store.PutObject(t.Context(), []byte("x"))
	require.NoError(t, err)
	info, err := os.Stat(directory)
	require.NoError(t, err)
	require.Zero(t, info.Mode().Perm()&0o077, "the directory is open to others")
	entries, err := os.ReadDir(filepath.Join(directory, "sha256"))
	require.NoError(t, err)
	require.Len(t, entries, 1, "no side files are left")
}

func TestHashOf(t *testing.T) {
	t.Parallel()
	hash := strings.Repeat("ab", 32)
	got, err := blob.HashOf("blob:sha256/" + hash)
	require.NoError(t, err)
	require.Equal(t, hash, got)
	for _, uri := range []string{"", hash, "blob:sha256/", "blob:sha256/../x", "https://host/" + hash} {
		_, err := blob.HashOf(uri)
		require.Equal(t, conversation.CodeInvalidArgument, conversation.CodeOf(err), "%q", uri)
	}
}

// S3 that is not there is told in time, whatever the AWS library would like to try again.
func TestDown_S3(t *testing.T) {
	t.Parallel()
	memorytest.Down(t, func(t *testing.T, address string) map[string]func(context.Context) error {
		store, err := blob.Open(t.Context(), blob.Config{
			URL:     "s3://bucket?region=us-east-1&anonymous=true&use_path_style=true&endpoint=http://" + address,
			Timeout: memorytest.DownTimeout,
		})
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, store.Close()) })
		return map[string]func(context.Context) error{
			"put": func(ctx context.Context) error { _, err := store.PutObject(ctx, []byte("x")); return err },
			"get": func(ctx context.Context) error { _, err := store.GetObject(ctx, strings.Repeat("0", 64)); return err },
		}
	})
}

func TestOpen_InvalidConfig(t *testing.T) {
	t.Parallel()
	for _, target := range []string{"", "/directory", "gs://bucket", "s3://", "file:///dev/null/x"} {
		_, err := blob.Open(t.Context(), blob.Config{URL: target})
		require.Equal(t, conversation.CodeInvalidConfig, conversation.CodeOf(err), "%q: %v", target, err)
	}
}

// FuzzPut gives arbitrary names, types and bytes: no panic, a code for every refusal, and what is accepted comes back.
func FuzzPut(f *testing.F) {
	for media, data := range encoded(f) {
		f.Add("a.png", media, data)
	}
	f.Add("..\\é\xff", ";", []byte("\x00\x00\x00\x18ftyp"))
	store := open(f, "mem://")
	f.Fuzz(func(t *testing.T, name, media string, data []byte) {
		attachment, err := store.Put(t.Context(), name, media, bytes.NewReader(data), 1<<16)
		if err != nil {
			require.NotEqual(t, conversation.CodeInternal, conversation.CodeOf(err))
			return
		}
		require.True(t, utf8.ValidString(attachment.Name))
		require.NotContains(t, attachment.Name, "/")
		require.LessOrEqual(t, utf8.RuneCountInString(attachment.Name), blob.MaxFileNameRunes)
		hash, err := blob.HashOf(attachment.URI)
		require.NoError(t, err)
		got, err := store.Read(t.Context(), hash)
		require.NoError(t, err)
		require.True(t, bytes.Equal(data, got))
	})
}
