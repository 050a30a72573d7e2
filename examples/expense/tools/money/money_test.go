package money_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/hermes-orchestrator/hermes/examples/expense/tools/money"
)

func TestParse(t *testing.T) {
	t.Parallel()
	for give, want := range map[string]string{
		"0": "0.00", "3200": "3200.00", "3200.5": "3200.50", "466.02": "466.02", "007.10": "7.10",
		"92233720368547757.99": "92233720368547757.99",
	} {
		got, err := money.Parse(give)
		require.NoError(t, err, give)
		require.Equal(t, want, got.String())
	}
	for _, give := range []string{
		"", ".", "1.", ".5", "-1", "+1", "1,000", "1e3", "1.234", " 1", "1 ", "٣", "NaN", "92233720368547758.08",
		"99999999999999999999", "0x10", "1.2.3",
	} {
		_, err := money.Parse(give)
		require.Error(t, err, give)
	}
}

func TestAmountText(t *testing.T) {
	t.Parallel()
	require.Equal(t, "3200", money.Amount(320000).Short())
	require.Equal(t, "466.02", money.Amount(46602).Short())
	require.Equal(t, "-0.05", money.Amount(-5).String())
	require.Equal(t, "-92233720368547758.08", money.Amount(math.MinInt64).String())
}

func TestAddRefusesOverflow(t *testing.T) {
	t.Parallel()
	_, err := money.Amount(math.MaxInt64).Add(1)
	require.Error(t, err)
	_, err = money.Amount(math.MinInt64).Add(-1)
	require.Error(t, err)
	sum, err := money.Amount(320000).Add(456000)
	require.NoError(t, err)
	require.Equal(t, "7760.00", sum.String())
}

func TestParseIsTheInverseOfString(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		amount := money.Amount(rapid.Int64Range(0, math.MaxInt64-199).Draw(t, "minor"))
		parsed, err := money.Parse(amount.String())
		require.NoError(t, err)
		require.Equal(t, amount, parsed)
	})
}

func FuzzParse(f *testing.F) {
	f.Add("3200.00")
	f.Add("-1")
	f.Add("9223372036854775807")
	f.Fuzz(func(t *testing.T, text string) {
		amount, err := money.Parse(text)
		if err != nil {
			return
		}
		require.GreaterOrEqual(t, amount, money.Amount(0))
		again, err := money.Parse(amount.String())
		require.NoError(t, err)
		require.Equal(t, amount, again)
	})
}
