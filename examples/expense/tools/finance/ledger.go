package finance

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	_ "modernc.org/sqlite" // The database driver, without cgo.

	"github.com/hermes-orchestrator/hermes/conversation"
	"github.com/hermes-orchestrator/hermes/examples/expense/tools/money"
)

// Currency is that of all budgets.
const Currency = "CNY"

const schema = `
CREATE TABLE IF NOT EXISTS budgets (
	department TEXT PRIMARY KEY,
	remaining  INTEGER NOT NULL CHECK (remaining >= 0)
) STRICT;
CREATE TABLE IF NOT EXISTS debits (
	id              INTEGER PRIMARY KEY,
	idempotency_key TEXT NOT NULL UNIQUE,
	request_digest  TEXT NOT NULL,
	user_id         TEXT NOT NULL,
	department      TEXT NOT NULL REFERENCES budgets (department),
	amount          INTEGER NOT NULL CHECK (amount > 0),
	currency        TEXT NOT NULL,
	approver        TEXT NOT NULL,
	trip_id         TEXT NOT NULL,
	remaining       INTEGER NOT NULL,
	created_at      TEXT NOT NULL
) STRICT;`

// Ledger keeps budgets and debits. It is safe for concurrent use, also by several processes on one file. Close it.
type Ledger struct {
	db  *sql.DB
	now func() time.Time
}

// OpenLedger opens the ledger in the file at path and makes it if there is none. Departments that it does not know yet
// get their budget from the given ones (minor units); those it knows keep theirs. A nil clock is time.Now. Errors have
// CodeInvalidConfig or CodeUnavailable.
func OpenLedger(
	ctx context.Context, path string, budgets map[string]money.Amount, now func() time.Time,
) (*Ledger, error) {
	if now == nil {
		now = time.Now
	}
	if path == "" {
		return nil, conversation.Errorf(conversation.CodeInvalidConfig, "open ledger: the path is empty")
	}
	query := url.Values{"_txlock": {"immediate"}, "_pragma": {
		// A debit that was answered must survive a power cut: FULL, because WAL alone syncs at checkpoints only.
		"busy_timeout(10000)", "journal_mode(WAL)", "synchronous(FULL)", "foreign_keys(ON)",
	}}
	source := url.URL{Scheme: "file", Opaque: url.PathEscape(path), RawQuery: query.Encode()}
	db, err := sql.Open("sqlite", source.String())
	if err != nil {
		return nil, conversation.Errorf(conversation.CodeInvalidConfig, "open ledger %q: %w", path, err)
	}
	// SQLite has one writer. One connection queues in Go, in order, instead of polling for the lock.
	db.SetMaxOpenConns(1)
	l := &Ledger{db: db, now: now}
	if err := l.prepare(ctx, budgets); err != nil {
		err = conversation.Errorf(conversation.CodeUnavailable, "open ledger %q: %w", path, err)
		return nil, errors.Join(err, db.Close())
	}
	return l, nil
}

func (l *Ledger) prepare(ctx context.Context, budgets map[string]money.Amount) error {
	if _, err := l.db.ExecContext(ctx, schema); err != nil {
		return err
	}
	for department, amount := range budgets {
		_, err := l.db.ExecContext(ctx,
			"INSERT INTO budgets (department, remaining) VALUES (?, ?) ON CONFLICT (department) DO NOTHING",
			department, int64(amount))
		if err != nil {
			return fmt.Errorf("budget of department %q: %w", department, err)
		}
	}
	return nil
}

// Close closes the file.
func (l *Ledger) Close() error { return l.db.Close() }

// Budget returns what is left of a department's budget. An unknown department is CodeNotFound.
func (l *Ledger) Budget(ctx context.Context, department string) (money.Amount, error) {
	return budget(ctx, l.db, department)
}

type querier interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

func budget(ctx context.Context, q querier, department string) (money.Amount, error) {
	var remaining int64
	err := q.QueryRowContext(ctx, "SELECT remaining FROM budgets WHERE department = ?", department).Scan(&remaining)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, conversation.Errorf(conversation.CodeNotFound, "没有部门%q的预算", department)
	}
	if err != nil {
		return 0, conversation.Errorf(conversation.CodeUnavailable, "budget of department %q: %w", department, err)
	}
	return money.Amount(remaining), nil
}

// Request is what is to be debited.
type Request struct {
	UserID     string
	Department string
	Amount     money.Amount // More than 0.
	Currency   string
	Approver   string
	TripID     string
}

// digest tells two requests apart. Fields are separated by their lengths, so that no two requests look the same.
func (r Request) digest() string {
	var text strings.Builder
	for _, field := range []string{r.UserID, r.Department, r.Amount.String(), r.Currency, r.Approver, r.TripID} {
		fmt.Fprintf(&text, "%d:%s", len(field), field)
	}
	sum := sha256.Sum256([]byte(text.String()))
	return hex.EncodeToString(sum[:])
}

// Debit is one executed debit.
type Debit struct {
	RecordID string // "E-2024-000001".
	Key      string // Idempotency key.
	Request  Request
	// Remaining is the department's budget right after it.
	Remaining money.Amount
	At        time.Time
	// Repeated says that this was executed by an earlier call with the same key.
	Repeated bool
}

// ErrInsufficient is the cause of a refusal for want of budget.
var ErrInsufficient = errors.New("insufficient budget")

// ErrOtherRequest is the cause of a refusal because the key belongs to another request.
var ErrOtherRequest = errors.New("idempotency key belongs to another request")

// Execute debits once per key, in one transaction: the record is there exactly if the money is gone. A repetition
// returns the first answer. Errors: CodeInvalidArgument, CodeNotFound (department), CodeConflict with cause
// ErrInsufficient or ErrOtherRequest, CodeUnavailable (try again with the same key).
func (l *Ledger) Execute(ctx context.Context, key string, r Request) (Debit, error) {
	switch {
	case key == "":
		return Debit{}, conversation.Errorf(conversation.CodeInvalidArgument, "扣款缺少幂等键")
	case r.Amount <= 0:
		return Debit{}, conversation.Errorf(conversation.CodeInvalidArgument, "扣款金额%q必须大于0", r.Amount)
	case r.Currency != Currency:
		return Debit{}, conversation.Errorf(conversation.CodeInvalidArgument, "预算币种为%s，不能扣%q", Currency, r.Currency)
	}
	tx, err := l.db.BeginTx(ctx, nil)
	if err != nil {
		return Debit{}, unavailable(key, err)
	}
	defer func() { _ = tx.Rollback() }() // Does nothing after Commit.
	debit, done, err := find(ctx, tx, key)
	if err != nil {
		return Debit{}, unavailable(key, err)
	}
	if done {
		if debit.Request.digest() != r.digest() {
			return Debit{}, conversation.Errorf(conversation.CodeConflict, "幂等键%q已用于另一笔扣款：%w", key, ErrOtherRequest)
		}
		debit.Repeated = true
		return debit, nil
	}
	remaining, err := budget(ctx, tx, r.Department)
	if err != nil {
		return Debit{}, err
	}
	if remaining < r.Amount {
		return Debit{}, conversation.Errorf(conversation.CodeConflict, "%s预算余额￥%s不足以支付￥%s：%w", r.Department,
			remaining.Short(), r.Amount.Short(), ErrInsufficient)
	}
	debit = Debit{Key: key, Request: r, Remaining: remaining - r.Amount, At: l.now().UTC()}
	if debit.RecordID, err = insert(ctx, tx, debit); err != nil {
		return Debit{}, unavailable(key, err)
	}
	if err := tx.Commit(); err != nil {
		return Debit{}, unavailable(key, err)
	}
	return debit, nil
}

func unavailable(key string, err error) error {
	return conversation.Errorf(conversation.CodeUnavailable, "debit with key %q: %w", key, err)
}
