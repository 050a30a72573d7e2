// Package rules is the tool rule_engine_tool of the expense example: it checks a claim against the rules of a YAML
// file, whose conditions and texts are CEL expressions, and says who approves it. Amounts are whole minor units in
// every expression. Rules are compiled when the tool starts: an error in a rule stops the tool, not a claim.
//
// It imports tool/server, money and libraries; tools and cmd/expense-tools import it.
package rules
