package finance_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/hermes-orchestrator/hermes/conversation"
	"github.com/hermes-orchestrator/hermes/examples/expense/tools/finance"
	"github.com/hermes-orchestrator/hermes/examples/expense/tools/money"
)

const department = "采购部"

func open(t require.TestingT, path string, budget money.Amount) *finance.Ledger {
	ledger, err := finance.OpenLedger(context.Background(), path, map[string]money.Amount{department: budget}, nil)
	require.NoError(t, err)
	return ledger
}

func request(amount money.Amount) finance.Request {
	return finance.Request{
		UserID: "u-1001", Department: department, Amount: amount, Currency: "CNY", Approver: "张主管", TripID: "T-1",
	}
}

func TestDebitOnce(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	path := filepath.Join(t.TempDir(), "ledger.db")
	ledger := open(t, path, 125000_00)
	first, err := ledger.Execute(ctx, "k-1", request(8240_00))
	require.NoError(t, err)
	require.Equal(t, "116760.00", first.Remaining.String())
	require.Regexp(t, `^E-\d{4}-000001$`, first.RecordID)

	again, err := ledger.Execute(ctx, "k-1", request(8240_00))
	require.NoError(t, err)
	require.True(t, again.Repeated)
	require.Equal(t, first.RecordID, again.RecordID)
	require.Equal(t, first.Remaining, again.Remaining)

	for _, change := range []func(*finance.Request){
		func(r *finance.Request) { r.Amount = 1 }, func(r *finance.Request) { r.Approver = "李总监" },
		func(r *finance.Request) { r.TripID = "T-2" }, func(r *finance.Request) { r.UserID = "u-1002" },
	} {
		other := request(8240_00)
		change(&other)
		_, err = ledger.Execute(ctx, "k-1", other)
		require.ErrorIs(t, err, finance.ErrOtherRequest)
	}

	_, err = ledger.Execute(ctx, "k-2", request(116760_01))
	require.ErrorIs(t, err, finance.ErrInsufficient)
	require.Equal(t, conversation.CodeConflict, conversation.CodeOf(err))
	_, err = ledger.Execute(ctx, "k-3", request(0))
	require.Equal(t, conversation.CodeInvalidArgument, conversation.CodeOf(err))
	_, err = ledger.Execute(ctx, "", request(1))
	require.Equal(t, conversation.CodeInvalidArgument, conversation.CodeOf(err))
	_, err = ledger.Budget(ctx, "不存在")
	require.Equal(t, conversation.CodeNotFound, conversation.CodeOf(err))

	// A ledger that is opened again keeps what it has: the initial budget does not come back.
	require.NoError(t, ledger.Close())
	ledger = open(t, path, 125000_00)
	defer ledger.Close()
	remaining, err := ledger.Budget(ctx, department)
	require.NoError(t, err)
	require.Equal(t, "116760.00", remaining.String())
	debits, err := ledger.Debits(ctx)
	require.NoError(t, err)
	require.Len(t, debits, 1)
	require.Equal(t, request(8240_00), debits[0].Request)
}

// Whatever concurrent writers on two handles of one file do: each key debits at most once, the budget never goes below
// zero, and budget plus debits is what there was.
func TestConcurrentDebits(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	round := 0
	rapid.Check(t, func(rt *rapid.T) {
		ctx := context.Background()
		round++
		path := filepath.Join(dir, fmt.Sprintf("ledger-%d.db", round))
		budget := money.Amount(rapid.Int64Range(0, 50).Draw(rt, "budget"))
		handles := []*finance.Ledger{open(rt, path, budget), open(rt, path, budget)}
		type call struct {
			Key    int
			Amount int64
		}
		calls := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) call {
			return call{rapid.IntRange(0, 4).Draw(t, "key"), rapid.Int64Range(1, 20).Draw(t, "amount")}
		}), 1, 8).Draw(rt, "calls")
		var wg sync.WaitGroup
		failures := make([]error, len(calls))
		for i, c := range calls {
			wg.Go(func() {
				_, failures[i] = handles[i%2].Execute(ctx, fmt.Sprintf("k-%d", c.Key), request(money.Amount(c.Amount)))
			})
		}
		wg.Wait()
		for _, err := range failures {
			if err != nil {
				require.Equal(rt, conversation.CodeConflict, conversation.CodeOf(err), "%v", err)
			}
		}
		debits, err := handles[0].Debits(ctx)
		require.NoError(rt, err)
		remaining, err := handles[1].Budget(ctx, department)
		require.NoError(rt, err)
		keys, sum := map[string]bool{}, money.Amount(0)
		for _, debit := range debits {
			require.False(rt, keys[debit.Key], "key %q debited twice", debit.Key)
			keys[debit.Key] = true
			sum += debit.Request.Amount
			require.Equal(rt, budget-sum, debit.Remaining)
		}
		require.Equal(rt, budget, remaining+sum)
		require.NoError(rt, errors.Join(handles[0].Close(), handles[1].Close()))
	})
}

const crashLedger = "HERMES_TEST_CRASH_LEDGER"

// crashingChild debits and kills itself at the worst moment: after the commit, before anybody knows.
func crashingChild(path string) {
	ledger, err := finance.OpenLedger(context.Background(), path, map[string]money.Amount{department: 10000_00}, nil)
	if err != nil {
		os.Exit(3)
	}
	for i := range 5 {
		if _, err := ledger.Execute(context.Background(), fmt.Sprintf("k-%d", i), request(100_00)); err != nil {
			os.Exit(4)
		}
	}
	process, err := os.FindProcess(os.Getpid())
	if err == nil {
		err = process.Kill()
	}
	if err != nil {
		os.Exit(5)
	}
	select {}
}

func TestCrashAfterCommit(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	path := filepath.Join(t.TempDir(), "ledger.db")
	executable, err := os.Executable()
	require.NoError(t, err)
	child := exec.CommandContext(ctx, executable)
	child.Env = append(os.Environ(), crashLedger+"="+path)
	err = child.Run()
	var exit *exec.ExitError
	require.ErrorAs(t, err, &exit)
	status, ok := exit.Sys().(syscall.WaitStatus)
	require.True(t, ok && status.Signaled(), "the child ended by itself: %v", err)

	ledger := open(t, path, 10000_00)
	defer ledger.Close()
	debits, err := ledger.Debits(ctx)
	require.NoError(t, err)
	require.Len(t, debits, 5)
	repeated, err := ledger.Execute(ctx, "k-4", request(100_00))
	require.NoError(t, err)
	require.True(t, repeated.Repeated)
	remaining, err := ledger.Budget(ctx, department)
	require.NoError(t, err)
	require.Equal(t, "9500.00", remaining.String())
}
