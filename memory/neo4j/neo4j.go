// Package neo4j keeps long-term memory in Neo4j 5.7 or newer, Community included (SPEC M3). It imports memory and the
// Neo4j driver only.
//
// The model, as the Neo4j Browser shows it:
//
//	(:Owner {id})-[:KNOWS]->(:Entity {type, id, name, trust, …})-[:RELATION {type, owners, verified_by, …}]->(:Entity)
//
// A relation's type is a property: relationship types cannot be parameters before 5.26, and no text of a tool ever
// becomes part of a statement.
package neo4j

import (
	"context"
	"sync"
	"time"

	"github.com/neo4j/neo4j-go-driver/v5/neo4j"
	"github.com/neo4j/neo4j-go-driver/v5/neo4j/config"

	"github.com/hermes-orchestrator/hermes/conversation"
	"github.com/hermes-orchestrator/hermes/memory"
)

// SchemaTimeout bounds Prepare, which happens once per process and may wait for indexes.
const SchemaTimeout = 30 * time.Second

// Config says where Neo4j is.
type Config struct {
	// URI is "bolt://host:7687", "neo4j://…" for a cluster, "…+s://" with TLS.
	URI string
	// Username and Password; with an empty Username the server must have authentication switched off.
	Username string
	Password string
	// Database is the name of the database. Defaults to the server's default ("neo4j").
	Database string
	// Timeout bounds dialling and each operation, retries of its transaction included. Defaults to
	// memory.DefaultTimeout.
	Timeout time.Duration
}

// Graph is a memory.GraphDriver over Neo4j. Safe for concurrent use.
type Graph struct {
	driver   neo4j.DriverWithContext
	database string
	timeout  time.Duration

	lock     chan struct{} // Of prepared: a channel of capacity 1 is a lock that a context can give up on.
	prepared bool
	closed   sync.Once
}

// Open returns a Graph. It does not wait for the server; Ping tells whether it answers. Prepare is
// called before the first operation.
func Open(cfg Config) (*Graph, error) {
	if cfg.URI == "" {
		return nil, conversation.Errorf(conversation.CodeInvalidConfig, "neo4j: uri is empty: give bolt://host:7687")
	}
	if cfg.Timeout <= 0 {
		cfg.Timeout = memory.DefaultTimeout
	}
	auth := neo4j.NoAuth()
	if cfg.Username != "" {
		auth = neo4j.BasicAuth(cfg.Username, cfg.Password, "")
	}
	driver, err := neo4j.NewDriverWithContext(cfg.URI, auth, func(c *config.Config) {
		c.SocketConnectTimeout = cfg.Timeout
		c.ConnectionAcquisitionTimeout = cfg.Timeout
		// Transient errors (deadlocks) are retried for this long; whatever lasts longer is the caller's (SPEC T7).
		c.MaxTransactionRetryTime = cfg.Timeout
		c.TelemetryDisabled = true
	})
	if err != nil {
		return nil, conversation.Errorf(conversation.CodeInvalidConfig, "neo4j: uri %q: %w", cfg.URI, err)
	}
	return &Graph{driver: driver, database: cfg.Database, timeout: cfg.Timeout, lock: make(chan struct{}, 1)}, nil
}

// Close ends the connections. The Graph is not usable afterwards.
func (g *Graph) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), g.timeout)
	defer cancel()
	var err error
	g.closed.Do(func() { err = g.driver.Close(ctx) })
	return memory.Unavailable(ctx, "neo4j", "close", err)
}

// Ping returns CodeMemoryUnavailable unless Neo4j answers.
func (g *Graph) Ping(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, g.timeout)
	defer cancel()
	return memory.Unavailable(ctx, "neo4j", "ping", g.driver.VerifyConnectivity(ctx))
}

// Version returns edition and version of the server, for example "community 5.26.30".
func (g *Graph) Version(ctx context.Context) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, g.timeout)
	defer cancel()
	result, err := neo4j.ExecuteQuery(ctx, g.driver,
		"CALL dbms.components() YIELD name, versions, edition WHERE name = 'Neo4j Kernel' "+
			"RETURN edition + ' ' + versions[0] AS version",
		nil, neo4j.EagerResultTransformer, neo4j.ExecuteQueryWithDatabase(g.database))
	if err != nil {
		return "", memory.Unavailable(ctx, "neo4j", "version", err)
	}
	if len(result.Records) != 1 {
		return "", memory.Unavailable(ctx, "neo4j", "version", errNoVersion)
	}
	version, _, err := neo4j.GetRecordValue[string](result.Records[0], "version")
	return version, memory.Unavailable(ctx, "neo4j", "version", err)
}

func (g *Graph) session(ctx context.Context, mode neo4j.AccessMode) neo4j.SessionWithContext {
	return g.driver.NewSession(ctx, neo4j.SessionConfig{DatabaseName: g.database, AccessMode: mode})
}
