package neo4j

import (
	"context"
	"crypto/rand"
	"errors"
	"time"

	"github.com/neo4j/neo4j-go-driver/v5/neo4j"

	"github.com/hermes-orchestrator/hermes/conversation"
	"github.com/hermes-orchestrator/hermes/memory"
)

var errNoVersion = errors.New("the server does not tell its version")

// constraints returns what must exist before the first MERGE: without them two transactions can both create a node.
// Community has uniqueness constraints, of relationships too since 5.7, and no existence constraints: that properties
// are there is for this package to ensure.
func constraints() []string {
	return []string{
		"CREATE CONSTRAINT hermes_entity IF NOT EXISTS FOR (e:Entity) REQUIRE (e.type, e.id) IS UNIQUE",
		"CREATE CONSTRAINT hermes_owner IF NOT EXISTS FOR (o:Owner) REQUIRE o.id IS UNIQUE",
		"CREATE CONSTRAINT hermes_relation IF NOT EXISTS FOR ()-[r:RELATION]-() REQUIRE r.key IS UNIQUE",
	}
}

// Prepare creates the constraints and lets the server plan the statements of this package, which takes it seconds after
// its start. It is done once, before the first operation if nobody has called it; a worker calls it when it starts, so
// that no conversation waits. It is bounded by SchemaTimeout, not by the timeout of one operation; a server that does
// not answer at all is told after that.
func (g *Graph) Prepare(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, SchemaTimeout)
	defer cancel()
	select {
	case g.lock <- struct{}{}:
		defer func() { <-g.lock }()
	case <-ctx.Done():
		return memory.Unavailable(ctx, "neo4j", "prepare", ctx.Err())
	}
	if g.prepared {
		return nil
	}
	if err := g.Ping(ctx); err != nil {
		return err
	}
	session := g.session(ctx, neo4j.AccessModeWrite)
	defer session.Close(ctx) // All transactions have ended: its error says nothing new.
	// One transaction each, as schema commands want it; managed, because several workers that start at the same time
	// run into each other's locks.
	for _, statement := range append(constraints(), "CALL db.awaitIndexes(20)") {
		_, err := session.ExecuteWrite(ctx, func(tx neo4j.ManagedTransaction) (any, error) {
			return nil, run(ctx, tx, statement, nil)
		})
		if err != nil {
			return memory.Unavailable(ctx, "neo4j", "prepare", err)
		}
	}
	if err := rehearse(ctx, session); err != nil {
		return memory.Unavailable(ctx, "neo4j", "prepare", err)
	}
	g.prepared = true
	return nil
}

// rehearse runs the statements as they will be run, and takes back what they wrote. Plans are kept by the server for
// statements with parameters of the same types, so the parameters are like real ones.
func rehearse(ctx context.Context, session neo4j.SessionWithContext) error {
	const owner = "hermes:rehearsal"
	assertions := []memory.Assertion{{
		Relation: conversation.Relation{
			From: conversation.Entity{Type: owner, ID: rand.Text(), Name: owner}, Type: owner,
			To: conversation.Entity{Type: owner, ID: rand.Text(), Name: owner},
		},
		Trust: memory.TrustRaw, VerifiedBy: owner, VerifiedAt: time.Now().UTC(), RecordedAt: time.Now().UTC(),
		MessageID: owner, Proof: "{}", ProofDigest: owner,
	}}
	tx, err := session.BeginTransaction(ctx)
	if err != nil {
		return err
	}
	defer tx.Close(ctx) // It takes everything back; if it cannot, the server does.
	for _, step := range []struct {
		statement  string
		parameters map[string]any
	}{
		{lock, lockParameters(owner, assertions)},
		{relate, relateParameters(owner, assertions)},
		{relations, queryParameters(owner, memory.Query{Trust: memory.TrustRaw, Limit: 1})},
	} {
		if err := run(ctx, tx, step.statement, step.parameters); err != nil {
			return err
		}
	}
	return nil
}
