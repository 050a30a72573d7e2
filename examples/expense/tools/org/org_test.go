package org_test

import (
	"context"
	"log/slog"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/hermes-orchestrator/hermes/conversation"
	"github.com/hermes-orchestrator/hermes/examples/expense/tools/internal/toolcall"
	"github.com/hermes-orchestrator/hermes/examples/expense/tools/org"
	"github.com/hermes-orchestrator/hermes/tool"
)

func TestLookup(t *testing.T) {
	t.Parallel()
	s, err := org.New(org.Config{Key: toolcall.Key(t), Logger: slog.New(slog.DiscardHandler)})
	require.NoError(t, err)
	caller := toolcall.New(t, org.Name, s, map[string]tool.Operation{"lookup": toolcall.Read()}, "")
	ctx := context.Background()
	answer, err := caller.Invoke(ctx, "lookup", "k-1", map[string]string{"user_id": "u-1001"})
	require.NoError(t, err)
	require.JSONEq(t, `{"name":"张三","dept":"采购部","approval_chain":["主管","总监"]}`, string(answer.Output))
	require.Contains(t, answer.Verification, "已比对组织目录中用户状态")
	for _, user := range []string{"u-9999", "u-1009"} {
		_, err = caller.Invoke(ctx, "lookup", "k-"+user, map[string]string{"user_id": user})
		require.Equal(t, conversation.CodeToolRefused, conversation.CodeOf(err), user)
	}
}

func TestParseDirectoryNamesTheProblem(t *testing.T) {
	t.Parallel()
	for give, want := range map[string]string{
		"departments: {A: {approval_chain: []}}":                                         `"A"`,
		"departments: {A: {approval_chain: [x]}}\nusers: {u: {name: n, department: B}}":  `"B"`,
		"departments: {A: {approval_chain: [x]}}\nusers: {u: {name: n, departement: A}}": "departement",
	} {
		_, err := org.ParseDirectory([]byte(give))
		require.Equal(t, conversation.CodeInvalidConfig, conversation.CodeOf(err), give)
		require.ErrorContains(t, err, want)
	}
}
