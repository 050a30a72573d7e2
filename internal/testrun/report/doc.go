// Package report turns the event stream of `go test -json` back into the lines that go test prints, and adds the list
// of skipped tests and the totals. It imports the standard library only; internal/testrun imports it.
package report
