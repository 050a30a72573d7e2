package memory_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/hermes-orchestrator/hermes/conversation"
	"github.com/hermes-orchestrator/hermes/memory"
)

// checker accepts one signature.
type checker struct{}

var errSignature = errors.New("signature does not verify")

func (checker) CheckProof(proof conversation.Proof) error {
	if proof.Signature != "good" {
		return errSignature
	}
	return nil
}

func proof() conversation.Proof {
	return conversation.Proof{
		Tool: "org_tool", MessageID: "m-1", KeyID: "k1", Digest: "d", Status: 200, Signature: "good",
		At: "2024-06-03T17:00:00.123456+08:00",
	}
}

// recorder keeps what it is given; what stores make of it is for their suites.
type recorder struct {
	owner      string
	assertions []memory.Assertion
	query      memory.Query
}

func (r *recorder) Relate(_ context.Context, owner string, assertions []memory.Assertion) error {
	r.owner, r.assertions = owner, assertions
	return nil
}

func (r *recorder) Relations(_ context.Context, owner string, query memory.Query) ([]memory.Assertion, error) {
	r.owner, r.query = owner, query
	return nil, nil
}

func relation(from, to string) conversation.Relation {
	return conversation.Relation{
		From: conversation.Entity{Type: "a", ID: from}, Type: "r", To: conversation.Entity{Type: "b", ID: to},
	}
}

func TestVerify_Refuses(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*conversation.Proof){
		"tool":          func(p *conversation.Proof) { p.Tool = "" },
		"message_id":    func(p *conversation.Proof) { p.MessageID = "" },
		"key_id":        func(p *conversation.Proof) { p.KeyID = "" },
		"digest":        func(p *conversation.Proof) { p.Digest = "" },
		"no signature":  func(p *conversation.Proof) { p.Signature = "" },
		"status 202":    func(p *conversation.Proof) { p.Status = 202 },
		"status 409":    func(p *conversation.Proof) { p.Status = 409 },
		"RFC 3339":      func(p *conversation.Proof) { p.At = "yesterday" },
		"does not hold": func(p *conversation.Proof) { p.Signature = "bad" },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := proof()
			change(&p)
			verified, err := memory.Verify(checker{}, p)
			requireCode(t, conversation.CodeUnverified, err)
			require.ErrorContains(t, err, name)
			err = memory.NewGraph(&recorder{}).Relate(t.Context(), "u",
				[]conversation.Relation{relation("1", "2")}, verified, time.Now())
			requireCode(t, conversation.CodeUnverified, err)
		})
	}
	p := proof()
	p.Signature = "bad"
	_, err := memory.Verify(checker{}, p)
	require.ErrorIs(t, err, errSignature)
	_, err = memory.Verify(nil, proof())
	requireCode(t, conversation.CodeInvalidConfig, err)
}

func TestGraph_Relate(t *testing.T) {
	t.Parallel()
	verified, err := memory.Verify(checker{}, proof())
	require.NoError(t, err)
	require.Equal(t, proof(), verified.Proof())
	driver := &recorder{}
	at := time.Date(2024, 6, 3, 9, 1, 0, 999_999, time.UTC)
	require.NoError(t, memory.NewGraph(driver).Relate(t.Context(), "u",
		[]conversation.Relation{relation("2", "x"), relation("1", "x")}, verified, at))
	require.Equal(t, "u", driver.owner)
	require.Len(t, driver.assertions, 2)
	first := driver.assertions[0]
	require.Equal(t, relation("1", "x"), first.Relation, "in one order for all writers")
	require.Equal(t, memory.TrustVerified, first.Trust)
	require.Equal(t, "tool:org_tool", first.VerifiedBy)
	require.Equal(t, time.Date(2024, 6, 3, 9, 0, 0, 123_000_000, time.UTC), first.VerifiedAt)
	require.Equal(t, time.Date(2024, 6, 3, 9, 1, 0, 0, time.UTC), first.RecordedAt)
	require.Equal(t, "m-1", first.MessageID)
	var stored conversation.Proof
	require.NoError(t, json.Unmarshal([]byte(first.Proof), &stored))
	require.Equal(t, proof(), stored)
	sum := sha256.Sum256([]byte(first.Proof))
	require.Equal(t, hex.EncodeToString(sum[:]), first.ProofDigest)
}

func TestGraph_Refuses(t *testing.T) {
	t.Parallel()
	verified, err := memory.Verify(checker{}, proof())
	require.NoError(t, err)
	g := memory.NewGraph(&recorder{})
	relate := func(user string, relations ...conversation.Relation) error {
		return g.Relate(t.Context(), user, relations, verified, time.Now())
	}
	change := func(do func(*conversation.Relation)) conversation.Relation {
		r := relation("1", "2")
		do(&r)
		return r
	}
	ask := func(user string, q memory.Query) error {
		_, err := g.Relations(t.Context(), user, q)
		return err
	}
	tests := []struct {
		name string
		err  error
		want conversation.Code
	}{
		{"no user", relate("", relation("1", "2")), conversation.CodeInvalidArgument},
		{"no type", relate("u", change(func(r *conversation.Relation) { r.Type = "" })), conversation.CodeInvalidArgument},
		{
			"no from type", relate("u", change(func(r *conversation.Relation) { r.From.Type = "" })),
			conversation.CodeInvalidArgument,
		},
		{"no to id", relate("u", change(func(r *conversation.Relation) { r.To.ID = "" })), conversation.CodeInvalidArgument},
		{"id is not text", relate("u", relation("\xff", "2")), conversation.CodeInvalidUTF8},
		{"long id", relate("u", relation(strings.Repeat("x", 300), "2")), conversation.CodeTooLarge},
		{
			"a document for a name",
			relate("u", change(func(r *conversation.Relation) { r.To.Name = strings.Repeat("合", 257) })),
			conversation.CodeTooLarge,
		},
		{"too many", relate("u", make([]conversation.Relation, 1001)...), conversation.CodeTooLarge},
		{"query without trust", ask("u", memory.Query{}), conversation.CodeInvalidArgument},
		{"query with unknown trust", ask("u", memory.Query{Trust: "sure"}), conversation.CodeInvalidArgument},
		{"query of nobody", ask("", memory.Query{Trust: memory.TrustRaw}), conversation.CodeInvalidArgument},
		{"too large a limit", ask("u", memory.Query{Trust: memory.TrustRaw, Limit: 1001}), conversation.CodeInvalidArgument},
		{"negative limit", ask("u", memory.Query{Trust: memory.TrustRaw, Limit: -1}), conversation.CodeInvalidArgument},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			requireCode(t, tt.want, tt.err)
		})
	}
	require.NoError(t, relate("u"))
}

func TestGraph_DefaultLimit(t *testing.T) {
	t.Parallel()
	driver := &recorder{}
	_, err := memory.NewGraph(driver).Relations(t.Context(), "u", memory.Query{Trust: memory.TrustRaw})
	require.NoError(t, err)
	require.Equal(t, memory.DefaultRelationLimit, driver.query.Limit)
}

// Identity is equal exactly for equal edges, whatever types and ids contain.
func TestAssertion_Identity(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		draw := func(label string) memory.Assertion {
			text := func() string { return hostile().Draw(r, label) }
			return memory.Assertion{Relation: conversation.Relation{
				From: conversation.Entity{Type: text(), ID: text()}, Type: text(),
				To: conversation.Entity{Type: text(), ID: text()},
			}}
		}
		a, b := draw("a"), draw("b")
		require.Equal(r, a.Relation == b.Relation, a.Identity() == b.Identity())
		named := a
		named.From.Name = "x"
		require.Equal(r, a.Identity(), named.Identity())
	})
}

// Outranks is a strict order: of two assertions at most one replaces the other, so that the order in which they arrive
// does not matter.
func TestAssertion_Outranks(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		draw := func(label string) memory.Assertion {
			return memory.Assertion{
				Trust: rapid.SampledFrom([]memory.Trust{memory.TrustRaw, memory.TrustVerified, memory.TrustCertified}).
					Draw(r, label),
				VerifiedAt: time.Unix(rapid.Int64Range(0, 2).Draw(r, label), 0),
			}
		}
		a, b, c := draw("a"), draw("b"), draw("c")
		require.False(r, a.Outranks(b) && b.Outranks(a))
		require.False(r, a.Outranks(a))
		if a.Outranks(b) && b.Outranks(c) {
			require.True(r, a.Outranks(c))
		}
	})
}

func TestTrust(t *testing.T) {
	t.Parallel()
	for _, trust := range []memory.Trust{memory.TrustRaw, memory.TrustVerified, memory.TrustCertified} {
		got, err := memory.TrustOf(trust.Rank())
		require.NoError(t, err)
		require.Equal(t, trust, got)
	}
	_, err := memory.TrustOf(3)
	requireCode(t, conversation.CodeInternal, err)
}
