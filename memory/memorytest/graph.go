package memorytest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/hermes-orchestrator/hermes/conversation"
	"github.com/hermes-orchestrator/hermes/memory"
)

// Graph is the suite of memory.GraphDriver.
func Graph(t *testing.T, open func(t *testing.T) memory.GraphDriver) {
	t.Helper()
	exercise(t, open, []behaviour[memory.GraphDriver]{
		{"NothingKnown", graphNothing},
		{"RelateThenRead", graphRead},
		{"RepeatingChangesNothing", graphRepeat},
		{"LaterVerificationReplacesEarlier", graphLater},
		{"HigherTrustReplacesLower", graphTrust},
		{"QueryByTrust", graphQueryTrust},
		{"QueryByTypeAndEnds", graphQueryEnds},
		{"NewestFirstAndLimited", graphOrder},
		{"EqualNamesNeverMerge", graphNames},
		{"NameIsKeptAndFilledIn", graphNameFilled},
		{"EdgesOfOneNode", graphLoop},
		{"OwnersSeeTheirOwn", graphOwners},
		{"OwnersShareAnEdge", graphShared},
		{"TextIsNeverAStatement", graphInjection},
		{"ConcurrentWritersMakeOneEdge", graphConcurrent},
		{"LargeBatch", graphBatch},
		{"Portable", graphPortable},
		{"CancelledContext", graphCancelled},
	})
}

// day is the time of everything in this suite, to the millisecond as the portable type has it.
var day = time.Date(2024, 6, 3, 14, 22, 5, 678_000_000, time.UTC)

func node(kind, id string) conversation.Entity { return conversation.Entity{Type: kind, ID: id} }

func edge(from conversation.Entity, kind string, to conversation.Entity) memory.Assertion {
	return memory.Assertion{
		Relation: conversation.Relation{From: from, Type: kind, To: to}, Trust: memory.TrustVerified,
		VerifiedBy: "tool:org_tool", VerifiedAt: day, RecordedAt: day.Add(time.Second), MessageID: "m-1",
		Proof: `{"tool":"org_tool"}`, ProofDigest: "d1",
	}
}

func all() memory.Query { return memory.Query{Trust: memory.TrustRaw, Limit: 100} }

func query(t *testing.T, d memory.GraphDriver, owner string, q memory.Query) []memory.Assertion {
	t.Helper()
	found, err := d.Relations(t.Context(), owner, q)
	require.NoError(t, err)
	if len(found) == 0 {
		return nil
	}
	return found
}

func assert(t *testing.T, d memory.GraphDriver, owner string, assertions ...memory.Assertion) {
	t.Helper()
	require.NoError(t, d.Relate(t.Context(), owner, assertions))
}

func graphNothing(t *testing.T, d memory.GraphDriver) {
	require.Empty(t, query(t, d, Fresh("user"), all()))
}

func graphRead(t *testing.T, d memory.GraphDriver) {
	user := Fresh("user")
	a := edge(conversation.Entity{Type: "record", ID: Fresh("r"), Name: "差旅"}, "approved_by",
		conversation.Entity{Type: "person", ID: Fresh("p"), Name: "张主管"})
	assert(t, d, user, a)
	require.Equal(t, []memory.Assertion{a}, query(t, d, user, all()))
}

func graphRepeat(t *testing.T, d memory.GraphDriver) {
	user := Fresh("user")
	a := edge(node("record", Fresh("r")), "belongs_to", node("user", user))
	assert(t, d, user, a, a)
	again := a
	again.RecordedAt, again.MessageID = day.Add(time.Hour), "m-2"
	assert(t, d, user, again)
	require.Equal(t, []memory.Assertion{a}, query(t, d, user, all()))
}

func graphLater(t *testing.T, d memory.GraphDriver) {
	user := Fresh("user")
	first := edge(node("record", Fresh("r")), "belongs_to", node("user", user))
	later := first
	later.VerifiedAt, later.VerifiedBy, later.MessageID = day.Add(time.Minute), "tool:finance_tool", "m-2"
	later.Proof, later.ProofDigest, later.RecordedAt = `{"tool":"finance_tool"}`, "d2", day.Add(2*time.Minute)
	assert(t, d, user, first)
	assert(t, d, user, later)
	require.Equal(t, []memory.Assertion{later}, query(t, d, user, all()))
	assert(t, d, user, first)
	require.Equal(t, []memory.Assertion{later}, query(t, d, user, all()), "an earlier check does not displace a later one")
}

func graphTrust(t *testing.T, d memory.GraphDriver) {
	user := Fresh("user")
	certified := edge(node("record", Fresh("r")), "belongs_to", node("user", user))
	certified.Trust, certified.MessageID = memory.TrustCertified, "m-c"
	raw := certified
	raw.Trust, raw.VerifiedAt, raw.MessageID = memory.TrustRaw, day.Add(time.Hour), "m-r"
	assert(t, d, user, raw)
	require.Equal(t, []memory.Assertion{raw}, query(t, d, user, all()))
	assert(t, d, user, certified)
	require.Equal(t, []memory.Assertion{certified}, query(t, d, user, all()))
	assert(t, d, user, raw)
	require.Equal(t, []memory.Assertion{certified}, query(t, d, user, all()))
}

func graphQueryTrust(t *testing.T, d memory.GraphDriver) {
	user := Fresh("user")
	var edges []memory.Assertion
	for i, trust := range []memory.Trust{memory.TrustRaw, memory.TrustVerified, memory.TrustCertified} {
		a := edge(node("record", Fresh("r")), "belongs_to", node("user", user))
		a.Trust, a.VerifiedAt = trust, day.Add(-time.Duration(i)*time.Minute)
		edges = append(edges, a)
	}
	assert(t, d, user, edges...)
	for i, trust := range []memory.Trust{memory.TrustRaw, memory.TrustVerified, memory.TrustCertified} {
		require.Equal(t, edges[i:], query(t, d, user, memory.Query{Trust: trust, Limit: 10}), "%s", trust)
	}
}

func graphQueryEnds(t *testing.T, d memory.GraphDriver) {
	user := Fresh("user")
	trip, one, two := node("trip", Fresh("t")), node("invoice", Fresh("i1")), node("invoice", Fresh("i2"))
	owned := edge(trip, "belongs_to", node("user", user))
	first, second := edge(one, "occurred_during", trip), edge(two, "occurred_during", trip)
	owned.VerifiedAt, first.VerifiedAt = day.Add(2*time.Second), day.Add(time.Second)
	assert(t, d, user, owned, first, second)
	tests := []struct {
		name string
		give memory.Query
		want []memory.Assertion
	}{
		{"type", memory.Query{Type: "occurred_during"}, []memory.Assertion{first, second}},
		{"from type", memory.Query{From: node("trip", "")}, []memory.Assertion{owned}},
		{"from id", memory.Query{From: node("", one.ID)}, []memory.Assertion{first}},
		{"from both", memory.Query{From: two}, []memory.Assertion{second}},
		{"to", memory.Query{To: trip}, []memory.Assertion{first, second}},
		{"to type", memory.Query{To: node("user", "")}, []memory.Assertion{owned}},
		{"from and to", memory.Query{From: one, To: trip, Type: "occurred_during"}, []memory.Assertion{first}},
		{
			"name is not compared",
			memory.Query{From: conversation.Entity{Name: "x"}, Type: "belongs_to"},
			[]memory.Assertion{owned},
		},
		{"no such type", memory.Query{Type: "occurred"}, nil},
		{"wrong way", memory.Query{From: trip, To: one}, nil},
	}
	for _, tt := range tests {
		tt.give.Trust, tt.give.Limit = memory.TrustVerified, 10
		require.Equal(t, tt.want, query(t, d, user, tt.give), tt.name)
	}
}

func graphOrder(t *testing.T, d memory.GraphDriver) {
	user := Fresh("user")
	var edges []memory.Assertion
	for i := range 5 {
		a := edge(node("record", fmt.Sprintf("%s-%d", user, i)), "belongs_to", node("user", user))
		a.VerifiedAt = day.Add(-time.Duration(i/2) * time.Minute) // Pairs are equally old: the id decides then.
		edges = append(edges, a)
	}
	assert(t, d, user, edges[3], edges[0], edges[4], edges[2], edges[1])
	require.Equal(t, edges, query(t, d, user, all()))
	require.Equal(t, edges[:3], query(t, d, user, memory.Query{Trust: memory.TrustRaw, Limit: 3}))
}

func graphNames(t *testing.T, d memory.GraphDriver) {
	user := Fresh("user")
	one := conversation.Entity{Type: "person", ID: Fresh("p1"), Name: "张伟"}
	two := conversation.Entity{Type: "person", ID: Fresh("p2"), Name: "张伟"}
	same := conversation.Entity{Type: "team", ID: one.ID, Name: "张伟"}
	for i, e := range []conversation.Entity{one, two, same} {
		a := edge(e, "belongs_to", node("user", user))
		a.VerifiedAt = day.Add(-time.Duration(i) * time.Minute)
		assert(t, d, user, a)
	}
	found := query(t, d, user, all())
	require.Len(t, found, 3)
	require.Equal(t, []conversation.Entity{one, two, same},
		[]conversation.Entity{found[0].From, found[1].From, found[2].From})
}

func graphNameFilled(t *testing.T, d memory.GraphDriver) {
	user := Fresh("user")
	unnamed := edge(node("person", Fresh("p")), "belongs_to", node("user", user))
	older, newer, nameless := unnamed, unnamed, unnamed
	older.From.Name, older.VerifiedAt = "old", day.Add(-time.Hour)
	newer.From.Name, newer.VerifiedAt = "new", day.Add(time.Hour)
	nameless.VerifiedAt = day.Add(2 * time.Hour)
	name := func() string { return query(t, d, user, all())[0].From.Name }
	assert(t, d, user, unnamed)
	require.Empty(t, name())
	assert(t, d, user, older)
	require.Equal(t, "old", name(), "some name is better than none")
	assert(t, d, user, newer)
	require.Equal(t, "new", name())
	assert(t, d, user, older)
	require.Equal(t, "new", name(), "an older name does not replace a newer one")
	assert(t, d, user, nameless)
	require.Equal(t, "new", name(), "no name is no news")
}

func graphLoop(t *testing.T, d memory.GraphDriver) {
	user := Fresh("user")
	self := node("person", Fresh("p"))
	knows, likes := edge(self, "knows", self), edge(self, "likes", self)
	likes.VerifiedAt = day.Add(-time.Minute)
	assert(t, d, user, knows, likes)
	require.Equal(t, []memory.Assertion{knows, likes}, query(t, d, user, all()))
}

func graphOwners(t *testing.T, d memory.GraphDriver) {
	user, other := Fresh("user"), Fresh("user")
	shared := node("trip", Fresh("t"))
	mine := edge(node("invoice", Fresh("i")), "occurred_during", shared)
	theirs := edge(node("invoice", Fresh("i")), "occurred_during", shared)
	onward := edge(shared, "belongs_to", node("user", other))
	assert(t, d, user, mine)
	assert(t, d, other, theirs, onward)
	require.Equal(t, []memory.Assertion{mine}, query(t, d, user, all()))
	require.Len(t, query(t, d, other, all()), 2)
	require.Empty(t, query(t, d, user, memory.Query{Trust: memory.TrustRaw, From: shared, Limit: 10}),
		"knowing a node is not knowing all of its edges")
}

func graphShared(t *testing.T, d memory.GraphDriver) {
	user, other := Fresh("user"), Fresh("user")
	a := edge(node("dept", Fresh("d")), "led_by", node("person", Fresh("p")))
	later := a
	later.VerifiedAt, later.MessageID = day.Add(time.Minute), "m-2"
	assert(t, d, user, a)
	assert(t, d, other, later)
	require.Equal(t, []memory.Assertion{later}, query(t, d, user, all()))
	require.Equal(t, []memory.Assertion{later}, query(t, d, other, all()))
	earlier := a
	earlier.VerifiedAt = day.Add(-time.Minute)
	third := Fresh("user")
	assert(t, d, third, earlier)
	require.Equal(t, []memory.Assertion{later}, query(t, d, third, all()))
}

func graphInjection(t *testing.T, d memory.GraphDriver) {
	user := Fresh("user")
	for i, text := range []string{
		`x'}) DETACH DELETE n //`, `"; DROP TABLE relation; --`, "`]->() RETURN 1 //", `\`,
		`$owner`, `{.*}`, "a:b%3A/c", "a\x00b",
	} {
		a := edge(conversation.Entity{Type: text, ID: text + user, Name: text}, text, node(text, text))
		a.VerifiedAt = day.Add(time.Duration(i) * time.Minute)
		assert(t, d, user, a)
		require.Equal(t, []memory.Assertion{a}, query(t, d, user,
			memory.Query{Trust: memory.TrustVerified, Type: text, From: node(text, text+user), Limit: 10}))
	}
}

func graphConcurrent(t *testing.T, d memory.GraphDriver) {
	const writers, rounds = 4, 5
	user := Fresh("user")
	hub := node("dept", Fresh("d"))
	var group sync.WaitGroup
	errs := make(chan error, writers*rounds)
	for writer := range writers {
		group.Go(func() {
			for round := range rounds {
				shared := edge(node("record", fmt.Sprintf("%s-%d", user, round)), "belongs_to", hub)
				shared.VerifiedAt = day.Add(time.Duration(round*writers+writer) * time.Second)
				own := edge(node("writer", fmt.Sprintf("%s-%d", user, writer)), "belongs_to", hub)
				own.VerifiedAt = day.Add(-time.Hour)
				errs <- relateUntilDone(t.Context(), d, user, []memory.Assertion{shared, own})
			}
		})
	}
	group.Wait()
	close(errs)
	for err := range errs {
		require.NoError(t, err)
	}
	found := query(t, d, user, all())
	require.Len(t, found, rounds+writers)
	for i := range rounds {
		last := (rounds-1-i)*writers + writers - 1
		require.Equal(t, day.Add(time.Duration(last)*time.Second), found[i].VerifiedAt)
	}
}

// relateUntilDone repeats what the store had no time for, as the caller's retry policy does: on a small machine writers
// of one hub wait for each other longer than one operation may take.
func relateUntilDone(ctx context.Context, d memory.GraphDriver, owner string, assertions []memory.Assertion) error {
	deadline := time.Now().Add(patience)
	for {
		err := d.Relate(ctx, owner, assertions)
		if !errors.Is(err, &conversation.Error{Code: conversation.CodeMemoryUnavailable}) || time.Now().After(deadline) {
			return err
		}
	}
}

func graphBatch(t *testing.T, d memory.GraphDriver) {
	user := Fresh("user")
	var edges []memory.Assertion
	for i := range 200 {
		edges = append(edges, edge(node("record", fmt.Sprintf("%s-%03d", user, i)), "belongs_to", node("user", user)))
	}
	assert(t, d, user, edges...)
	require.Equal(t, edges, query(t, d, user, memory.Query{Trust: memory.TrustVerified, Limit: 1000}))
}

// accepting is a checker whose tools are all known and honest: what is under test here comes after it.
type accepting struct{}

func (accepting) CheckProof(conversation.Proof) error { return nil }

func graphPortable(t *testing.T, d memory.GraphDriver) {
	user := Fresh("user")
	verified, err := memory.Verify(accepting{}, conversation.Proof{
		Tool: "org_tool", MessageID: "m-1", KeyID: "k1", Digest: "d", Status: 200, Signature: "s",
		At: day.Format(time.RFC3339Nano),
	})
	require.NoError(t, err)
	g := memory.NewGraph(d)
	relation := conversation.Relation{From: node("trip", Fresh("t")), Type: "belongs_to", To: node("user", user)}
	for range 2 {
		require.NoError(t, g.Relate(t.Context(), user, []conversation.Relation{relation}, verified, day.Add(time.Second)))
	}
	found, err := g.Relations(t.Context(), user, memory.Query{Trust: memory.TrustVerified})
	require.NoError(t, err)
	require.Len(t, found, 1)
	require.Equal(t, relation, found[0].Relation)
	require.Equal(t, "tool:org_tool", found[0].VerifiedBy)
	require.Equal(t, day, found[0].VerifiedAt)
	require.Equal(t, day.Add(time.Second), found[0].RecordedAt)
	require.Equal(t, "m-1", found[0].MessageID)
	found, err = g.Relations(t.Context(), user, memory.Query{Trust: memory.TrustCertified})
	require.NoError(t, err)
	require.Empty(t, found)
}

func graphCancelled(t *testing.T, d memory.GraphDriver) {
	user := Fresh("user")
	requireCancelled(t, func(ctx context.Context) error {
		return d.Relate(ctx, user, []memory.Assertion{edge(node("a", user), "r", node("b", user))})
	})
	requireCancelled(t, func(ctx context.Context) error { _, err := d.Relations(ctx, user, all()); return err })
}
