package telemetry_test

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/stretchr/testify/require"

	"github.com/hermes-orchestrator/hermes/internal/telemetry"
)

func TestTemporalMetrics(t *testing.T) {
	t.Parallel()
	registry := telemetry.NewRegistry()
	handler, err := telemetry.NewTemporalMetrics(registry)
	require.NoError(t, err)

	// The SDK records one name under different sets of tags.
	handler.Counter("temporal_request").Inc(1)
	handler.WithTags(map[string]string{"operation": "Start"}).Counter("temporal_request").Inc(2)
	handler.WithTags(map[string]string{"operation": "Start"}).Counter("temporal_request").Inc(-5)
	handler.WithTags(map[string]string{"a": "1"}).WithTags(map[string]string{"bad-name": "\xff"}).Gauge("slots").Update(3)
	handler.Timer("temporal_request_latency").Record(30 * time.Millisecond)

	require.NoError(t, testutil.GatherAndCompare(registry, strings.NewReader(`
# HELP temporal_request_total Counted by the Temporal SDK.
# TYPE temporal_request_total counter
temporal_request_total 1
temporal_request_total{operation="Start"} 2
# HELP slots Measured by the Temporal SDK.
# TYPE slots gauge
slots{a="1",bad_name="`+"\uFFFD"+`"} 3
`), "temporal_request_total", "slots"))
	families, err := registry.Gather()
	require.NoError(t, err)
	names := map[string]bool{}
	for _, family := range families {
		names[family.GetName()] = true
	}
	require.True(t, names["temporal_request_latency_seconds"])
	require.True(t, names["go_goroutines"])
}

func TestLogger(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	logger := telemetry.NewLogger(&out, slog.LevelInfo, "json")
	logger.Debug("quiet")
	logger.Info("ready", "state", "S3.1")
	require.Contains(t, out.String(), `"msg":"ready","state":"S3.1"`)
	require.Contains(t, out.String(), `Z","level"`)
	require.NotContains(t, out.String(), "quiet")
}

func TestNoTracerWithoutEndpoint(t *testing.T) {
	t.Parallel()
	tracer, err := telemetry.NewTracer(t.Context(), "", "hermes-worker")
	require.NoError(t, err)
	require.Nil(t, tracer.Interceptor)
	require.NoError(t, tracer.Close(t.Context()))
}

func TestTracer(t *testing.T) {
	t.Parallel()
	tracer, err := telemetry.NewTracer(t.Context(), "http://127.0.0.1:1", "hermes-worker")
	require.NoError(t, err)
	require.NotNil(t, tracer.Interceptor)
	require.NoError(t, tracer.Close(t.Context()))
}
