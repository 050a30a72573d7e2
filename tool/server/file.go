package server

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"net/http"
	"strings"

	"github.com/hermes-orchestrator/hermes/tool"
)

const uriPrefix = "blob:sha256/"

// File returns the bytes of an upload, given its uri ("blob:sha256/<hex>"). The bytes are checked against that SHA-256,
// so wherever they come from, they are the ones that the user sent. At most tool.MaxFileBytes are read. Errors are
// failures that an operation can return as they are; it should rather report a single unreadable file in its output.
func (c *Call) File(ctx context.Context, uri string) ([]byte, error) {
	digest, ok := strings.CutPrefix(uri, uriPrefix)
	if sum, err := hex.DecodeString(digest); !ok || err != nil || len(sum) != sha256.Size ||
		digest != strings.ToLower(digest) {
		return nil, fail(http.StatusBadRequest, CodeInvalidArgument, false, "uri %q is not of the form %q", uri,
			uriPrefix+"<64 hex digits>")
	}
	if c.files == "" {
		return nil, fail(http.StatusBadRequest, CodeInvalidArgument, false,
			"file %q cannot be fetched: the call has no header %s", uri, tool.HeaderFiles)
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimRight(c.files, "/")+"/"+digest, nil)
	if err != nil {
		return nil, fail(http.StatusBadRequest, CodeInvalidArgument, false,
			"file %q cannot be fetched: header %s is not a URL", uri, tool.HeaderFiles)
	}
	start := c.now()
	status, data, err := fetch(c.client, request)
	c.External(c.now().Sub(start))
	switch {
	case ctx.Err() != nil:
		return nil, fail(http.StatusGatewayTimeout, CodeTimeout, true,
			"file %q did not arrive within the time limit of the call", uri)
	case errors.Is(err, errFileTooLarge):
		return nil, fail(http.StatusRequestEntityTooLarge, CodeTooLarge, false, "file %q has more than %d bytes", uri,
			tool.MaxFileBytes)
	case err != nil:
		return nil, fail(http.StatusServiceUnavailable, CodeUnavailable, true,
			"file %q cannot be fetched: its store does not answer", uri)
	case status == http.StatusNotFound:
		return nil, fail(http.StatusNotFound, CodeNotFound, false, "file %q is not in the store", uri)
	case status != http.StatusOK:
		return nil, fail(http.StatusServiceUnavailable, CodeUnavailable, true,
			"file %q cannot be fetched: its store answers with status %d", uri, status)
	}
	if sum := sha256.Sum256(data); hex.EncodeToString(sum[:]) != digest {
		return nil, fail(http.StatusServiceUnavailable, CodeUnavailable, true,
			"file %q arrived with other bytes than its SHA-256 says", uri)
	}
	return data, nil
}

var errFileTooLarge = errors.New("file too large")

func fetch(client *http.Client, request *http.Request) (int, []byte, error) {
	response, err := client.Do(request)
	if err != nil {
		return 0, nil, err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return response.StatusCode, nil, nil
	}
	if response.ContentLength > tool.MaxFileBytes {
		return response.StatusCode, nil, errFileTooLarge
	}
	data, err := io.ReadAll(io.LimitReader(response.Body, tool.MaxFileBytes+1))
	if err == nil && len(data) > tool.MaxFileBytes {
		err = errFileTooLarge
	}
	return response.StatusCode, data, err
}
