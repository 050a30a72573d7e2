package ocr

import (
	"context"
	_ "embed" // The picture of the self-test.
	"fmt"
	"math"
	"sync"
	"time"

	"github.com/hermes-orchestrator/hermes/tool"
	"github.com/hermes-orchestrator/hermes/tool/server"
)

// selfTest is a small receipt over selfTestAmount.
//
//go:embed selftest.png
var selfTest []byte

const selfTestAmount = "58.00"

const (
	// recent is how much the newest batch counts in the mean time per document.
	recent = 0.3
	// window is how many of the last batches count for the success rate, and prior how many successes are assumed
	// before them: one failure of a young process is not yet a rate.
	window = 50
	prior  = 20
	// patience is how long a heartbeat waits for the self-test: less than a caller's time limit of two seconds.
	patience = time.Second
)

// monitor measures the tool: time per document, success, and whether tesseract is there at all.
type monitor struct {
	reader   *Reader
	now      func() time.Time
	lifetime context.Context // Ends self-tests.

	mu       sync.Mutex
	tested   chan struct{} // Closed when the present self-test is over.
	testing  bool
	version  string        // Of tesseract; empty until known.
	latency  time.Duration // Mean per document; 0 until measured.
	outcomes []bool        // Of the last batches, oldest first.
	down     string        // Why nothing can be read; empty if the last self-test ran.
	problem  string        // What the self-test read wrongly.
}

// newMonitor starts the self-test in the background. It ends by itself, at the latest with ctx.
func newMonitor(ctx context.Context, reader *Reader, now func() time.Time) *monitor {
	m := &monitor{reader: reader, now: now, lifetime: ctx}
	m.test()
	return m
}

// test starts a self-test unless one is running, and returns what is closed at its end.
func (m *monitor) test() <-chan struct{} {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.testing {
		return m.tested
	}
	m.testing, m.tested = true, make(chan struct{})
	go func(tested chan struct{}) {
		defer close(tested)
		m.measure(m.lifetime)
	}(m.tested)
	return m.tested
}

func (m *monitor) measure(ctx context.Context) {
	start := m.now()
	version, err := m.reader.Version(ctx)
	var reading Reading
	if err == nil {
		start = m.now()
		reading, err = m.reader.Read(ctx, []Document{{Name: "selftest.png", Data: selfTest}})
	}
	took := m.now().Sub(start)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.testing = false
	m.version, m.down, m.problem = version, "", ""
	switch {
	case err != nil:
		m.version, m.down = "", message(err)
	case len(reading.Invoices) != 1 || reading.Invoices[0].Amount != selfTestAmount:
		m.problem = fmt.Sprintf("self-test: a receipt over %q was read as %+v", selfTestAmount, reading.Invoices)
	case m.latency == 0:
		m.latency = took
	}
}

// Version returns tesseract's version. It is asked for once and then remembered, as long as the program is there.
func (m *monitor) Version(ctx context.Context) (string, error) {
	if _, err := m.reader.engine.find(); err != nil {
		return "", err
	}
	m.mu.Lock()
	version := m.version
	m.mu.Unlock()
	if version != "" {
		return version, nil
	}
	version, err := m.reader.Version(ctx)
	if err != nil {
		return "", err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.version = version
	return version, nil
}

// record counts a batch.
func (m *monitor) record(took time.Duration, documents int, ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.outcomes = append(m.outcomes, ok)
	m.outcomes = m.outcomes[max(0, len(m.outcomes)-window):]
	if !ok || documents == 0 {
		return
	}
	each := took / time.Duration(documents)
	if m.latency == 0 {
		m.latency = each
		return
	}
	m.latency += time.Duration(recent * float64(each-m.latency))
}

// estimate is how long a batch will take, in whole seconds, and never less than the promise of floor.
func (m *monitor) estimate(documents int, floor time.Duration) time.Duration {
	m.mu.Lock()
	defer m.mu.Unlock()
	expected := time.Duration(documents) * m.latency
	seconds := time.Duration(math.Ceil(expected.Seconds())) * time.Second
	return max(seconds, floor)
}

// health is the heartbeat. It is "down" while tesseract or its language data is missing. After that was mended, the
// next heartbeats find out by a new self-test; it runs no process of its own, so that it is quick under load.
func (m *monitor) health(ctx context.Context) server.Health {
	if _, err := m.reader.engine.find(); err != nil {
		return server.Health{Status: tool.StatusDown, Detail: message(err)}
	}
	m.mu.Lock()
	tested := (<-chan struct{})(m.tested)
	retry := m.down != "" && !m.testing
	m.mu.Unlock()
	if retry {
		tested = m.test()
	}
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case <-tested:
	case <-timer.C:
	case <-ctx.Done():
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.down != "" {
		return server.Health{Status: tool.StatusDown, Detail: m.down}
	}
	successes := prior
	for _, ok := range m.outcomes {
		if ok {
			successes++
		}
	}
	h := server.Health{
		Status: tool.StatusOK, LatencyMS: float64(m.latency.Milliseconds()),
		SuccessRate: float64(successes) / float64(prior+len(m.outcomes)),
	}
	switch {
	case m.problem != "":
		h.Status, h.Detail = tool.StatusDegraded, m.problem
	case m.version != "":
		h.Detail = "tesseract " + m.version
	default:
		h.Detail = "the self-test is running"
	}
	return h
}
