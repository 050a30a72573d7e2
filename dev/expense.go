package main

import (
	"context"
	"log/slog"
	"path/filepath"
	"slices"

	expense "github.com/hermes-orchestrator/hermes/examples/expense/tools"
	"github.com/hermes-orchestrator/hermes/tool/server"
)

// openExampleTools opens those of the named tools that are Go packages of this repository. dir keeps their state and
// the key with which they sign.
func openExampleTools(ctx context.Context, names []string, dir string, logger *slog.Logger) (exampleTools, error) {
	var here []string
	for _, name := range expense.Names() {
		if slices.Contains(names, name) {
			here = append(here, name)
		}
	}
	if len(here) == 0 {
		return exampleTools{Close: func() error { return nil }}, nil
	}
	key, err := server.KeyFromFile(filepath.Join(dir, "tools.key"))
	if err != nil {
		return exampleTools{}, err
	}
	set, err := expense.Open(ctx, expense.Config{Dir: dir, Key: key, Names: here, Logger: logger})
	if err != nil {
		return exampleTools{}, err
	}
	return exampleTools{
		Handlers: set.Handlers(), Keys: set.Keys(), KeyID: set.KeyID, Debits: set.Debits, Close: set.Close,
	}, nil
}
