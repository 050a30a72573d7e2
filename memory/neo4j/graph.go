package neo4j

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/neo4j/neo4j-go-driver/v5/neo4j"

	"github.com/hermes-orchestrator/hermes/conversation"
	"github.com/hermes-orchestrator/hermes/memory"
)

var _ memory.GraphDriver = (*Graph)(nil)

const (
	// First all locks are taken, on owner and nodes in one order for all transactions, so that writers who share a node
	// queue instead of stopping each other (a deadlock costs a retry of a second or more). Setting a property to what it
	// is locks; it must be one without an index. A rank of -1 is that of what has just been created.
	lock = `
MERGE (o:Owner {id: $owner}) SET o.written_at = $at
WITH o
UNWIND $nodes AS node
MERGE (e:Entity {type: node.type, id: node.id})
  ON CREATE SET e.name = '', e.trust = -1, e.verified_at = $at
SET e.trust = e.trust`

	// The comparison is memory.Assertion.Outranks. A weaker assertion may still bring a name where none was known.
	relate = `
MATCH (o:Owner {id: $owner})
UNWIND $rows AS row
MATCH (a:Entity {type: row.from_type, id: row.from_id})
MATCH (b:Entity {type: row.to_type, id: row.to_id})
MERGE (a)-[r:RELATION {key: row.key}]->(b)
  ON CREATE SET r.type = row.type, r.owners = [], r.trust = -1, r.verified_at = row.verified_at
MERGE (o)-[:KNOWS]->(a)
FOREACH (e IN CASE WHEN row.trust > a.trust OR (row.trust = a.trust AND row.verified_at > a.verified_at)
    THEN [a] ELSE [] END |
  SET e += row.node, e.name = CASE row.from_name WHEN '' THEN e.name ELSE row.from_name END)
FOREACH (e IN CASE WHEN row.trust > b.trust OR (row.trust = b.trust AND row.verified_at > b.verified_at)
    THEN [b] ELSE [] END |
  SET e += row.node, e.name = CASE row.to_name WHEN '' THEN e.name ELSE row.to_name END)
FOREACH (e IN CASE WHEN a.name = '' THEN [a] ELSE [] END | SET e.name = row.from_name)
FOREACH (e IN CASE WHEN b.name = '' THEN [b] ELSE [] END | SET e.name = row.to_name)
FOREACH (e IN CASE WHEN row.trust > r.trust OR (row.trust = r.trust AND row.verified_at > r.verified_at)
    THEN [r] ELSE [] END | SET e += row.edge)
FOREACH (e IN CASE WHEN $owner IN r.owners THEN [] ELSE [r] END | SET e.owners = e.owners + $owner)`

	relations = `
MATCH (:Owner {id: $owner})-[:KNOWS]->(a:Entity)-[r:RELATION]->(b:Entity)
WHERE $owner IN r.owners AND r.trust >= $trust
  AND ($type = '' OR r.type = $type)
  AND ($from_type = '' OR a.type = $from_type) AND ($from_id = '' OR a.id = $from_id)
  AND ($to_type = '' OR b.type = $to_type) AND ($to_id = '' OR b.id = $to_id)
RETURN a.type AS from_type, a.id AS from_id, a.name AS from_name, b.type AS to_type, b.id AS to_id, b.name AS to_name,
  r {.*} AS edge
ORDER BY r.verified_at DESC, a.type, a.id, r.type, b.type, b.id
LIMIT $limit`
)

// Relate implements memory.GraphDriver in one managed transaction.
func (g *Graph) Relate(ctx context.Context, owner string, assertions []memory.Assertion) error {
	if err := g.Prepare(ctx); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, g.timeout)
	defer cancel()
	if len(assertions) == 0 {
		return nil
	}
	session := g.session(ctx, neo4j.AccessModeWrite)
	defer session.Close(ctx) // The transaction has ended: its error says nothing new.
	_, err := session.ExecuteWrite(ctx, func(tx neo4j.ManagedTransaction) (any, error) {
		if err := run(ctx, tx, lock, lockParameters(owner, assertions)); err != nil {
			return nil, err
		}
		return nil, run(ctx, tx, relate, relateParameters(owner, assertions))
	}, neo4j.WithTxTimeout(g.timeout))
	return memory.Unavailable(ctx, "neo4j", "relate", err)
}

func lockParameters(owner string, assertions []memory.Assertion) map[string]any {
	return map[string]any{"owner": owner, "nodes": nodes(assertions), "at": assertions[0].RecordedAt}
}

func relateParameters(owner string, assertions []memory.Assertion) map[string]any {
	rows := make([]any, len(assertions))
	for i, a := range assertions {
		rows[i] = row(a)
	}
	return map[string]any{"owner": owner, "rows": rows}
}

func queryParameters(owner string, query memory.Query) map[string]any {
	return map[string]any{
		"owner": owner, "trust": query.Trust.Rank(), "type": query.Type, "limit": query.Limit,
		"from_type": query.From.Type, "from_id": query.From.ID, "to_type": query.To.Type, "to_id": query.To.ID,
	}
}

// transaction is what managed and explicit transactions have in common.
type transaction interface {
	Run(ctx context.Context, statement string, parameters map[string]any) (neo4j.ResultWithContext, error)
}

func run(ctx context.Context, tx transaction, statement string, parameters map[string]any) error {
	result, err := tx.Run(ctx, statement, parameters)
	if err != nil {
		return err
	}
	_, err = result.Consume(ctx)
	return err
}

// nodes lists both ends of all assertions, each once, in one order for all writers.
func nodes(assertions []memory.Assertion) []any {
	byKey := map[string]conversation.Entity{}
	for _, a := range assertions {
		for _, e := range []conversation.Entity{a.From, a.To} {
			byKey[memory.Key(e.Type, e.ID)] = e
		}
	}
	list := make([]any, 0, len(byKey))
	for _, key := range slices.Sorted(maps.Keys(byKey)) {
		list = append(list, map[string]any{"type": byKey[key].Type, "id": byKey[key].ID})
	}
	return list
}

func row(a memory.Assertion) map[string]any {
	provenance := map[string]any{
		"trust": a.Trust.Rank(), "verified_by": a.VerifiedBy, "verified_at": a.VerifiedAt,
	}
	edge := map[string]any{
		"recorded_at": a.RecordedAt, "message_id": a.MessageID, "proof": a.Proof, "proof_digest": a.ProofDigest,
	}
	maps.Copy(edge, provenance)
	return map[string]any{
		"from_type": a.From.Type, "from_id": a.From.ID, "from_name": a.From.Name,
		"to_type": a.To.Type, "to_id": a.To.ID, "to_name": a.To.Name,
		"type": a.Type, "key": a.Identity(), "trust": a.Trust.Rank(), "verified_at": a.VerifiedAt,
		"node": provenance, "edge": edge,
	}
}

// Relations implements memory.GraphDriver.
func (g *Graph) Relations(ctx context.Context, owner string, query memory.Query) ([]memory.Assertion, error) {
	if err := g.Prepare(ctx); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, g.timeout)
	defer cancel()
	session := g.session(ctx, neo4j.AccessModeRead)
	defer session.Close(ctx) // The transaction has ended: its error says nothing new.
	records, err := neo4j.ExecuteRead(ctx, session, func(tx neo4j.ManagedTransaction) ([]*neo4j.Record, error) {
		result, err := tx.Run(ctx, relations, queryParameters(owner, query))
		if err != nil {
			return nil, err
		}
		return result.Collect(ctx)
	}, neo4j.WithTxTimeout(g.timeout))
	if err != nil {
		return nil, memory.Unavailable(ctx, "neo4j", "relations", err)
	}
	found := make([]memory.Assertion, 0, len(records))
	for _, record := range records {
		a, err := assertion(record.AsMap())
		if err != nil {
			return nil, err
		}
		found = append(found, a)
	}
	return found, nil
}

// assertion reads a record. Neo4j Community cannot ensure that properties exist, so what is missing or of another type
// is an error that names it: somebody changed the graph by hand.
func assertion(record map[string]any) (a memory.Assertion, err error) {
	edge, ok := record["edge"].(map[string]any)
	if !ok {
		return a, damaged("edge")
	}
	for _, property := range []struct {
		from map[string]any
		name string
		into *string
	}{
		{record, "from_type", &a.From.Type},
		{record, "from_id", &a.From.ID},
		{record, "from_name", &a.From.Name},
		{record, "to_type", &a.To.Type},
		{record, "to_id", &a.To.ID},
		{record, "to_name", &a.To.Name},
		{edge, "type", &a.Type},
		{edge, "verified_by", &a.VerifiedBy},
		{edge, "message_id", &a.MessageID},
		{edge, "proof", &a.Proof},
		{edge, "proof_digest", &a.ProofDigest},
	} {
		if *property.into, ok = property.from[property.name].(string); !ok {
			return a, damaged(property.name)
		}
	}
	for _, property := range []struct {
		name string
		into *time.Time
	}{{"verified_at", &a.VerifiedAt}, {"recorded_at", &a.RecordedAt}} {
		at, ok := edge[property.name].(time.Time)
		if !ok {
			return a, damaged(property.name)
		}
		*property.into = at.UTC()
	}
	rank, ok := edge["trust"].(int64)
	if !ok {
		return a, damaged("trust")
	}
	a.Trust, err = memory.TrustOf(int(rank))
	return a, err
}

func damaged(property string) error {
	return conversation.Errorf(conversation.CodeInternal,
		"neo4j relations: property %q of a relation is missing or of another type: it was changed from outside Hermes",
		property)
}
