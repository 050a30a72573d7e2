package finance_test

import (
	"context"
	"log/slog"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/hermes-orchestrator/hermes/conversation"
	"github.com/hermes-orchestrator/hermes/examples/expense/tools/finance"
	"github.com/hermes-orchestrator/hermes/examples/expense/tools/internal/toolcall"
	"github.com/hermes-orchestrator/hermes/tool"
)

func setup(t *testing.T, afterDebit func(string)) (*toolcall.Caller, *finance.Ledger) {
	t.Helper()
	budgets, err := finance.ParseBudgets(nil)
	require.NoError(t, err)
	ledger, err := finance.OpenLedger(context.Background(), filepath.Join(t.TempDir(), "ledger.db"), budgets, nil)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, ledger.Close()) })
	s, err := finance.New(finance.Config{
		Key: toolcall.Key(t), Ledger: ledger, AfterDebit: afterDebit, Logger: slog.New(slog.DiscardHandler),
	})
	require.NoError(t, err)
	return toolcall.New(t, finance.Name, s, map[string]tool.Operation{
		"budget": toolcall.Read(), "debit": toolcall.Write(),
	}, ""), ledger
}

func arguments(amount string) map[string]string {
	return map[string]string{
		"user_id": "u-1001", "department": department, "amount": amount, "currency": "CNY", "approver": "张主管",
		"trip_id": "T-2024-0512",
	}
}

func TestBudgetAndDebit(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	var after []string
	caller, ledger := setup(t, func(key string) { after = append(after, key) })
	answer, err := caller.Invoke(ctx, "budget", "b-1", map[string]string{"department": department})
	require.NoError(t, err)
	require.JSONEq(t, `{"budget_remaining":"125000.00","currency":"CNY"}`, string(answer.Output))
	require.Contains(t, answer.Verification, "已核对部门预算余额")

	first, err := caller.Invoke(ctx, "debit", "d-1", arguments("8240.00"))
	require.NoError(t, err)
	require.Contains(t, string(first.Output), `"116760.00"`)
	require.Contains(t, first.Verification, "已比对幂等键，无重复扣款")
	again, err := caller.Invoke(ctx, "debit", "d-1", arguments("8240.00"))
	require.NoError(t, err)
	require.JSONEq(t, string(first.Output), string(again.Output))
	require.Equal(t, []string{"d-1"}, after)

	_, err = caller.Invoke(ctx, "debit", "d-1", arguments("1.00"))
	require.Equal(t, conversation.CodeToolRefused, conversation.CodeOf(err))
	require.ErrorContains(t, err, "idempotency_conflict")
	_, err = caller.Invoke(ctx, "debit", "d-2", arguments("999999.00"))
	require.ErrorContains(t, err, "insufficient_budget")
	for _, amount := range []string{"1.005", "-1.00", "1e3", "0.00", "99999999999999999999.00", "￥5"} {
		_, err = caller.Invoke(ctx, "debit", "d-3", arguments(amount))
		require.Equal(t, conversation.CodeToolRefused, conversation.CodeOf(err), amount)
	}
	debits, err := ledger.Debits(ctx)
	require.NoError(t, err)
	require.Len(t, debits, 1)
}

func TestUnknownDepartmentIsRefused(t *testing.T) {
	t.Parallel()
	caller, _ := setup(t, nil)
	_, err := caller.Invoke(context.Background(), "budget", "b-1", map[string]string{"department": "没有的部"})
	require.Equal(t, conversation.CodeToolRefused, conversation.CodeOf(err))
}

func TestParseBudgets(t *testing.T) {
	t.Parallel()
	_, err := finance.ParseBudgets([]byte("budgets: {采购部: \"12.345\"}"))
	require.Equal(t, conversation.CodeInvalidConfig, conversation.CodeOf(err))
	require.ErrorContains(t, err, "采购部")
	_, err = finance.ParseBudgets([]byte("budget: {}"))
	require.Error(t, err)
}
