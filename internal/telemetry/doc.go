// Package telemetry sets up what a Hermes program tells its operators: structured logs (slog), metrics (Prometheus),
// and traces (OpenTelemetry, only where a collector is named). Nothing in it is global: each value is made once by the
// program and handed on. It imports client libraries only; programs, workers and starter may import it.
package telemetry
