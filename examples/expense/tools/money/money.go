package money

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Amount is a sum in minor units (fen, cents): 3200.00 is 320000.
type Amount int64

// Parse reads a plain decimal such as "3200", "3200.5" or "3200.00". It refuses signs, spaces, grouping, exponents,
// more than two decimals and what does not fit into 64 bits: an amount is taken exactly or not at all.
func Parse(text string) (Amount, error) {
	whole, fraction, dotted := strings.Cut(text, ".")
	if whole == "" || !digits(whole) {
		return 0, fmt.Errorf("amount %q is not a decimal number such as %q", text, "3200.00")
	}
	if dotted && (fraction == "" || !digits(fraction)) {
		return 0, fmt.Errorf("amount %q has no digits after the point", text)
	}
	if len(fraction) > 2 {
		return 0, fmt.Errorf("amount %q has more than two decimals", text)
	}
	units, err := strconv.ParseInt(whole, 10, 64)
	if err != nil || units > (math.MaxInt64-99)/100 {
		return 0, fmt.Errorf("amount %q is too large", text)
	}
	minor, _ := strconv.ParseInt((fraction + "00")[:2], 10, 64)
	return Amount(units*100 + minor), nil
}

// Add returns the sum, or an error instead of an overflow.
func (a Amount) Add(b Amount) (Amount, error) {
	if b > 0 && a > math.MaxInt64-b || b < 0 && a < math.MinInt64-b {
		return 0, fmt.Errorf("the sum of %s and %s is too large", a, b)
	}
	return a + b, nil
}

// String writes the amount with two decimals.
func (a Amount) String() string {
	sign, magnitude := "", uint64(a)
	if a < 0 {
		sign, magnitude = "-", -magnitude
	}
	return fmt.Sprintf("%s%d.%02d", sign, magnitude/100, magnitude%100)
}

// Short writes the amount for people: without decimals when it is a whole number of units ("3200", "466.02").
func (a Amount) Short() string {
	return strings.TrimSuffix(a.String(), ".00")
}

func digits(text string) bool {
	for _, r := range text {
		if r < '0' || r > '9' {
			return false
		}
	}
	return true
}
