// Package sqlite keeps long-term memory in an SQLite file (SPEC M3): the graph's home where no Neo4j is run. It imports
// memory and the SQLite driver (pure Go) only.
package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"net/url"
	"path/filepath"
	"strconv"
	"time"

	_ "modernc.org/sqlite" // Registers the driver "sqlite".

	"github.com/hermes-orchestrator/hermes/conversation"
	"github.com/hermes-orchestrator/hermes/memory"
)

// Config says where the file is.
type Config struct {
	// Path of the file; it is created if it does not exist, its directory is not. Beside it SQLite keeps Path-wal and
	// Path-shm. A database in memory is not offered: each connection would have its own.
	Path string
	// Timeout bounds each operation, the wait for another process that writes included. Defaults to
	// memory.DefaultTimeout.
	Timeout time.Duration
}

// Graph is a memory.GraphDriver over an SQLite file in WAL mode with full synchronisation: what Relate has returned
// from survives power loss. Several processes may share the file. Safe for concurrent use.
type Graph struct {
	// One connection writes, so that writers queue in Go instead of running into each other's locks; readers have
	// theirs and are never blocked by it.
	writer  *sql.DB
	reader  *sql.DB
	timeout time.Duration
}

// Open opens or creates the file and brings its schema up to date.
func Open(ctx context.Context, cfg Config) (*Graph, error) {
	if cfg.Path == "" || cfg.Path == ":memory:" {
		return nil, conversation.Errorf(conversation.CodeInvalidConfig,
			"sqlite: path is %q: give the path of a file", cfg.Path)
	}
	if cfg.Timeout <= 0 {
		cfg.Timeout = memory.DefaultTimeout
	}
	writer, err := sql.Open("sqlite", source(cfg, "journal_mode(WAL)", "synchronous(FULL)", "foreign_keys(1)"))
	if err != nil {
		return nil, memory.Unavailable(ctx, "sqlite", "open", err)
	}
	writer.SetMaxOpenConns(1)
	reader, err := sql.Open("sqlite", source(cfg, "query_only(1)"))
	if err != nil {
		return nil, memory.Unavailable(ctx, "sqlite", "open", errors.Join(err, writer.Close()))
	}
	reader.SetMaxOpenConns(8)
	reader.SetMaxIdleConns(8)
	g := &Graph{writer: writer, reader: reader, timeout: cfg.Timeout}
	if err := g.migrate(ctx); err != nil {
		_ = g.Close() // The error of the migration says more.
		return nil, err
	}
	return g, nil
}

// Close ends the connections. The Graph is not usable afterwards.
func (g *Graph) Close() error {
	return memory.Unavailable(context.Background(), "sqlite", "close", errors.Join(g.reader.Close(), g.writer.Close()))
}

// Ping returns CodeMemoryUnavailable unless the file can be read.
func (g *Graph) Ping(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, g.timeout)
	defer cancel()
	var one int
	err := g.reader.QueryRowContext(ctx, "SELECT count(*) FROM (SELECT 1 FROM entity LIMIT 1)").Scan(&one)
	return memory.Unavailable(ctx, "sqlite", "ping", err)
}

// source is the data source name: a file URI, so that no character of the path has a meaning.
func source(cfg Config, pragmas ...string) string {
	query := url.Values{"_txlock": {"immediate"}}
	query.Add("_pragma", "busy_timeout("+strconv.FormatInt(cfg.Timeout.Milliseconds(), 10)+")")
	for _, pragma := range pragmas {
		query.Add("_pragma", pragma)
	}
	path := (&url.URL{Path: filepath.ToSlash(cfg.Path)}).EscapedPath()
	return "file:" + path + "?" + query.Encode()
}

// write runs do in a transaction of the writer and commits it if do returns nil.
func (g *Graph) write(ctx context.Context, operation string, do func(ctx context.Context, tx *sql.Tx) error) error {
	ctx, cancel := context.WithTimeout(ctx, g.timeout)
	defer cancel()
	tx, err := g.writer.BeginTx(ctx, nil)
	if err != nil {
		return memory.Unavailable(ctx, "sqlite", operation, err)
	}
	if err := do(ctx, tx); err != nil {
		_ = tx.Rollback() // The first error says more; the transaction is over either way.
		return memory.Unavailable(ctx, "sqlite", operation, err)
	}
	return memory.Unavailable(ctx, "sqlite", operation, tx.Commit())
}
