// Package tools puts the tools of the expense example together: it opens the ledger, makes the five servers and gives
// their handlers to whoever serves them. It imports the tools below it; cmd/expense-tools and dev import it, nothing in
// the core of Hermes does.
package tools

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/hermes-orchestrator/hermes/conversation"
	"github.com/hermes-orchestrator/hermes/examples/expense/tools/finance"
	"github.com/hermes-orchestrator/hermes/examples/expense/tools/ocr"
	"github.com/hermes-orchestrator/hermes/examples/expense/tools/org"
	"github.com/hermes-orchestrator/hermes/examples/expense/tools/rules"
	"github.com/hermes-orchestrator/hermes/examples/expense/tools/trip"
	"github.com/hermes-orchestrator/hermes/tool/server"
)

// Names lists the tools in the order in which they get ports.
func Names() []string { return []string{org.Name, finance.Name, ocr.Name, trip.Name, rules.Name} }

// Config says how the tools run.
type Config struct {
	// Dir keeps the ledger. Files in it replace what the tools know by default: directory.yaml, trips.yaml, rules.yaml
	// and budgets.yaml. Required.
	Dir string
	// Key signs the answers of all tools. Required.
	Key ed25519.PrivateKey
	// KeyID names the key in signatures. Defaults to "k1".
	KeyID string
	// Names of the tools to open. Defaults to all.
	Names []string
	// Tesseract is the program of ocr_tool. Defaults to "tesseract", looked up in PATH.
	Tesseract string
	// EstimateFloor of ocr_tool. Defaults to 30 s.
	EstimateFloor time.Duration
	// AfterDebit of finance_tool, for tests.
	AfterDebit func(key string)
	// Now is the clock. Defaults to time.Now.
	Now func() time.Time
	// Logger is where the tools log. Defaults to slog.Default().
	Logger *slog.Logger
}

// Set is a number of open tools. It is safe for concurrent use until Close.
type Set struct {
	// KeyID names the key of every tool.
	KeyID string

	key     ed25519.PrivateKey
	servers map[string]*server.Server
	ledger  *finance.Ledger // Nil without finance_tool.
	end     context.CancelFunc
}

// All opens every tool and returns the handlers by name, and the set to close.
func All(ctx context.Context, config Config) (map[string]http.Handler, *Set, error) {
	config.Names = nil
	set, err := Open(ctx, config)
	if err != nil {
		return nil, nil, err
	}
	return set.Handlers(), set, nil
}

// Open opens the tools of config.Names. ctx bounds opening only; close the set. Errors have CodeInvalidConfig or
// CodeUnavailable.
func Open(ctx context.Context, config Config) (*Set, error) {
	if config.Dir == "" {
		return nil, conversation.Errorf(conversation.CodeInvalidConfig, "open tools: Dir is empty: name a directory")
	}
	if len(config.Key) != ed25519.PrivateKeySize {
		return nil, conversation.Errorf(conversation.CodeInvalidConfig, "open tools: Key is missing: see server.KeyFromFile")
	}
	if config.KeyID == "" {
		config.KeyID = "k1"
	}
	if len(config.Names) == 0 {
		config.Names = Names()
	}
	if err := os.MkdirAll(config.Dir, 0o700); err != nil {
		return nil, conversation.Errorf(conversation.CodeInvalidConfig, "open tools: %w", err)
	}
	lifetime, end := context.WithCancel(context.WithoutCancel(ctx))
	set := &Set{KeyID: config.KeyID, key: config.Key, servers: map[string]*server.Server{}, end: end}
	for _, name := range config.Names {
		opened, err := set.open(ctx, lifetime, name, config)
		if err != nil {
			return nil, errors.Join(err, set.Close())
		}
		set.servers[name] = opened
	}
	return set, nil
}

func (s *Set) open(ctx, lifetime context.Context, name string, config Config) (*server.Server, error) {
	switch name {
	case org.Name:
		directory, err := optional(config.Dir, "directory.yaml")
		if err != nil {
			return nil, err
		}
		return org.New(org.Config{
			Key: config.Key, KeyID: config.KeyID, Directory: directory, Now: config.Now, Logger: config.Logger,
		})
	case finance.Name:
		return s.openFinance(ctx, config)
	case ocr.Name:
		return ocr.New(ocr.Config{
			Key: config.Key, KeyID: config.KeyID, Tesseract: config.Tesseract, EstimateFloor: config.EstimateFloor,
			Lifetime: lifetime, Now: config.Now, Logger: config.Logger,
		})
	case trip.Name:
		trips, err := optional(config.Dir, "trips.yaml")
		if err != nil {
			return nil, err
		}
		return trip.New(trip.Config{
			Key: config.Key, KeyID: config.KeyID, Trips: trips, Now: config.Now, Logger: config.Logger,
		})
	case rules.Name:
		text, err := optional(config.Dir, "rules.yaml")
		if err != nil {
			return nil, err
		}
		return rules.New(rules.Config{
			Key: config.Key, KeyID: config.KeyID, Rules: text, Now: config.Now, Logger: config.Logger,
		})
	}
	return nil, conversation.Errorf(conversation.CodeUnknownTool, "open tool %q: there are %s", name,
		strings.Join(Names(), ", "))
}

func (s *Set) openFinance(ctx context.Context, config Config) (*server.Server, error) {
	text, err := optional(config.Dir, "budgets.yaml")
	if err != nil {
		return nil, err
	}
	budgets, err := finance.ParseBudgets(text)
	if err != nil {
		return nil, err
	}
	s.ledger, err = finance.OpenLedger(ctx, filepath.Join(config.Dir, "ledger.db"), budgets, config.Now)
	if err != nil {
		return nil, err
	}
	return finance.New(finance.Config{
		Key: config.Key, KeyID: config.KeyID, Ledger: s.ledger, AfterDebit: config.AfterDebit, Now: config.Now,
		Logger: config.Logger,
	})
}

// optional reads a file of the directory; nil if there is none.
func optional(dir, name string) ([]byte, error) {
	data, err := os.ReadFile(filepath.Join(dir, name))
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, conversation.Errorf(conversation.CodeInvalidConfig, "open tools: %w", err)
	}
	return data, nil
}

// Handlers returns the tools' HTTP handlers by name.
func (s *Set) Handlers() map[string]http.Handler {
	handlers := make(map[string]http.Handler, len(s.servers))
	for name, each := range s.servers {
		handlers[name] = each
	}
	return handlers
}

// Keys returns the public keys by which the tools' answers are verified, by name.
func (s *Set) Keys() map[string]ed25519.PublicKey {
	keys := make(map[string]ed25519.PublicKey, len(s.servers))
	for name := range s.servers {
		keys[name] = append(ed25519.PublicKey(nil), s.key[ed25519.SeedSize:]...)
	}
	return keys
}

// Debits describes what finance_tool has executed, a line each: record, key, user, department, amount, approver, trip.
// It is empty without that tool.
func (s *Set) Debits(ctx context.Context) ([]string, error) {
	if s.ledger == nil {
		return nil, nil
	}
	debits, err := s.ledger.Debits(ctx)
	if err != nil {
		return nil, err
	}
	lines := make([]string, len(debits))
	for i, d := range debits {
		r := d.Request
		lines[i] = fmt.Sprintf("%s %s %s %s %s %s %s %s", d.RecordID, d.Key, r.UserID, r.Department, r.Amount, r.Currency,
			r.Approver, r.TripID)
	}
	return lines, nil
}

// Ledger is the ledger of finance_tool, nil without it. It belongs to the set.
func (s *Set) Ledger() *finance.Ledger { return s.ledger }

// Close ends calls in progress and closes the ledger. Stop serving first.
func (s *Set) Close() error {
	s.end()
	for _, name := range slices.Sorted(maps.Keys(s.servers)) {
		s.servers[name].Close()
	}
	if s.ledger == nil {
		return nil
	}
	return s.ledger.Close()
}
