package tool

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"strconv"
	"strings"

	"github.com/hermes-orchestrator/hermes/conversation"
)

// signatureScheme is the first line of what is signed. Another version of the rules gets another name, so that a
// signature made for one is never valid for the other.
const signatureScheme = "hermes-tool-v1"

const (
	signatureAlgorithm  = "ed25519"
	maxKeyIDLen         = 64
	maxSignatureHeader  = 512
	maxSignedNameLength = 1024
)

// Signature is the value of HeaderSignature (SPEC T2). The zero value is not a signature.
type Signature struct {
	KeyID string
	Bytes [ed25519.SignatureSize]byte
}

// String is the header's text, which ParseSignature reads.
func (s Signature) String() string {
	encoded := base64.RawURLEncoding.EncodeToString(s.Bytes[:])
	return signatureAlgorithm + `; kid="` + s.KeyID + `"; sig="` + encoded + `"`
}

// ParseSignature reads the text of HeaderSignature: the algorithm, then kid and sig, each exactly once, in any order.
// Whatever else it meets it refuses with CodeBadSignature.
func ParseSignature(header string) (Signature, error) {
	var s Signature
	if len(header) > maxSignatureHeader {
		return s, badSignature("the header has %d bytes, at most %d are allowed", len(header), maxSignatureHeader)
	}
	algorithm, rest, _ := strings.Cut(header, ";")
	if strings.Trim(algorithm, " \t") != signatureAlgorithm {
		return s, badSignature("algorithm %q is not %q", conversation.Clip(algorithm, 40), signatureAlgorithm)
	}
	seen := map[string]bool{}
	for part := range strings.SplitSeq(rest, ";") {
		name, value, err := parameter(part)
		switch {
		case err != nil:
			return s, err
		case seen[name]:
			return s, badSignature("parameter %q stands twice", name)
		}
		seen[name] = true
		switch name {
		case "kid":
			if !validKeyID(value) {
				return s, badSignature("key id %q is not 1–%d letters, digits, '.', '_' or '-'",
					conversation.Clip(value, 80), maxKeyIDLen)
			}
			s.KeyID = value
		case "sig":
			// Strict, so that one signature has one text.
			decoded, err := base64.RawURLEncoding.Strict().DecodeString(strings.TrimSuffix(value, "=="))
			if err != nil || len(decoded) != ed25519.SignatureSize {
				return s, badSignature("sig is not the base64url of %d bytes", ed25519.SignatureSize)
			}
			copy(s.Bytes[:], decoded)
		default:
			return s, badSignature("parameter %q is unknown", conversation.Clip(name, 40))
		}
	}
	if !seen["kid"] || !seen["sig"] {
		return s, badSignature("the header has no kid or no sig")
	}
	return s, nil
}

func parameter(part string) (name, value string, err error) {
	name, quoted, ok := strings.Cut(strings.Trim(part, " \t"), "=")
	if !ok || len(quoted) < 2 || quoted[0] != '"' || quoted[len(quoted)-1] != '"' {
		return "", "", badSignature("parameter %q is not of the form name=\"value\"", conversation.Clip(part, 40))
	}
	value = quoted[1 : len(quoted)-1]
	if strings.ContainsAny(value, `"\`) {
		return "", "", badSignature("parameter %q holds a quote or a backslash", conversation.Clip(name, 40))
	}
	return name, value, nil
}

func validKeyID(id string) bool {
	if id == "" || len(id) > maxKeyIDLen {
		return false
	}
	return strings.IndexFunc(id, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '.' && r != '_' && r != '-'
	}) < 0
}

// Sign signs an answer: the tool's name, the message id of the call, the HTTP status and the body's SHA-256. It returns
// the text of HeaderSignature. Names with control characters are refused with CodeInvalidArgument: a line break in one
// could make two different answers sign alike.
func Sign(key ed25519.PrivateKey, keyID, tool, messageID string, status int, body []byte) (string, error) {
	switch {
	case len(key) != ed25519.PrivateKeySize:
		return "", conversation.Errorf(conversation.CodeInvalidArgument,
			"the key has %d bytes, an Ed25519 private key has %d", len(key), ed25519.PrivateKeySize)
	case !validKeyID(keyID):
		return "", conversation.Errorf(conversation.CodeInvalidArgument,
			"key id %q is not 1–%d letters, digits, '.', '_' or '-'", keyID, maxKeyIDLen)
	case !signable(tool) || !signable(messageID):
		return "", conversation.Errorf(conversation.CodeInvalidArgument,
			"tool %q or message id %q holds control characters, or is too long to be signed", tool, messageID)
	}
	s := Signature{KeyID: keyID}
	copy(s.Bytes[:], ed25519.Sign(key, signedBytes(tool, messageID, status, BodyDigest(body))))
	return s.String(), nil
}

// BodyDigest is the hex SHA-256 of a body, as it is signed and as conversation.Proof keeps it.
func BodyDigest(body []byte) string {
	sum := sha256.Sum256(body)
	return hex.EncodeToString(sum[:])
}

// signedBytes are the bytes that a signature covers.
func signedBytes(tool, messageID string, status int, digest string) []byte {
	b := make([]byte, 0, len(signatureScheme)+len(tool)+len(messageID)+len(digest)+10)
	b = append(append(b, signatureScheme...), '\n')
	b = append(append(b, tool...), '\n')
	b = append(append(b, messageID...), '\n')
	b = append(strconv.AppendInt(b, int64(status), 10), '\n')
	return append(append(b, digest...), '\n')
}

func signable(text string) bool {
	return len(text) <= maxSignedNameLength &&
		strings.IndexFunc(text, func(r rune) bool { return r < ' ' || r == 0x7f }) < 0
}

// Verify checks the signature of an answer with the registered keys of this tool. The error has CodeBadSignature and
// says what is wrong: no or more than one header, another form, a key id that is not registered, or a signature that
// was made for another tool, message, status or body.
func (m Manifest) Verify(headers []string, messageID string, status int, body []byte) (Signature, error) {
	switch len(headers) {
	case 0:
		return Signature{}, badSignature("tool %q: the answer is not signed", m.Name)
	case 1:
	default:
		return Signature{}, badSignature("tool %q: the answer has %d signatures, one is allowed", m.Name, len(headers))
	}
	s, err := ParseSignature(headers[0])
	if err != nil {
		return Signature{}, err
	}
	return s, m.verify(s, messageID, status, BodyDigest(body))
}

func (m Manifest) verify(s Signature, messageID string, status int, digest string) error {
	key, ok := m.Keys[s.KeyID]
	switch {
	case !ok || len(key) != ed25519.PublicKeySize:
		return badSignature("tool %q: key %q is not registered", m.Name, s.KeyID)
	case !signable(messageID):
		return badSignature("tool %q: message id %q cannot have been signed", m.Name, messageID)
	case !ed25519.Verify(key, signedBytes(m.Name, messageID, status, digest), s.Bytes[:]):
		return badSignature("tool %q: the signature by key %q is not that of this answer to message %q", m.Name,
			s.KeyID, messageID)
	}
	return nil
}

func badSignature(format string, args ...any) error {
	return conversation.Errorf(conversation.CodeBadSignature, format, args...)
}

// EncodeKey is the text of a public key in a manifest: base64 of its 32 bytes.
func EncodeKey(key ed25519.PublicKey) string { return base64.StdEncoding.EncodeToString(key) }

// DecodeKey reads what EncodeKey wrote; base64url and missing padding are accepted as well.
func DecodeKey(text string) (ed25519.PublicKey, error) {
	standard := strings.NewReplacer("-", "+", "_", "/").Replace(strings.TrimRight(text, "="))
	key, err := base64.RawStdEncoding.Strict().DecodeString(standard)
	if err != nil || len(key) != ed25519.PublicKeySize {
		return nil, conversation.Errorf(conversation.CodeInvalidConfig,
			"key %q is not the base64 of %d bytes, a raw Ed25519 public key", conversation.Clip(text, 60),
			ed25519.PublicKeySize)
	}
	return key, nil
}
