package config

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"

	"github.com/hermes-orchestrator/hermes/conversation"
)

// KeyMinBytes is the least length of a key: that of the hash it is used with.
const KeyMinBytes = 32

// makeKey says what to do about a key that is no good.
const makeKey = `make one with "openssl rand -hex 32"`

// Key is a secret key. It prints as "(set)" or "(not set)", never as its bytes.
type Key []byte

// ParseKey reads a key from hex or base64 (standard or URL alphabet, padded or not). Errors have CodeInvalidConfig and
// never repeat the text.
func ParseKey(text string) (Key, error) {
	decoders := []func(string) ([]byte, error){
		hex.DecodeString, base64.StdEncoding.DecodeString, base64.RawStdEncoding.DecodeString,
		base64.URLEncoding.DecodeString, base64.RawURLEncoding.DecodeString,
	}
	for _, decode := range decoders {
		if bytes, err := decode(text); err == nil {
			if len(bytes) < KeyMinBytes {
				return nil, conversation.Errorf(conversation.CodeInvalidConfig,
					"the key has %d bytes, at least %d are needed: %s", len(bytes), KeyMinBytes, makeKey)
			}
			return bytes, nil
		}
	}
	return nil, conversation.Errorf(conversation.CodeInvalidConfig, "the key is neither hex nor base64: %s", makeKey)
}

// String keeps keys out of logs.
func (k Key) String() string {
	if len(k) == 0 {
		return "(not set)"
	}
	return "(set)"
}

// GoString keeps keys out of logs as well.
func (k Key) GoString() string { return k.String() }

// HashUser returns what stands for a user id everywhere but in memory itself (DESIGN 3): the first 16 bytes of
// HMAC-SHA256 in hex. Worker and starter use this one function, so that they agree.
func (k Key) HashUser(userID string) string {
	mac := hmac.New(sha256.New, k)
	mac.Write([]byte(userID)) // A hash never returns an error.
	return hex.EncodeToString(mac.Sum(nil)[:16])
}
