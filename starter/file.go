package starter

import (
	"bytes"
	"context"
	"errors"
	"io"
	"mime"
	"net/http"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/hermes-orchestrator/hermes/conversation"
	hermesv1 "github.com/hermes-orchestrator/hermes/proto/hermes/v1"
)

// sniffBytes is how much of a file tells its type (the most that http.DetectContentType looks at).
const sniffBytes = 512

// bodyTimeout is how long a client may take to send a body.
const bodyTimeout = 2 * time.Minute

// UploadFile stores the bytes of an attachment.
func (s *service) UploadFile(
	ctx context.Context, req *hermesv1.UploadFileRequest,
) (*hermesv1.UploadFileResponse, error) {
	attachment, err := s.store(ctx, req.GetName(), req.GetMediaType(), bytes.NewReader(req.GetData()))
	if err != nil {
		return nil, err
	}
	return &hermesv1.UploadFileResponse{Attachment: attachmentProto(&attachment)}, nil
}

// serveUpload is POST /v1/files?name=: the body is the file, Content-Type its type.
func (s *Server) serveUpload(w http.ResponseWriter, r *http.Request) {
	readBodyWithin(w, bodyTimeout)
	attachment, err := s.store(r.Context(), r.URL.Query().Get("name"), r.Header.Get("Content-Type"), r.Body)
	readBodyWithin(w, 0)
	if err != nil {
		// What is left of a body that is too large is not read: the connection ends instead.
		w.Header().Set("Connection", "close")
		s.writeError(w, r, err)
		return
	}
	s.writeJSON(w, r, http.StatusCreated, attachment)
}

// serveFile is GET /v1/files/{sha256}: the bytes, for tools and for the console.
func (s *Server) serveFile(w http.ResponseWriter, r *http.Request) {
	sum := r.PathValue("sha256")
	content, mediaType, err := s.open(r.Context(), sum)
	if err != nil {
		s.writeError(w, r, err)
		return
	}
	defer func() { _ = content.Close() }() // It was only read.
	header := w.Header()
	header.Set("Content-Type", mediaType)
	header.Set("ETag", `"`+sum+`"`)
	header.Set("Cache-Control", "private, max-age=31536000, immutable") // The name is the hash of the bytes.
	// Whatever a user uploaded must not run in the origin of the console.
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Content-Security-Policy", "default-src 'none'; sandbox")
	if r.Header.Get("If-None-Match") == `"`+sum+`"` {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	if r.Method == http.MethodHead {
		return
	}
	if _, err := io.Copy(w, content); err != nil {
		s.cfg.Logger.WarnContext(r.Context(), "file not sent to its end", "sha256", sum, "error", err)
		//nolint:forbidigo // net/http's way to cut a connection: the client must not take half a file for a whole one.
		panic(http.ErrAbortHandler)
	}
}

// store checks an upload and puts it into Files. What counts is what the bytes are, not what they are said to be.
func (s *Server) store(ctx context.Context, name, declared string, body io.Reader) (conversation.Attachment, error) {
	var none conversation.Attachment
	if !utf8.ValidString(name) {
		return none, conversation.Errorf(conversation.CodeInvalidUTF8, "the name of the upload is not valid UTF-8")
	}
	if strings.HasPrefix(strings.ToLower(declared), "multipart/") {
		return none, conversation.Errorf(conversation.CodeUnsupportedMedia,
			"upload %q is a form: send the bytes of one file as the body (curl --data-binary @file)", name)
	}
	head, mediaType, err := sniff(body)
	switch {
	case err != nil:
		return none, conversation.Errorf(conversation.CodeInvalidArgument,
			"upload %q broke off: %w: send it again", name, err)
	case len(head) == 0:
		return none, conversation.Errorf(conversation.CodeEmptyUpload,
			"upload %q has no bytes: choose another file", name)
	case !slices.Contains(s.cfg.UploadTypes, mediaType):
		return none, conversation.Errorf(conversation.CodeUnsupportedMedia,
			"upload %q is %s (declared as %q), accepted are %s", name, mediaType, declared,
			strings.Join(s.cfg.UploadTypes, ", "))
	}
	return s.cfg.Files.Put(ctx, name, mediaType, io.MultiReader(bytes.NewReader(head), body), MaxUploadBytes)
}

// open returns an upload and its media type. The store may hold other things as well (flows, recollections); whatever
// could not have been uploaded is not found.
func (s *Server) open(ctx context.Context, sum string) (io.ReadCloser, string, error) {
	if !validSum(sum) {
		return nil, "", conversation.Errorf(conversation.CodeInvalidArgument,
			"%q is not a SHA-256 in hex: use the sha256 of an attachment", conversation.Clip(sum, 80))
	}
	content, err := s.cfg.Files.Open(ctx, sum)
	if err != nil {
		if conversation.CodeOf(err) == conversation.CodeNotFound {
			err = noFile(sum)
		}
		return nil, "", err
	}
	head, mediaType, err := sniff(content)
	if err != nil || !slices.Contains(s.cfg.UploadTypes, mediaType) {
		_ = content.Close() // It was only read.
		if err == nil {
			err = noFile(sum)
		}
		return nil, "", err
	}
	return &rest{Reader: io.MultiReader(bytes.NewReader(head), content), Closer: content}, mediaType, nil
}

func noFile(sum string) error {
	return conversation.Errorf(conversation.CodeNotFound, "there is no file %q: upload it first with POST /v1/files", sum)
}

// rest is a file of which the beginning was read and put back.
type rest struct {
	io.Reader
	io.Closer
}

// sniff reads the beginning of r, and tells what it is the beginning of.
func sniff(r io.Reader) (head []byte, mediaType string, err error) {
	head = make([]byte, sniffBytes)
	n, err := io.ReadFull(r, head)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, "", err
	}
	mediaType, _, err = mime.ParseMediaType(http.DetectContentType(head[:n]))
	return head[:n], mediaType, err
}

// readBodyWithin bounds how long the client may take to send the rest of the body; 0 lifts the bound, which must be
// done before anything that waits, or the request would be given up with it.
func readBodyWithin(w http.ResponseWriter, d time.Duration) {
	var deadline time.Time
	if d > 0 {
		deadline = time.Now().Add(d)
	}
	_ = http.NewResponseController(w).SetReadDeadline(deadline) // Test recorders have none.
}
