package memory

import (
	"fmt"
	"net/url"
	"strings"
	"unicode/utf8"

	"github.com/hermes-orchestrator/hermes/conversation"
)

// Limits of the parts of a key, in bytes before escaping.
const (
	MaxUserIDLen = 256
	MaxNameLen   = 256
)

// Key joins parts with ':' after escaping each, so that different parts never give the same key and no part can reach
// into the keys of another: what separates (':', '/'), what Redis Cluster reads as a hash tag ('{', '}'), what escapes
// ('%') and what does not print becomes %XX. Other text, Chinese included, stays readable for operators.
func Key(parts ...string) string {
	var b strings.Builder
	for i, part := range parts {
		if i > 0 {
			b.WriteByte(':')
		}
		escapeTo(&b, part)
	}
	return b.String()
}

// SplitKey returns the parts that Key was given.
func SplitKey(key string) ([]string, error) {
	parts := strings.Split(key, ":")
	for i, part := range parts {
		plain, err := url.PathUnescape(part)
		if err != nil {
			return nil, conversation.Errorf(conversation.CodeInvalidArgument,
				"key part %d is not escaped as memory.Key does: %w", i, err)
		}
		parts[i] = plain
	}
	return parts, nil
}

// prefix is the common beginning of all keys that have these parts and at least one more.
func prefix(parts ...string) string { return Key(parts...) + ":" }

func escapeTo(b *strings.Builder, part string) {
	for i := range len(part) {
		switch c := part[i]; {
		case c <= ' ', c == 0x7f, strings.IndexByte("%:/{}", c) >= 0:
			fmt.Fprintf(b, "%%%02X", c)
		default:
			b.WriteByte(c)
		}
	}
}

// checkUser refuses user ids that could not be stored faithfully. It does not repeat the id: messages reach logs.
func checkUser(userID string) error {
	return checkPart("user id", userID, MaxUserIDLen, false)
}

// checkPart refuses a text that cannot be part of a key. With show its message repeats the text.
//
//nolint:unparam // That the limits are equal today is nothing to build on.
func checkPart(what, text string, limit int, show bool) error {
	shown := ""
	if show {
		shown = fmt.Sprintf(" %q", conversation.Clip(text, 64))
	}
	switch {
	case text == "":
		return conversation.Errorf(conversation.CodeInvalidArgument, "%s is empty", what)
	case len(text) > limit:
		return conversation.Errorf(conversation.CodeTooLarge,
			"%s%s has %d bytes, at most %d are allowed", what, shown, len(text), limit)
	case !utf8.ValidString(text):
		return conversation.Errorf(conversation.CodeInvalidUTF8, "%s%s is not valid UTF-8", what, shown)
	}
	return nil
}
