package blob

import (
	"context"
	"encoding/hex"
	"errors"
	"hash"
	"io"

	"github.com/hermes-orchestrator/hermes/conversation"
	"github.com/hermes-orchestrator/hermes/memory"
)

// reader hashes what passes through and compares at the end.
type reader struct {
	ctx    context.Context //nolint:containedctx // It is that of the source, for as long as the reader is open.
	source io.ReadCloser
	cancel context.CancelFunc
	hash   string
	sum    hash.Hash
}

func (r *reader) Read(p []byte) (int, error) {
	n, err := r.source.Read(p)
	_, _ = r.sum.Write(p[:n]) // A hash never fails.
	if errors.Is(err, io.EOF) {
		if got := hex.EncodeToString(r.sum.Sum(nil)); got != r.hash {
			return n, conversation.Errorf(conversation.CodeNotFound,
				"blob read: the content kept as SHA-256 %q is damaged (it has %q now): upload it again", r.hash, got)
		}
		return n, io.EOF
	}
	if err != nil {
		return n, coded(r.ctx, "read", r.hash, err)
	}
	return n, nil
}

func (r *reader) Close() error {
	defer r.cancel()
	return memory.Unavailable(context.Background(), "blob", "close", r.source.Close())
}
