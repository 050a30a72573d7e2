package starter

import (
	"bytes"
	"encoding/json"
	"errors"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/hermes-orchestrator/hermes/conversation"
)

// checkBody refuses what is not UTF-8 or not one JSON value, and says where. Decoders differ in both: some replace what
// is not UTF-8, some stop reading after the first value.
func checkBody(body []byte) error {
	for i := 0; i < len(body); {
		r, size := utf8.DecodeRune(body[i:])
		if r == utf8.RuneError && size == 1 {
			return conversation.Errorf(conversation.CodeInvalidUTF8,
				"byte %d of the body (%#02x) is not UTF-8: encode the text as UTF-8", i, body[i])
		}
		i += size
	}
	if len(bytes.TrimSpace(body)) == 0 {
		return nil
	}
	var value json.RawMessage
	err := json.Unmarshal(body, &value)
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
		line, column := position(body, syntax.Offset)
		return conversation.Errorf(conversation.CodeInvalidArgument,
			"the body is not JSON: line %d, column %d: %w", line, column, err)
	}
	if err != nil {
		return conversation.Errorf(conversation.CodeInvalidArgument, "the body is not JSON: %w", err)
	}
	if i := loneSurrogate(body); i >= 0 {
		line, column := position(body, int64(i)+1)
		return conversation.Errorf(conversation.CodeInvalidUTF8,
			"line %d, column %d: %s is half of a character: escape both halves, or write it as UTF-8",
			line, column, body[i:i+6])
	}
	return nil
}

// position tells where the last of the first n bytes is, in lines and characters from 1.
func position(body []byte, n int64) (line, column int) {
	before := body[:max(0, min(int(n)-1, len(body)))]
	start := bytes.LastIndexByte(before, '\n') + 1
	return bytes.Count(before, []byte("\n")) + 1, utf8.RuneCount(before[start:]) + 1
}

// loneSurrogate finds an escape such as \ud800 without its other half in valid JSON; -1 if there is none. It is the
// one way to write text in JSON that UTF-8 cannot hold.
func loneSurrogate(body []byte) int {
	for i := 0; i < len(body); i++ {
		if body[i] != '\\' {
			continue
		}
		first := escaped(body[i:])
		if !utf16.IsSurrogate(first) {
			i++ // Skip what is escaped: in \\u there is no escape of its own.
			continue
		}
		if utf16.DecodeRune(first, escaped(body[i+6:])) == utf8.RuneError {
			return i
		}
		i += 11
	}
	return -1
}

// escaped returns the 16 bits that text of the form \uXXXX begins with, or -1.
func escaped(text []byte) rune {
	if len(text) < 6 || text[0] != '\\' || text[1] != 'u' {
		return -1
	}
	bits, err := strconv.ParseUint(string(text[2:6]), 16, 16)
	if err != nil {
		return -1
	}
	return rune(bits)
}
