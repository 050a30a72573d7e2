package main_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/hermes-orchestrator/hermes/dev/stack"
)

// The floor (DESIGN 6) is the least that a message can cost on this machine: a bare workflow that takes one update and
// runs one local activity, or in its place n activities at once. Budgets of conversations are ratios to it, measured in
// the same run. Each benchmark reports, beside Go's own numbers:
//
//	p50-ms     median time from sending the update to its result, one message at a time
//	events     history events of one message
//	bytes      history bytes of one message
//	msg/s      messages per second of benchWriters at once, each with a conversation of its own (benchmark "throughput")
//
//	go test -run '^$' -bench Floor ./dev

const (
	benchQueue   = "floor"
	benchWriters = 16
	benchTimeout = time.Minute
)

// floor takes messages until it is told to end.
func floor(ctx workflow.Context) error {
	err := workflow.SetUpdateHandler(ctx, "message", func(ctx workflow.Context, activities int) error {
		if activities == 0 {
			local := workflow.WithLocalActivityOptions(ctx, workflow.LocalActivityOptions{ScheduleToCloseTimeout: benchTimeout})
			return workflow.ExecuteLocalActivity(local, nothing).Get(ctx, nil)
		}
		remote := workflow.WithActivityOptions(ctx, workflow.ActivityOptions{StartToCloseTimeout: benchTimeout})
		var running []workflow.Future
		for range activities {
			running = append(running, workflow.ExecuteActivity(remote, nothing))
		}
		for _, future := range running {
			if err := future.Get(ctx, nil); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	workflow.GetSignalChannel(ctx, "end").Receive(ctx, nil)
	return nil
}

func nothing(context.Context) error { return nil }

func BenchmarkFloor(b *testing.B) {
	c := benchClient(b)
	for _, activities := range []int{0, 1, 3} {
		name := fmt.Sprintf("activities=%d", activities)
		if activities == 0 {
			name = "local"
		}
		b.Run(name+"/latency", func(b *testing.B) { benchLatency(b, c, activities) })
		b.Run(name+"/throughput", func(b *testing.B) { benchThroughput(b, c, activities) })
	}
}

// benchClient starts a stack with a worker for the floor.
func benchClient(b *testing.B) client.Client {
	b.Helper()
	ctx, cancel := context.WithTimeout(b.Context(), benchTimeout)
	defer cancel()
	s, err := stack.Start(ctx, stack.Options{Temporal: true})
	require.NoError(b, err)
	b.Cleanup(func() { require.NoError(b, s.Close()) })
	c, err := s.Client(b.Context())
	require.NoError(b, err)
	w := worker.New(c, benchQueue, worker.Options{})
	w.RegisterWorkflow(floor)
	w.RegisterActivity(nothing)
	require.NoError(b, w.Start())
	b.Cleanup(func() {
		w.Stop()
		c.Close()
	})
	return c
}

// talker is a workflow that messages are sent to. A run ends before the server's limit of updates is near.
type talker struct {
	client     client.Client
	activities int
	id         string
	sent       int
}

// updatesPerRun is well below the server's limit of 2,000.
const updatesPerRun = 500

func (k *talker) send(ctx context.Context) error {
	if k.sent%updatesPerRun == 0 {
		if err := k.renew(ctx); err != nil {
			return err
		}
	}
	k.sent++
	handle, err := k.client.UpdateWorkflow(ctx, client.UpdateWorkflowOptions{
		WorkflowID: k.id, UpdateName: "message", Args: []any{k.activities}, WaitForStage: client.WorkflowUpdateStageCompleted,
	})
	if err != nil {
		return err
	}
	return handle.Get(ctx, nil)
}

func (k *talker) renew(ctx context.Context) error {
	if err := k.end(ctx); err != nil {
		return err
	}
	run, err := k.client.ExecuteWorkflow(ctx, client.StartWorkflowOptions{TaskQueue: benchQueue}, floor)
	if err != nil {
		return err
	}
	k.id = run.GetID()
	return nil
}

func (k *talker) end(ctx context.Context) error {
	if k.id == "" {
		return nil
	}
	return k.client.SignalWorkflow(ctx, k.id, "", "end", nil)
}

// history returns the number of events of the present run and their size in bytes.
func (k *talker) history(ctx context.Context) (events int, bytes int64, err error) {
	described, err := k.client.DescribeWorkflowExecution(ctx, k.id, "")
	if err != nil {
		return 0, 0, err
	}
	info := described.GetWorkflowExecutionInfo()
	return int(info.GetHistoryLength()), info.GetHistorySizeBytes(), nil
}

func benchLatency(b *testing.B, c client.Client, activities int) {
	k := &talker{client: c, activities: activities}
	require.NoError(b, k.send(b.Context())) // Starts the workflow and fills the caches.
	events, bytes, err := k.history(b.Context())
	require.NoError(b, err)
	require.NoError(b, k.send(b.Context()))
	eventsLater, bytesLater, err := k.history(b.Context())
	require.NoError(b, err)

	var took []time.Duration
	for b.Loop() {
		begin := time.Now()
		require.NoError(b, k.send(b.Context()))
		took = append(took, time.Since(begin))
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "p50-ms")
	b.ReportMetric(float64(eventsLater-events), "events")
	b.ReportMetric(float64(bytesLater-bytes), "bytes")
	require.NoError(b, k.end(b.Context()))
}

func benchThroughput(b *testing.B, c client.Client, activities int) {
	talkers := make([]*talker, benchWriters)
	for i := range talkers {
		talkers[i] = &talker{client: c, activities: activities}
		require.NoError(b, talkers[i].send(b.Context()))
	}
	work := make(chan struct{})
	errs := make(chan error, benchWriters)
	var writers sync.WaitGroup
	for _, k := range talkers {
		writers.Go(func() {
			var err error
			for range work {
				if err == nil {
					err = k.send(b.Context())
				}
			}
			errs <- err
		})
	}
	begin := time.Now()
	for b.Loop() {
		work <- struct{}{}
	}
	close(work)
	writers.Wait()
	b.ReportMetric(float64(b.N)/time.Since(begin).Seconds(), "msg/s")
	for range talkers {
		require.NoError(b, <-errs)
	}
	for _, k := range talkers {
		require.NoError(b, k.end(b.Context()))
	}
}
