package server

import (
	"runtime/metrics"
	"time"

	"github.com/hermes-orchestrator/hermes/conversation"
)

// allocated is the runtime's count of bytes ever allocated on the heap. The difference over a call is its memory
// increment; calls that run at the same time are counted in, as the runtime does not tell them apart.
const allocated = "/gc/heap/allocs:bytes"

// meter measures one call (SPEC P6).
type meter struct {
	now   func() time.Time
	start time.Time
	bytes uint64
}

// measured is what a meter found. Its zero value is a call that nobody carried out.
type measured struct {
	time     time.Duration
	bytes    uint64
	external conversation.ExternalCalls
}

func startMeter(now func() time.Time) meter {
	return meter{now: now, start: now(), bytes: heapAllocated()}
}

func (m meter) stop(call *Call) measured {
	return measured{
		time:     max(0, m.now().Sub(m.start)),
		bytes:    heapAllocated() - m.bytes,
		external: call.externalCalls(),
	}
}

func heapAllocated() uint64 {
	samples := []metrics.Sample{{Name: allocated}}
	metrics.Read(samples)
	if samples[0].Value.Kind() != metrics.KindUint64 {
		return 0
	}
	return samples[0].Value.Uint64()
}

// diagnostics states full confidence: what is known is known, until a result says otherwise.
func (m measured) diagnostics() conversation.Diagnostics {
	return conversation.Diagnostics{
		ProcessingTimeMS: m.time.Milliseconds(), MemoryUsedKB: int64(m.bytes >> 10), ExternalCalls: m.external,
		ConfidenceScore: 1,
	}
}
