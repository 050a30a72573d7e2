package sqlite

import (
	"context"
	"database/sql"
	"strings"
	"time"

	"github.com/hermes-orchestrator/hermes/conversation"
	"github.com/hermes-orchestrator/hermes/memory"
)

var _ memory.GraphDriver = (*Graph)(nil)

// The WHERE of both upserts is memory.Assertion.Outranks. A row that is not updated returns nothing, so keys are read
// afterwards.
const (
	upsertEntity = `
INSERT INTO entity (type, id, name, trust, verified_by, verified_at) VALUES (?, ?, ?, ?, ?, ?)
ON CONFLICT (type, id) DO UPDATE SET
  name = CASE excluded.name WHEN '' THEN name ELSE excluded.name END,
  trust = excluded.trust, verified_by = excluded.verified_by, verified_at = excluded.verified_at
WHERE excluded.trust > trust OR (excluded.trust = trust AND excluded.verified_at > verified_at)`

	// A weaker assertion may still bring a name where none was known.
	nameEntity = `UPDATE entity SET name = ? WHERE type = ? AND id = ? AND name = ''`

	entityKey = `SELECT entity_key FROM entity WHERE type = ? AND id = ?`

	upsertRelation = `
INSERT INTO relation
  (from_key, type, to_key, trust, verified_by, verified_at, recorded_at, message_id, proof, proof_digest)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (from_key, type, to_key) DO UPDATE SET
  trust = excluded.trust, verified_by = excluded.verified_by, verified_at = excluded.verified_at,
  recorded_at = excluded.recorded_at, message_id = excluded.message_id,
  proof = excluded.proof, proof_digest = excluded.proof_digest
WHERE excluded.trust > trust OR (excluded.trust = trust AND excluded.verified_at > verified_at)`

	relationKey = `SELECT relation_key, verified_at FROM relation WHERE from_key = ? AND type = ? AND to_key = ?`

	insertOwner = `
INSERT INTO ownership (owner, relation_key, verified_at) VALUES (?, ?, ?) ON CONFLICT DO NOTHING`

	updateOwners = `UPDATE ownership SET verified_at = ? WHERE relation_key = ? AND verified_at <> ?`

	selectRelations = `
SELECT f.type, f.id, f.name, r.type, t.type, t.id, t.name, r.trust, r.verified_by, r.verified_at, r.recorded_at,
  r.message_id, r.proof, r.proof_digest
FROM `

	// With an end that is known, SQLite chooses where to begin. Without, the owner's newest are read in their order and
	// reading stops at the limit; left alone, it would read and sort all of them.
	fromAny    = `ownership o JOIN relation r JOIN entity f JOIN entity t`
	fromNewest = `ownership o INDEXED BY ownership_newest CROSS JOIN relation r CROSS JOIN entity f CROSS JOIN entity t`

	joinRelations = `
WHERE r.relation_key = o.relation_key AND f.entity_key = r.from_key AND t.entity_key = r.to_key AND `

	orderRelations = `
ORDER BY o.verified_at DESC, f.type, f.id, r.type, t.type, t.id LIMIT ?`
)

// Relate implements memory.GraphDriver.
func (g *Graph) Relate(ctx context.Context, owner string, assertions []memory.Assertion) error {
	return g.write(ctx, "relate", func(ctx context.Context, tx *sql.Tx) error {
		for _, a := range assertions {
			if err := relate(ctx, tx, owner, a); err != nil {
				return err
			}
		}
		return nil
	})
}

func relate(ctx context.Context, tx *sql.Tx, owner string, a memory.Assertion) error {
	from, err := entity(ctx, tx, a, a.From)
	if err != nil {
		return err
	}
	to, err := entity(ctx, tx, a, a.To)
	if err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, upsertRelation, from, a.Type, to, a.Trust.Rank(), a.VerifiedBy,
		a.VerifiedAt.UnixMilli(), a.RecordedAt.UnixMilli(), a.MessageID, a.Proof, a.ProofDigest); err != nil {
		return err
	}
	var key, verifiedAt int64
	if err := tx.QueryRowContext(ctx, relationKey, from, a.Type, to).Scan(&key, &verifiedAt); err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, insertOwner, owner, key, verifiedAt); err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, updateOwners, verifiedAt, key, verifiedAt)
	return err
}

// entity writes one end of an assertion and returns its key.
func entity(ctx context.Context, tx *sql.Tx, a memory.Assertion, e conversation.Entity) (key int64, err error) {
	if _, err := tx.ExecContext(ctx, upsertEntity,
		e.Type, e.ID, e.Name, a.Trust.Rank(), a.VerifiedBy, a.VerifiedAt.UnixMilli()); err != nil {
		return 0, err
	}
	if e.Name != "" {
		if _, err := tx.ExecContext(ctx, nameEntity, e.Name, e.Type, e.ID); err != nil {
			return 0, err
		}
	}
	err = tx.QueryRowContext(ctx, entityKey, e.Type, e.ID).Scan(&key)
	return key, err
}

// Relations implements memory.GraphDriver.
func (g *Graph) Relations(ctx context.Context, owner string, query memory.Query) ([]memory.Assertion, error) {
	ctx, cancel := context.WithTimeout(ctx, g.timeout)
	defer cancel()
	where := []string{"o.owner = ?", "r.trust >= ?"}
	arguments := []any{owner, query.Trust.Rank()}
	for _, condition := range []struct{ column, value string }{
		{"r.type", query.Type},
		{"f.type", query.From.Type},
		{"f.id", query.From.ID},
		{"t.type", query.To.Type},
		{"t.id", query.To.ID},
	} {
		if condition.value != "" {
			where = append(where, condition.column+" = ?")
			arguments = append(arguments, condition.value)
		}
	}
	arguments = append(arguments, query.Limit)
	from := fromNewest
	if query.From.ID != "" || query.To.ID != "" {
		from = fromAny
	}
	//nolint:gosec // Every part is a constant of this file; what is asked for goes through the arguments.
	statement := selectRelations + from + joinRelations + strings.Join(where, " AND ") + orderRelations
	rows, err := g.reader.QueryContext(ctx, statement, arguments...)
	if err != nil {
		return nil, memory.Unavailable(ctx, "sqlite", "relations", err)
	}
	defer rows.Close() // rows.Err tells what happened.
	var found []memory.Assertion
	for rows.Next() {
		a, err := scan(rows)
		if err != nil {
			return nil, memory.Unavailable(ctx, "sqlite", "relations", err)
		}
		found = append(found, a)
	}
	return found, memory.Unavailable(ctx, "sqlite", "relations", rows.Err())
}

func scan(rows *sql.Rows) (a memory.Assertion, err error) {
	var rank int
	var verifiedAt, recordedAt int64
	if err := rows.Scan(&a.From.Type, &a.From.ID, &a.From.Name, &a.Type, &a.To.Type, &a.To.ID, &a.To.Name, &rank,
		&a.VerifiedBy, &verifiedAt, &recordedAt, &a.MessageID, &a.Proof, &a.ProofDigest); err != nil {
		return a, err
	}
	a.VerifiedAt, a.RecordedAt = time.UnixMilli(verifiedAt).UTC(), time.UnixMilli(recordedAt).UTC()
	a.Trust, err = memory.TrustOf(rank)
	return a, err
}
