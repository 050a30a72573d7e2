package tool

import (
	"errors"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/hermes-orchestrator/hermes/conversation"
)

// metrics are the series of one registerer. Labels are names of the registry and codes, both closed sets.
type metrics struct {
	calls         *prometheus.CounterVec
	latency       *prometheus.HistogramVec
	badSignatures *prometheus.CounterVec
	fallbacks     *prometheus.CounterVec
}

// codeOK is the label of a call without error. One that was accepted to be answered later has AnswerProcessing.
const codeOK = "ok"

func newMetrics(registerer prometheus.Registerer) (*metrics, error) {
	m := &metrics{
		calls: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "hermes_tool_calls_total",
			Help: "Attempts to call a tool, by result: ok, processing or an error code.",
		}, []string{"tool", "operation", "code"}),
		latency: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "hermes_tool_call_seconds",
			Help:    "Time from the start of an attempt to its verified answer or its error.",
			Buckets: []float64{.005, .01, .025, .05, .1, .25, .5, 1, 2, 5, 10, 30, 60, 120},
		}, []string{"tool", "operation"}),
		badSignatures: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "hermes_tool_bad_signatures_total",
			Help: "Answers that were discarded because their signature did not verify. Any increase is an alarm.",
		}, []string{"tool"}),
		fallbacks: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "hermes_tool_fallbacks_total",
			Help: "Fallback answers asked for, by strategy and result: ok or an error code.",
		}, []string{"tool", "operation", "strategy", "code"}),
	}
	if registerer == nil {
		return m, nil
	}
	var err error
	m.calls, err = register(registerer, m.calls, err)
	m.latency, err = register(registerer, m.latency, err)
	m.badSignatures, err = register(registerer, m.badSignatures, err)
	m.fallbacks, err = register(registerer, m.fallbacks, err)
	if err != nil {
		return nil, conversation.Errorf(conversation.CodeInvalidConfig, "metrics of tools cannot be registered: %w",
			err)
	}
	return m, nil
}

// register returns the collector that is registered already, if there is one: several clients may share a registerer.
func register[C prometheus.Collector](registerer prometheus.Registerer, collector C, before error) (C, error) {
	if before != nil {
		return collector, before
	}
	err := registerer.Register(collector)
	if already, ok := errors.AsType[prometheus.AlreadyRegisteredError](err); ok {
		if existing, ok := already.ExistingCollector.(C); ok {
			return existing, nil
		}
	}
	return collector, err
}

func (m *metrics) call(tool, operation string, answer conversation.Answer, err error, took time.Duration) {
	code := codeOK
	switch {
	case err != nil:
		code = string(conversation.CodeOf(err))
	case answer.Status == conversation.AnswerProcessing:
		code = conversation.AnswerProcessing
	}
	m.calls.WithLabelValues(tool, operation, code).Inc()
	m.latency.WithLabelValues(tool, operation).Observe(took.Seconds())
}

func (m *metrics) fallback(tool, operation, strategy string, err error) {
	code := codeOK
	if err != nil {
		code = string(conversation.CodeOf(err))
	}
	m.fallbacks.WithLabelValues(tool, operation, strategy, code).Inc()
}
