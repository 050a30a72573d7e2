// Package finance is the tool finance_tool of the expense example: budgets of departments, and debits from them, in an
// SQLite file. One idempotency key debits once: the same call again gets the same answer, another call with the same
// key is refused. Amounts are whole minor units; nothing is ever a floating-point number.
//
// It imports tool/server, money and libraries; tools and cmd/expense-tools import it.
package finance
