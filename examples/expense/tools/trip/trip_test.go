package trip_test

import (
	"context"
	"log/slog"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/hermes-orchestrator/hermes/conversation"
	"github.com/hermes-orchestrator/hermes/examples/expense/tools/internal/toolcall"
	"github.com/hermes-orchestrator/hermes/examples/expense/tools/trip"
	"github.com/hermes-orchestrator/hermes/tool"
)

func TestVerify(t *testing.T) {
	t.Parallel()
	s, err := trip.New(trip.Config{Key: toolcall.Key(t), Logger: slog.New(slog.DiscardHandler)})
	require.NoError(t, err)
	caller := toolcall.New(t, trip.Name, s, map[string]tool.Operation{"verify": toolcall.Read()}, "")
	const own = `{"valid":true,"trip_id":"T-2024-0512","reason":""}`
	tests := []struct{ name, user, city, start, end, want string }{
		{"own trip", "u-1001", "深圳", "2024-05-12", "2024-05-15", own},
		{"in English", "u-1001", "shenzhen", "2024-05-12", "2024-05-15", own},
		{"with 市", "u-1001", "深圳市", "2024-05-14", "2024-05-20", own},
		{"any city", "u-1001", "", "2024-04-10", "2024-04-10", `{"valid":true,"trip_id":"T-2024-0408","reason":""}`},
		{"June", "u-1001", "深圳", "2024-06-12", "2024-06-15", `{"valid":true,"trip_id":"T-2024-0612","reason":""}`},
		{"most days win", "u-1001", "深圳", "2024-05-15", "2024-06-14", `{"valid":true,"trip_id":"T-2024-0612","reason":""}`},
		{
			"demonstration", "u-1002", "深圳", "2024-05-12", "2024-05-15",
			`{"valid":true,"trip_id":"T-2024-DEMO-u-1002","reason":""}`,
		},
		{
			"the day after", "u-1001", "深圳", "2024-05-16", "2024-05-18",
			`{"valid":false,"trip_id":"","reason":"没有2024-05-16至2024-05-18去深圳的出差审批记录"}`,
		},
		{
			"other city", "u-1001", "成都", "2024-05-12", "2024-05-15",
			`{"valid":false,"trip_id":"","reason":"没有2024-05-12至2024-05-15去成都的出差审批记录"}`,
		},
	}
	for _, tt := range tests {
		answer, err := caller.Invoke(context.Background(), "verify", tt.name, map[string]string{
			"user_id": tt.user, "city": tt.city, "start": tt.start, "end": tt.end,
		})
		require.NoError(t, err, tt.name)
		require.JSONEq(t, tt.want, string(answer.Output), tt.name)
	}
	_, err = caller.Invoke(context.Background(), "verify", "backwards", map[string]string{
		"user_id": "u-1001", "city": "", "start": "2024-05-15", "end": "2024-05-12",
	})
	require.Equal(t, conversation.CodeToolRefused, conversation.CodeOf(err))
}

func TestParseTripsNamesTheProblem(t *testing.T) {
	t.Parallel()
	for _, give := range []string{
		`trips: [{id: T-1, user: u, city: {zh: 深圳}, start: "2024-02-30", end: "2024-03-01"}]`,
		`trips: [{id: T-1, user: u, city: {zh: 深圳}, start: "2024-03-02", end: "2024-03-01"}]`,
		`trips: [{id: T-1, user: "", city: {zh: 深圳}, start: "2024-03-01", end: "2024-03-01"}]`,
	} {
		_, err := trip.ParseTrips([]byte(give))
		require.Equal(t, conversation.CodeInvalidConfig, conversation.CodeOf(err), give)
		require.ErrorContains(t, err, "T-1")
	}
}
