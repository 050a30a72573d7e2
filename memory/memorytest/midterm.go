package memorytest

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/hermes-orchestrator/hermes/conversation"
	"github.com/hermes-orchestrator/hermes/memory"
)

// midterm runs the portable type on the driver once, from end to end; its policies have tests of their own.
func midterm(t *testing.T, kv memory.KV) {
	ctx := t.Context()
	m := memory.NewMidterm(kv, memory.MidtermConfig{})
	user, other := Fresh("u:/张三"), Fresh("u")

	require.NoError(t, m.SetPreference(ctx, user, "language", json.RawMessage(`"zh"`), "m-1"))
	preferences, err := m.Preferences(ctx, user)
	require.NoError(t, err)
	require.JSONEq(t, `"zh"`, string(preferences["language"].Value))
	require.Equal(t, "m-1", preferences["language"].ConfirmedBy)
	preferences, err = m.Preferences(ctx, other)
	require.NoError(t, err)
	require.Empty(t, preferences)
	require.NoError(t, m.RevokePreference(ctx, user, "language"))
	preferences, err = m.Preferences(ctx, user)
	require.NoError(t, err)
	require.Empty(t, preferences)

	unfinished := conversation.Unfinished{
		SessionID: "s/1", Outcome: conversation.OutcomeCancelled, Summary: "已上传2张发票，待OCR识别",
		At: time.Now().UTC().Truncate(time.Millisecond), Case: conversation.Case{Intent: "submit"},
	}
	require.NoError(t, m.SaveUnfinished(ctx, user, unfinished))
	all, err := m.Unfinished(ctx, user)
	require.NoError(t, err)
	require.Equal(t, []conversation.Unfinished{unfinished}, all)
	require.NoError(t, m.FinishUnfinished(ctx, user, "s/1"))
	all, err = m.Unfinished(ctx, user)
	require.NoError(t, err)
	require.Empty(t, all)

	require.NoError(t, m.AddWarning(ctx, user, "flow", "接近标准上限", "m-1"))
	require.NoError(t, m.AddWarning(ctx, user, "flow", "接近标准上限", "m-2"))
	warnings, err := m.Warnings(ctx, user, "flow")
	require.NoError(t, err)
	require.Equal(t, []string{"接近标准上限"}, warnings)
}
