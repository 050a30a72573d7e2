package sqlite

import (
	"context"
	"database/sql"
	"embed"
	"fmt"
	"io/fs"

	"github.com/hermes-orchestrator/hermes/conversation"
	"github.com/hermes-orchestrator/hermes/memory"
)

// Migrations are applied in the order of their names, once each; PRAGMA user_version counts them. One that has been
// released is never changed.
//
//go:embed migration/*.sql
var migrations embed.FS

// migrate brings the file to the newest schema, in one transaction: a second process that opens the file waits for it.
func (g *Graph) migrate(ctx context.Context) error {
	names, err := fs.Glob(migrations, "migration/*.sql")
	if err != nil {
		return conversation.Errorf(conversation.CodeInternal, "sqlite migrate: %w", err)
	}
	return g.write(ctx, "migrate", func(ctx context.Context, tx *sql.Tx) error {
		var applied int
		if err := tx.QueryRowContext(ctx, "PRAGMA user_version").Scan(&applied); err != nil {
			return err
		}
		if applied > len(names) {
			return conversation.Errorf(conversation.CodeInvalidConfig,
				"sqlite migrate: the file has schema version %d, this program knows %d: use the newer program",
				applied, len(names))
		}
		for _, name := range names[applied:] {
			script, err := migrations.ReadFile(name)
			if err != nil {
				return conversation.Errorf(conversation.CodeInternal, "sqlite migrate: %w", err)
			}
			if _, err := tx.ExecContext(ctx, string(script)); err != nil {
				return memory.Unavailable(ctx, "sqlite", "migrate "+name, err)
			}
		}
		// A pragma takes no parameters; the number is our own.
		_, err := tx.ExecContext(ctx, fmt.Sprintf("PRAGMA user_version = %d", len(names)))
		return err
	})
}
