// Package org is the tool org_tool of the expense example: a directory of users, their departments and who approves for
// them, read from a YAML file.
//
// It imports tool/server and libraries; tools and cmd/expense-tools import it.
package org
