package server

import (
	"fmt"
	"sync"
	"time"

	"github.com/hermes-orchestrator/hermes/tool"
)

const (
	// statsWindow is how far back calls count. It is short: a tool that nobody asks because it was failing must look
	// usable again after a while, or it would never be asked again.
	statsWindow = time.Minute
	// statsMax bounds the calls kept per operation.
	statsMax = 512
	// statsPrior counts as so many successful calls: one failure on a quiet day is no reason to stop asking, two are.
	statsPrior = 20
)

// stats measures the operations of one tool.
type stats struct {
	now func() time.Time

	mu         sync.Mutex
	operations map[string][]sample // Oldest first.
}

type sample struct {
	at      time.Time
	latency time.Duration // Per item.
	failed  bool
}

func newStats(now func() time.Time) *stats {
	return &stats{now: now, operations: map[string][]sample{}}
}

// add records a call. Failed are calls that the tool could not answer (5xx), not those that it refused (4xx).
func (s *stats) add(operation string, took time.Duration, items int, failed bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	samples := s.recent(operation)
	if len(samples) >= statsMax {
		samples = samples[1:]
	}
	s.operations[operation] = append(samples,
		sample{at: s.now(), latency: took / time.Duration(max(1, items)), failed: failed})
}

// recent drops what is too old and returns the rest.
func (s *stats) recent(operation string) []sample {
	samples := s.operations[operation]
	for len(samples) > 0 && s.now().Sub(samples[0].at) > statsWindow {
		samples = samples[1:]
	}
	s.operations[operation] = samples
	return samples
}

// latency is the mean time of one item of an operation; 0 if nothing was measured lately.
func (s *stats) latency(operation string) time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	return mean(s.recent(operation))
}

func mean(samples []sample) time.Duration {
	var sum time.Duration
	for _, one := range samples {
		sum += one.latency
	}
	if len(samples) == 0 {
		return 0
	}
	return sum / time.Duration(len(samples))
}

// health sums up: the latency of the slowest operation, and the success rate of all calls of the last minute.
func (s *stats) health() tool.Health {
	s.mu.Lock()
	defer s.mu.Unlock()
	var slowest time.Duration
	calls, failed := 0, 0
	for operation := range s.operations {
		samples := s.recent(operation)
		slowest = max(slowest, mean(samples))
		calls += len(samples)
		for _, one := range samples {
			if one.failed {
				failed++
			}
		}
	}
	h := tool.Health{
		Status: tool.StatusOK, LatencyMS: float64(slowest.Microseconds()) / 1000,
		SuccessRate: float64(calls-failed+statsPrior) / float64(calls+statsPrior),
		Detail:      fmt.Sprintf("%d of %d calls failed in the last %s", failed, calls, statsWindow),
	}
	if h.Unhealthy(tool.DefaultLatencyLimit) != "" {
		h.Status = tool.StatusDegraded
	}
	return h
}
