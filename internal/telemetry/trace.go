package telemetry

import (
	"context"

	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracegrpc"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	semconv "go.opentelemetry.io/otel/semconv/v1.26.0"
	temporalotel "go.temporal.io/sdk/contrib/opentelemetry"
	"go.temporal.io/sdk/interceptor"
)

// Tracer exports spans to an OTLP/gRPC collector. Close sends what is left.
type Tracer struct {
	// Interceptor goes into client.Options.Interceptors; a client's worker gets it from there. Nil when nothing is
	// traced.
	Interceptor interceptor.Interceptor
	provider    *sdktrace.TracerProvider
}

// NewTracer returns a tracer for the collector at endpoint, "http://host:4317" (or https). It does not wait for the
// collector: spans are dropped while it is away, and conversations go on. With an empty endpoint it traces nothing.
func NewTracer(ctx context.Context, endpoint, service string) (*Tracer, error) {
	if endpoint == "" {
		return &Tracer{}, nil
	}
	exporter, err := otlptracegrpc.New(ctx, otlptracegrpc.WithEndpointURL(endpoint))
	if err != nil {
		return nil, err
	}
	provider := sdktrace.NewTracerProvider(
		sdktrace.WithBatcher(exporter),
		sdktrace.WithResource(resource.NewSchemaless(semconv.ServiceName(service))),
	)
	tracing, err := temporalotel.NewTracingInterceptor(temporalotel.TracerOptions{
		Tracer:            provider.Tracer("github.com/hermes-orchestrator/hermes"),
		TextMapPropagator: propagation.NewCompositeTextMapPropagator(propagation.TraceContext{}, propagation.Baggage{}),
	})
	if err != nil {
		return nil, err
	}
	return &Tracer{Interceptor: tracing, provider: provider}, nil
}

// Close sends the spans that are left, as long as ctx lets it.
func (t *Tracer) Close(ctx context.Context) error {
	if t.provider == nil {
		return nil
	}
	return t.provider.Shutdown(ctx)
}
