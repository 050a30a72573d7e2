package main

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"

	"github.com/hermes-orchestrator/hermes/conversation"
)

// BenchmarkMessage measures one message without tool calls (a question in S2 that repeats what is missing) the way
// BenchmarkFloor measures its floor: update to result, history events and bytes of one message. Run both together:
//
//	go test -run '^$' -bench 'Floor/local/latency|Message' ./dev
func BenchmarkMessage(b *testing.B) {
	ctx, cancel := context.WithTimeout(b.Context(), time.Minute)
	defer cancel()
	app, err := assemble(ctx, assembleOptions{Example: filepath.Join("..", "examples", "expense")})
	require.NoError(b, err)
	b.Cleanup(func() { require.NoError(b, app.Close()) })

	k := &benchTalker{app: app}
	k.begin(b)
	k.send(b)
	events, bytes := k.history(b)
	k.send(b)
	eventsLater, bytesLater := k.history(b)
	var took []time.Duration
	for b.Loop() {
		if k.sent%500 == 0 { // Well below the server's limit of updates per run.
			k.begin(b)
		}
		begin := time.Now()
		k.send(b)
		took = append(took, time.Since(begin))
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "p50-ms")
	b.ReportMetric(float64(eventsLater-events), "events")
	b.ReportMetric(float64(bytesLater-bytes), "bytes")
}

type benchTalker struct {
	app     *application
	session string
	number  int
	sent    int
}

// begin leads a new conversation to S2.
func (k *benchTalker) begin(b *testing.B) {
	b.Helper()
	k.number++
	k.session = fmt.Sprintf("bench-%d", k.number)
	input := conversation.ConversationInput{SessionID: k.session, UserID: fmt.Sprintf("user-%d", k.number)}
	input.UserID = demoUser
	_, err := k.app.Temporal.ExecuteWorkflow(b.Context(), client.StartWorkflowOptions{ID: conversation.WorkflowID(k.session), TaskQueue: k.app.TaskQueue}, conversation.WorkflowType, input)
	require.NoError(b, err)
	reply := k.converse(b, "我要报上个月去深圳的差旅费")
	require.Equal(b, conversation.StateMaterials, reply.State)
}

func (k *benchTalker) send(b *testing.B) {
	b.Helper()
	require.Equal(b, conversation.StateMaterials, k.converse(b, "还需要什么材料").State)
}

func (k *benchTalker) converse(b *testing.B, text string) conversation.Reply {
	b.Helper()
	k.sent++
	m := conversation.UserMessage{MessageID: fmt.Sprintf("m-%d", k.sent), Text: text, SentAt: demoTime}
	handle, err := k.app.Temporal.UpdateWorkflow(b.Context(), client.UpdateWorkflowOptions{
		WorkflowID: conversation.WorkflowID(k.session), UpdateName: conversation.UpdateConverse, Args: []any{m},
		WaitForStage: client.WorkflowUpdateStageCompleted,
	})
	require.NoError(b, err)
	var reply conversation.Reply
	require.NoError(b, handle.Get(b.Context(), &reply))
	return reply
}

func (k *benchTalker) history(b *testing.B) (events int, bytes int64) {
	b.Helper()
	described, err := k.app.Temporal.DescribeWorkflowExecution(b.Context(), conversation.WorkflowID(k.session), "")
	require.NoError(b, err)
	info := described.GetWorkflowExecutionInfo()
	return int(info.GetHistoryLength()), info.GetHistorySizeBytes()
}
