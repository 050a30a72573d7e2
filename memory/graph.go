package memory

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/hermes-orchestrator/hermes/conversation"
)

// Limits of Graph.
const (
	DefaultRelationLimit = 100
	MaxRelationLimit     = 1000
	MaxRelationsPerWrite = 1000
	MaxEntityNameRunes   = 256
)

// Assertion is a relation with what vouches for it.
type Assertion struct {
	conversation.Relation

	Trust      Trust     `json:"trust"`
	VerifiedBy string    `json:"verified_by"` // "tool:<name>".
	VerifiedAt time.Time `json:"verified_at"` // When the dispatcher verified the tool's answer. UTC, milliseconds.
	RecordedAt time.Time `json:"recorded_at"` // When it was written. UTC, milliseconds.
	MessageID  string    `json:"message_id"`  // Of the tool call: leads to trace and snapshot.
	// Proof is the JSON of the conversation.Proof, so that anyone with the tool's public key can check again;
	// ProofDigest is the hex SHA-256 of that text.
	Proof       string `json:"proof"`
	ProofDigest string `json:"proof_digest"`
}

// Query selects relations. Empty fields select everything, but Trust must be said.
type Query struct {
	// Trust is the lowest level that is wanted. Required: whoever asks must know what the answer is worth (SPEC M3).
	Trust Trust  `json:"trust_level"`
	Type  string `json:"type,omitempty"`
	// From and To select by Type, by ID, or by both. Name is not compared: equal names are not equal entities.
	From conversation.Entity `json:"from,omitzero"`
	To   conversation.Entity `json:"to,omitzero"`
	// Limit bounds the answer. Defaults to DefaultRelationLimit; at most MaxRelationLimit.
	Limit int `json:"limit,omitempty"`
}

// Graph is long-term memory (SPEC M3): entities and relations that tools have verified. Safe for concurrent use.
type Graph struct {
	driver GraphDriver
}

// NewGraph returns long-term memory that is kept in driver.
func NewGraph(driver GraphDriver) *Graph { return &Graph{driver: driver} }

// Relate writes relations that one verified answer proves, all or none, in the scope of userID. It is idempotent: an
// edge exists once whoever asserts it how often, and keeps the strongest, then latest proof. At is when this is
// written. Without proof it is refused with CodeUnverified.
func (g *Graph) Relate(
	ctx context.Context, userID string, relations []conversation.Relation, verified Verified, at time.Time,
) error {
	if !verified.valid() {
		return conversation.Errorf(conversation.CodeUnverified,
			"%d relations have no proof: only what memory.Verify returned may write to long-term memory", len(relations))
	}
	if err := checkUser(userID); err != nil {
		return err
	}
	if len(relations) > MaxRelationsPerWrite {
		return conversation.Errorf(conversation.CodeTooLarge,
			"%d relations in one write, at most %d are allowed", len(relations), MaxRelationsPerWrite)
	}
	assertions := make([]Assertion, 0, len(relations))
	for _, relation := range relations {
		if err := checkRelation(relation); err != nil {
			return err
		}
		assertions = append(assertions, Assertion{
			Relation: relation, Trust: TrustVerified,
			VerifiedBy: "tool:" + verified.proof.Tool, VerifiedAt: verified.at.Truncate(time.Millisecond),
			RecordedAt: at.UTC().Truncate(time.Millisecond), MessageID: verified.proof.MessageID,
			Proof: verified.json, ProofDigest: verified.digest,
		})
	}
	if len(assertions) == 0 {
		return nil
	}
	// One order for all writers keeps concurrent transactions from waiting for each other in a circle.
	slices.SortStableFunc(assertions, func(a, b Assertion) int { return cmp.Compare(a.Identity(), b.Identity()) })
	return g.driver.Relate(ctx, userID, assertions)
}

// Relations returns what is known in the scope of userID, newest verification first.
func (g *Graph) Relations(ctx context.Context, userID string, query Query) ([]Assertion, error) {
	if err := checkUser(userID); err != nil {
		return nil, err
	}
	if query.Trust.Rank() < 0 {
		return nil, conversation.Errorf(conversation.CodeInvalidArgument,
			"trust_level %q of the query is not one of %q, %q, %q", query.Trust, TrustRaw, TrustVerified, TrustCertified)
	}
	switch {
	case query.Limit < 0, query.Limit > MaxRelationLimit:
		return nil, conversation.Errorf(conversation.CodeInvalidArgument,
			"limit %d of the query is not between 1 and %d", query.Limit, MaxRelationLimit)
	case query.Limit == 0:
		query.Limit = DefaultRelationLimit
	}
	return g.driver.Relations(ctx, userID, query)
}

// Identity is a text that is the same for two assertions exactly if they are of the same edge (from, type, to).
func (a Assertion) Identity() string {
	return Key(a.From.Type, a.From.ID, a.Type, a.To.Type, a.To.ID)
}

// Outranks reports whether a is to replace other, an assertion of the same edge: higher trust, or equal trust and
// verified later.
func (a Assertion) Outranks(other Assertion) bool {
	if a.Trust != other.Trust {
		return a.Trust.Rank() > other.Trust.Rank()
	}
	return a.VerifiedAt.After(other.VerifiedAt)
}

func checkRelation(r conversation.Relation) error {
	if err := checkPart("relation type", r.Type, MaxNameLen, true); err != nil {
		return err
	}
	for _, end := range []struct {
		role   string
		entity conversation.Entity
	}{{"from", r.From}, {"to", r.To}} {
		// The id may be that of a user, so it is not repeated.
		if err := checkPart(end.role+" type of relation "+r.Type, end.entity.Type, MaxNameLen, true); err != nil {
			return err
		}
		if err := checkPart(end.role+" id of relation "+r.Type, end.entity.ID, MaxNameLen, false); err != nil {
			return err
		}
		if name := end.entity.Name; name != conversation.Clip(name, MaxEntityNameRunes) {
			return conversation.Errorf(conversation.CodeTooLarge,
				"%s name of relation %q has more than %d characters: the graph holds names, not contents (SPEC M5)",
				end.role, r.Type, MaxEntityNameRunes)
		}
	}
	return nil
}
