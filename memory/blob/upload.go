package blob

import (
	"context"
	"errors"
	"io"
	"path"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/hermes-orchestrator/hermes/conversation"
)

// MaxFileNameRunes bounds the name that an attachment is shown under; longer ones are clipped.
const MaxFileNameRunes = 120

// Put keeps an upload and returns the reference that messages carry. MaxBytes bounds it (0: the store's own limit).
//
//   - No bytes: CodeEmptyUpload.
//   - More than maxBytes: CodeTooLarge; no more than that is read.
//   - Said to be an image, by media type or by the name's extension, but the bytes are not an image of that kind; or
//     the bytes are an image that is said to be something else: CodeUnsupportedMedia. Which kinds a flow accepts is the
//     flow's to say.
//   - The name is not UTF-8: CodeInvalidUTF8. Directories and control characters are cut from it.
//
// An empty mediaType, or application/octet-stream, is replaced by what the bytes are. An error of r comes back wrapped
// in CodeInvalidArgument: the upload broke off.
func (s *Store) Put(
	ctx context.Context, name, mediaType string, r io.Reader, maxBytes int64,
) (conversation.Attachment, error) {
	if maxBytes <= 0 {
		maxBytes = s.maxBytes
	}
	name, err := cleanName(name)
	if err != nil {
		return conversation.Attachment{}, err
	}
	data, err := io.ReadAll(io.LimitReader(r, maxBytes+1))
	if err != nil {
		if _, ok := errors.AsType[*conversation.Error](err); ok {
			return conversation.Attachment{}, err
		}
		return conversation.Attachment{}, conversation.Errorf(conversation.CodeInvalidArgument,
			"upload %q broke off after %d bytes: %w", name, len(data), err)
	}
	switch size := int64(len(data)); {
	case size == 0:
		return conversation.Attachment{}, conversation.Errorf(conversation.CodeEmptyUpload,
			"upload %q has no bytes: choose the file again", name)
	case size > maxBytes:
		return conversation.Attachment{}, conversation.Errorf(conversation.CodeTooLarge,
			"upload %q has more than %d bytes, which is the limit: send a smaller file", name, maxBytes)
	}
	mediaType, err = checkMedia(name, mediaType, data)
	if err != nil {
		return conversation.Attachment{}, err
	}
	hash, err := s.put(ctx, data, mediaType)
	if err != nil {
		return conversation.Attachment{}, err
	}
	return conversation.Attachment{
		Name: name, MediaType: mediaType, URI: URIPrefix + hash, SHA256: hash, Size: int64(len(data)),
	}, nil
}

// HashOf returns the SHA-256 in the URI of an attachment.
func HashOf(uri string) (string, error) {
	hash, ok := strings.CutPrefix(uri, URIPrefix)
	if !ok || !validHash(hash) {
		return "", conversation.Errorf(conversation.CodeInvalidArgument,
			"uri %q is not of the form %s<64 hexadecimal digits>", conversation.Clip(uri, 120), URIPrefix)
	}
	return hash, nil
}

// cleanName keeps the last element of a name, whatever system it comes from.
func cleanName(name string) (string, error) {
	if !utf8.ValidString(name) {
		return "", conversation.Errorf(conversation.CodeInvalidUTF8, "upload name %q is not valid UTF-8", name)
	}
	name = strings.Map(func(r rune) rune {
		switch {
		case r == '\\':
			return '/'
		case unicode.IsControl(r):
			return -1
		}
		return r
	}, name)
	name = strings.TrimSpace(path.Base("/" + name))
	if name == "/" || name == "." || name == ".." || name == "" {
		name = "upload"
	}
	// The extension says what it is, so clip before it.
	if extension := path.Ext(name); utf8.RuneCountInString(name) > MaxFileNameRunes &&
		utf8.RuneCountInString(extension) < 16 {
		stem := strings.TrimSuffix(name, extension)
		return conversation.Clip(stem, MaxFileNameRunes-utf8.RuneCountInString(extension)) + extension, nil
	}
	return conversation.Clip(name, MaxFileNameRunes), nil
}
