// Package blob keeps uploads and other content by the SHA-256 of its bytes, in a directory, in S3 or a store that
// speaks its protocol, or in memory. It imports memory and gocloud.dev/blob only.
//
// Content is never changed: the same bytes have the same name whoever stores them, and what is read is checked against
// its name. Histories hold references to it, never bytes.
package blob

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"net/url"
	"time"

	"gocloud.dev/blob"
	_ "gocloud.dev/blob/fileblob" // Registers file://.
	_ "gocloud.dev/blob/memblob"  // Registers mem://.
	_ "gocloud.dev/blob/s3blob"   // Registers s3://.
	"gocloud.dev/gcerrors"

	"github.com/hermes-orchestrator/hermes/conversation"
	"github.com/hermes-orchestrator/hermes/memory"
)

// Defaults of Config.
const (
	DefaultMaxBytes = 20 << 20
	// DefaultTimeout is longer than that of other stores: an upload of DefaultMaxBytes has to get through.
	DefaultTimeout = 30 * time.Second
)

// URIPrefix begins the URI of every attachment; the hex SHA-256 follows.
const URIPrefix = "blob:sha256/"

// Config says where the store is.
type Config struct {
	// URL is "file:///directory" (created for its owner only if it does not exist), "s3://bucket?region=…&endpoint=…" with
	// credentials from the environment as AWS programs take them, or "mem://", which ends with the process.
	URL string
	// MaxBytes is the largest upload where Put is not told another. Defaults to DefaultMaxBytes.
	MaxBytes int64
	// Timeout bounds each operation, reading to the end included. Defaults to DefaultTimeout.
	Timeout time.Duration
}

// Store is a content-addressed blob store. Safe for concurrent use.
type Store struct {
	bucket   *blob.Bucket
	maxBytes int64
	timeout  time.Duration
}

// Open returns a Store. A directory is created, an S3 bucket is not; whether S3 answers shows in the first operation.
func Open(ctx context.Context, cfg Config) (*Store, error) {
	if cfg.MaxBytes <= 0 {
		cfg.MaxBytes = DefaultMaxBytes
	}
	if cfg.Timeout <= 0 {
		cfg.Timeout = DefaultTimeout
	}
	target, err := url.Parse(cfg.URL)
	if err != nil || (target.Scheme != "file" && target.Scheme != "s3" && target.Scheme != "mem") {
		return nil, conversation.Errorf(conversation.CodeInvalidConfig,
			"blob: url %q is none of file:///directory, s3://bucket, mem://", cfg.URL)
	}
	if target.Scheme == "file" {
		query := target.Query()
		query.Set("create_dir", "true")
		query.Set("no_tmp_dir", "true")   // So that a finished file is renamed into place, never copied.
		query.Set("metadata", "skip")     // The name is all there is to know.
		query.Set("dir_file_mode", "448") // 0700: uploads are for nobody else on this machine.
		target.RawQuery = query.Encode()
	}
	bucket, err := blob.OpenBucket(ctx, target.String())
	if err != nil {
		return nil, conversation.Errorf(conversation.CodeInvalidConfig, "blob: url %q cannot be opened: %w", cfg.URL, err)
	}
	return &Store{bucket: bucket, maxBytes: cfg.MaxBytes, timeout: cfg.Timeout}, nil
}

// Close ends the connections. The Store is not usable afterwards.
func (s *Store) Close() error {
	return memory.Unavailable(context.Background(), "blob", "close", s.bucket.Close())
}

// PutObject keeps data and returns the hex SHA-256 of it, by which GetObject finds it. Storing the same again succeeds
// and repairs what may have been damaged.
func (s *Store) PutObject(ctx context.Context, data []byte) (string, error) {
	return s.put(ctx, data, "application/octet-stream")
}

// GetObject returns what PutObject or Put has kept: CodeNotFound if there is no such content, or if what is there is
// not what was stored.
func (s *Store) GetObject(ctx context.Context, hash string) ([]byte, error) {
	reader, err := s.Open(ctx, hash)
	if err != nil {
		return nil, err
	}
	defer reader.Close() // Reading to the end tells what happened.
	return io.ReadAll(reader)
}

// Read is GetObject, named for uploads: it returns the bytes of the attachment with that SHA-256.
func (s *Store) Read(ctx context.Context, hash string) ([]byte, error) { return s.GetObject(ctx, hash) }

// Open returns a reader of the content with that hex SHA-256; close it. At the end it returns an error instead of
// io.EOF if the bytes were not those that were stored: do not act on what was read before.
func (s *Store) Open(ctx context.Context, hash string) (io.ReadCloser, error) {
	if !validHash(hash) {
		return nil, conversation.Errorf(conversation.CodeInvalidArgument,
			"blob: %q is not the SHA-256 of anything: it must have 64 hexadecimal digits in lower case",
			conversation.Clip(hash, 80))
	}
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	source, err := s.bucket.NewReader(ctx, objectKey(hash), nil)
	if err != nil {
		cancel()
		return nil, coded(ctx, "read", hash, err)
	}
	return &reader{ctx: ctx, source: source, cancel: cancel, hash: hash, sum: sha256.New()}, nil
}

func (s *Store) put(ctx context.Context, data []byte, mediaType string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	sum := sha256.Sum256(data)
	hash := hex.EncodeToString(sum[:])
	err := s.bucket.Upload(ctx, objectKey(hash), bytes.NewReader(data), &blob.WriterOptions{ContentType: mediaType})
	if err != nil {
		return "", coded(ctx, "write", hash, err)
	}
	return hash, nil
}

func objectKey(hash string) string { return "sha256/" + hash }

func validHash(hash string) bool {
	decoded, err := hex.DecodeString(hash)
	return err == nil && len(decoded) == sha256.Size && hex.EncodeToString(decoded) == hash
}

func coded(ctx context.Context, operation, hash string, err error) error {
	if gcerrors.Code(err) == gcerrors.NotFound {
		return conversation.Errorf(conversation.CodeNotFound, "blob %s: there is nothing with SHA-256 %q", operation, hash)
	}
	return memory.Unavailable(ctx, "blob", operation, err)
}
