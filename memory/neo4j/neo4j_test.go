package neo4j_test

import (
	"context"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/hermes-orchestrator/hermes/conversation"
	"github.com/hermes-orchestrator/hermes/memory"
	"github.com/hermes-orchestrator/hermes/memory/memorytest"
	"github.com/hermes-orchestrator/hermes/memory/neo4j"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func open(t *testing.T, cfg neo4j.Config) *neo4j.Graph {
	t.Helper()
	graph, err := neo4j.Open(cfg)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, graph.Close()) })
	return graph
}

func server(t *testing.T) neo4j.Config {
	t.Helper()
	return neo4j.Config{
		URI:      memorytest.Server(t, memorytest.Neo4j),
		Username: os.Getenv("HERMES_TEST_NEO4J_USER"), Password: os.Getenv("HERMES_TEST_NEO4J_PASSWORD"),
		// The suite's many parallel writers wait for each other longer than one conversation's would.
		Timeout: 20 * time.Second,
	}
}

func TestGraph_Server(t *testing.T) {
	t.Parallel()
	graph := open(t, server(t))
	version, err := graph.Version(t.Context())
	require.NoError(t, err)
	t.Logf("Neo4j %s", version)
	t.Run("Suite", func(t *testing.T) {
		memorytest.Graph(t, func(*testing.T) memory.GraphDriver { return graph })
	})
}

// What takes a new server long is over after Prepare: the default time limit is enough for the first conversation.
func TestPrepare(t *testing.T) {
	t.Parallel()
	cfg := server(t)
	cfg.Timeout = 0
	graph := open(t, cfg)
	require.NoError(t, graph.Prepare(t.Context()))
	found, err := graph.Relations(t.Context(), "hermes:rehearsal", memory.Query{Trust: memory.TrustRaw, Limit: 10})
	require.NoError(t, err)
	require.Empty(t, found, "the rehearsal leaves nothing behind")
}

// Each of several workers creates the constraints before its first write; they must not get in each other's way.
func TestGraph_SeveralWorkers(t *testing.T) {
	t.Parallel()
	cfg := server(t)
	const workers = 3
	errs := make(chan error, workers)
	for range workers {
		graph := open(t, cfg)
		go func() {
			at := time.Date(2024, 6, 3, 0, 0, 0, 0, time.UTC)
			errs <- graph.Relate(t.Context(), memorytest.Fresh("user"), []memory.Assertion{{
				Relation: conversation.Relation{
					From: conversation.Entity{Type: "a", ID: memorytest.Fresh("a")}, Type: "r",
					To: conversation.Entity{Type: "b", ID: memorytest.Fresh("b")},
				},
				Trust: memory.TrustVerified, VerifiedAt: at, RecordedAt: at,
			}})
		}()
	}
	for range workers {
		require.NoError(t, <-errs)
	}
}

func TestDown(t *testing.T) {
	t.Parallel()
	memorytest.Down(t, func(t *testing.T, address string) map[string]func(context.Context) error {
		graph := open(t, neo4j.Config{URI: "bolt://" + address, Timeout: memorytest.DownTimeout})
		return map[string]func(context.Context) error{
			"ping":      graph.Ping,
			"version":   func(ctx context.Context) error { _, err := graph.Version(ctx); return err },
			"relate":    func(ctx context.Context) error { return graph.Relate(ctx, "u", make([]memory.Assertion, 1)) },
			"relations": func(ctx context.Context) error { _, err := graph.Relations(ctx, "u", memory.Query{}); return err },
		}
	})
}

func TestOpen_InvalidConfig(t *testing.T) {
	t.Parallel()
	for _, uri := range []string{"", "http://127.0.0.1:7474", "bolt://:x:y"} {
		_, err := neo4j.Open(neo4j.Config{URI: uri})
		require.Equal(t, conversation.CodeInvalidConfig, conversation.CodeOf(err), "%q", uri)
	}
}
