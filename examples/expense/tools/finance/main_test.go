package finance_test

import (
	"os"
	"testing"

	"go.uber.org/goleak"
)

// TestMain runs the tests; started as the child of the crash test, it is that child instead.
func TestMain(m *testing.M) {
	if path := os.Getenv(crashLedger); path != "" {
		crashingChild(path)
		return
	}
	goleak.VerifyTestMain(m)
}
