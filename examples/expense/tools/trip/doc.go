// Package trip is the tool trip_tool of the expense example: it knows which business trips were approved, and verifies
// that one of them fits a claim. Trips are read from a YAML file.
//
// It imports tool/server and libraries; tools and cmd/expense-tools import it.
package trip
