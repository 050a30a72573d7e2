package memory

import "github.com/hermes-orchestrator/hermes/conversation"

// Trust says how far a relation of long-term memory can be relied on (SPEC M3). Higher levels include what they imply:
// a query for TrustVerified also returns what is certified.
type Trust string

// The levels of trust, lowest first.
const (
	TrustRaw       Trust = "raw"       // Proposed, pending or deprecated facts as well.
	TrustVerified  Trust = "verified"  // Only what a tool verified.
	TrustCertified Trust = "certified" // Verified, and confirmed by a second authoritative tool or a reviewer.
)

// Rank orders the levels: 0 for raw, 1 for verified, 2 for certified, -1 for anything else. Drivers store and compare
// it.
func (t Trust) Rank() int {
	switch t {
	case TrustRaw:
		return 0
	case TrustVerified:
		return 1
	case TrustCertified:
		return 2
	}
	return -1
}

// TrustOf is the level with the given rank.
func TrustOf(rank int) (Trust, error) {
	for _, t := range []Trust{TrustRaw, TrustVerified, TrustCertified} {
		if t.Rank() == rank {
			return t, nil
		}
	}
	return "", conversation.Errorf(conversation.CodeInternal,
		"trust rank %d in long-term memory is not one that Hermes writes", rank)
}
