package finance

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/hermes-orchestrator/hermes/conversation"
	"github.com/hermes-orchestrator/hermes/examples/expense/tools/money"
)

const debitColumns = "id, idempotency_key, user_id, department, amount, currency, approver, trip_id, " +
	"remaining, created_at"

// insert writes the record and takes the money, both in the caller's transaction. It returns the record's id.
func insert(ctx context.Context, tx *sql.Tx, d Debit) (string, error) {
	r := d.Request
	result, err := tx.ExecContext(ctx, `INSERT INTO debits (idempotency_key, request_digest, user_id, department, amount,
		currency, approver, trip_id, remaining, created_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		d.Key, r.digest(), r.UserID, r.Department, int64(r.Amount), r.Currency, r.Approver, r.TripID, int64(d.Remaining),
		d.At.Format(time.RFC3339Nano))
	if err != nil {
		return "", err
	}
	id, err := result.LastInsertId()
	if err != nil {
		return "", err
	}
	_, err = tx.ExecContext(ctx, "UPDATE budgets SET remaining = remaining - ? WHERE department = ?",
		int64(r.Amount), r.Department)
	return recordID(id, d.At), err
}

// recordID is the number that people see. The year is that of the debit.
func recordID(id int64, at time.Time) string { return fmt.Sprintf("E-%d-%06d", at.Year(), id) }

// find returns the debit of a key.
func find(ctx context.Context, q querier, key string) (Debit, bool, error) {
	row := q.QueryRowContext(ctx, "SELECT "+debitColumns+" FROM debits WHERE idempotency_key = ?", key)
	debit, err := scan(row.Scan)
	if errors.Is(err, sql.ErrNoRows) {
		return Debit{}, false, nil
	}
	return debit, err == nil, err
}

// Debits lists all executed debits in their order.
func (l *Ledger) Debits(ctx context.Context) ([]Debit, error) {
	rows, err := l.db.QueryContext(ctx, "SELECT "+debitColumns+" FROM debits ORDER BY id")
	if err != nil {
		return nil, conversation.Errorf(conversation.CodeUnavailable, "list debits: %w", err)
	}
	defer rows.Close()
	var debits []Debit
	for rows.Next() {
		debit, err := scan(rows.Scan)
		if err != nil {
			return nil, conversation.Errorf(conversation.CodeUnavailable, "list debits: %w", err)
		}
		debits = append(debits, debit)
	}
	if err := rows.Err(); err != nil {
		return nil, conversation.Errorf(conversation.CodeUnavailable, "list debits: %w", err)
	}
	return debits, nil
}

func scan(into func(...any) error) (Debit, error) {
	var d Debit
	var id, amount, remaining int64
	var at string
	err := into(&id, &d.Key, &d.Request.UserID, &d.Request.Department, &amount, &d.Request.Currency, &d.Request.Approver,
		&d.Request.TripID, &remaining, &at)
	if err != nil {
		return Debit{}, err
	}
	if d.At, err = time.Parse(time.RFC3339Nano, at); err != nil {
		return Debit{}, err
	}
	d.Request.Amount, d.Remaining = money.Amount(amount), money.Amount(remaining)
	d.RecordID = recordID(id, d.At)
	return d, nil
}
