package memory

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"time"

	"github.com/hermes-orchestrator/hermes/conversation"
)

// ProofChecker knows the registered keys of tools. *tool.Client is one.
type ProofChecker interface {
	// CheckProof returns an error unless the proof's signature verifies with the key that the tool registered.
	CheckProof(proof conversation.Proof) error
}

// Verified is the permission to write to long-term memory: a tool's proof that has been checked. Only Verify makes one
// that is accepted; the zero value is refused with CodeUnverified. It is what makes "no fact without a tool's answer"
// (SPEC M3) a matter of types.
type Verified struct {
	proof  conversation.Proof
	at     time.Time
	digest string
	json   string
}

// Verify checks a proof: complete, of a final answer (status 200; an accepted or refused call proves nothing), with a
// signature that checker accepts. Anything else is CodeUnverified and wraps the checker's error.
func Verify(checker ProofChecker, proof conversation.Proof) (Verified, error) {
	if checker == nil {
		return Verified{}, conversation.Errorf(conversation.CodeInvalidConfig,
			"proof of tool %q cannot be checked: no checker is configured", proof.Tool)
	}
	missing := ""
	switch {
	case proof.Tool == "":
		missing = "tool"
	case proof.MessageID == "":
		missing = "message_id"
	case proof.KeyID == "":
		missing = "key_id"
	case proof.Digest == "":
		missing = "digest"
	case proof.Signature == "":
		missing = "signature"
	}
	if missing != "" {
		return Verified{}, conversation.Errorf(conversation.CodeUnverified,
			"proof of tool %q for message %q has no %s", proof.Tool, proof.MessageID, missing)
	}
	if proof.Status != http.StatusOK {
		return Verified{}, conversation.Errorf(conversation.CodeUnverified,
			"proof of tool %q for message %q is of an answer with status %d: only %d verifies a fact",
			proof.Tool, proof.MessageID, proof.Status, http.StatusOK)
	}
	at, err := time.Parse(time.RFC3339, proof.At)
	if err != nil {
		return Verified{}, conversation.Errorf(conversation.CodeUnverified,
			"proof of tool %q for message %q has time %q, which is not RFC 3339: %w",
			proof.Tool, proof.MessageID, proof.At, err)
	}
	if err := checker.CheckProof(proof); err != nil {
		return Verified{}, conversation.Errorf(conversation.CodeUnverified,
			"proof of tool %q for message %q does not hold: %w", proof.Tool, proof.MessageID, err)
	}
	data, err := json.Marshal(proof)
	if err != nil {
		return Verified{}, conversation.Errorf(conversation.CodeInternal, "proof cannot be written as JSON: %w", err)
	}
	sum := sha256.Sum256(data)
	return Verified{proof: proof, at: at.UTC(), digest: hex.EncodeToString(sum[:]), json: string(data)}, nil
}

// Proof returns the proof that was checked.
func (v Verified) Proof() conversation.Proof { return v.proof }

func (v Verified) valid() bool { return v.digest != "" }
