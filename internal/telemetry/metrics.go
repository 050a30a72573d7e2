package telemetry

import (
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"go.temporal.io/sdk/client"
)

// NewRegistry returns a registry with the metrics of the Go runtime and of the process.
func NewRegistry() *prometheus.Registry {
	registry := prometheus.NewRegistry()
	registry.MustRegister( // The two cannot collide in an empty registry.
		collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
	)
	return registry
}

// NewTemporalMetrics returns a handler for client.Options.MetricsHandler that keeps the SDK's metrics, and those that
// workflows and activities record, in registry. Names get Prometheus' suffixes: counters "_total", timers "_seconds"
// (histograms). Call it once per registry: a second call returns the registry's error.
func NewTemporalMetrics(registry prometheus.Registerer) (client.MetricsHandler, error) {
	store := &seriesStore{series: map[string]prometheus.Collector{}}
	if err := registry.Register(store); err != nil {
		return nil, err
	}
	return &metricsHandler{store: store}, nil
}

// seriesStore holds every series. It is an unchecked collector (it describes nothing in advance) because the SDK gives
// the same metric different tags at different places, which a prometheus.CounterVec refuses.
type seriesStore struct {
	mu     sync.RWMutex
	series map[string]prometheus.Collector
}

// Describe says nothing, which makes the collector unchecked.
func (*seriesStore) Describe(chan<- *prometheus.Desc) {}

// Collect sends every series.
func (s *seriesStore) Collect(metrics chan<- prometheus.Metric) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	for _, one := range s.series {
		one.Collect(metrics)
	}
}

// seriesOf returns the series of that key, made by create if it is new. A key names one kind of metric only.
func seriesOf[T prometheus.Collector](s *seriesStore, key string, create func() T) T {
	s.mu.RLock()
	found, ok := s.series[key].(T)
	s.mu.RUnlock()
	if ok {
		return found
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if found, ok = s.series[key].(T); !ok {
		found = create()
		s.series[key] = found
	}
	return found
}

type metricsHandler struct {
	store *seriesStore
	tags  prometheus.Labels
	key   string // Of tags.
}

func (h *metricsHandler) WithTags(tags map[string]string) client.MetricsHandler {
	merged := make(prometheus.Labels, len(h.tags)+len(tags))
	maps.Copy(merged, h.tags)
	for name, value := range tags {
		merged[sanitize(name)] = strings.ToValidUTF8(value, "\uFFFD")
	}
	var key strings.Builder
	for _, name := range slices.Sorted(maps.Keys(merged)) {
		key.WriteString("\x00" + name + "\x00" + merged[name])
	}
	return &metricsHandler{store: h.store, tags: merged, key: key.String()}
}

func (h *metricsHandler) Counter(name string) client.MetricsCounter {
	name = sanitize(name) + "_total"
	return counter{seriesOf(h.store, "counter\x00"+name+h.key, func() prometheus.Counter {
		return prometheus.NewCounter(prometheus.CounterOpts{
			Name: name, Help: "Counted by the Temporal SDK.", ConstLabels: h.tags,
		})
	})}
}

func (h *metricsHandler) Gauge(name string) client.MetricsGauge {
	name = sanitize(name)
	return gauge{seriesOf(h.store, "gauge\x00"+name+h.key, func() prometheus.Gauge {
		return prometheus.NewGauge(prometheus.GaugeOpts{
			Name: name, Help: "Measured by the Temporal SDK.", ConstLabels: h.tags,
		})
	})}
}

func (h *metricsHandler) Timer(name string) client.MetricsTimer {
	name = sanitize(name) + "_seconds"
	return timer{seriesOf(h.store, "timer\x00"+name+h.key, func() prometheus.Histogram {
		return prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: name, Help: "Timed by the Temporal SDK.", ConstLabels: h.tags,
			Buckets: []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60},
		})
	})}
}

type counter struct{ prometheus.Counter }

// Inc adds n. Prometheus counters cannot go down, so that a negative n counts nothing.
func (c counter) Inc(n int64) { c.Add(float64(max(n, 0))) }

type gauge struct{ prometheus.Gauge }

func (g gauge) Update(value float64) { g.Set(value) }

type timer struct{ prometheus.Histogram }

func (t timer) Record(d time.Duration) { t.Observe(d.Seconds()) }

// sanitize makes a name that Prometheus accepts everywhere: letters, digits and underscores.
func sanitize(name string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '_':
			return r
		}
		return '_'
	}, name)
}
