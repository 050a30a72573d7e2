package workflows_test

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/hermes-orchestrator/hermes/contract"
	"github.com/hermes-orchestrator/hermes/conversation"
	"github.com/hermes-orchestrator/hermes/workflows"
)

// stage plays one conversation: the real workflow under the real contract plugin, with a script for every component
// outside. A test sets the part of the script that it is about before it runs; what was done is in the records.
type stage struct {
	t   *testing.T
	env *testsuite.TestWorkflowEnvironment

	accept     func() error
	recall     func() (conversation.Recollection, error)
	understand func(conversation.UnderstandRequest) conversation.Understanding
	plan       func(conversation.PlanRequest) (conversation.Plan, error)
	tool       func(contract.Envelope) (conversation.Answer, error)
	render     func(conversation.ReplyRequest) error
	remember   func() error

	mu      sync.Mutex
	accepts int
	calls   []contract.Envelope
	plans   []conversation.PlanRequest
	replies []conversation.ReplyRequest
	writes  []conversation.Write
}

const trace = "0123456789abcdef0123456789abcdef"

var (
	begin = time.Date(2024, 6, 3, 2, 0, 0, 0, time.UTC)
	claim = conversation.FlowRef{ID: "claim", Version: "1"}
)

func newStage(t *testing.T) *stage {
	t.Helper()
	var suite testsuite.WorkflowTestSuite
	s := &stage{
		t: t, env: suite.NewTestWorkflowEnvironment(),
		accept: func() error { return nil }, understand: choice, plan: onePayment, tool: paid,
		recall:   func() (conversation.Recollection, error) { return conversation.Recollection{}, nil },
		render:   func(conversation.ReplyRequest) error { return nil },
		remember: func() error { return nil },
	}
	plugin, err := contract.NewPlugin()
	require.NoError(t, err)
	s.env.SetWorkerOptions(worker.Options{Plugins: []worker.Plugin{plugin}})
	s.env.SetStartTime(begin)
	s.env.RegisterWorkflowWithOptions(workflows.Conversation, workflow.RegisterOptions{Name: conversation.WorkflowType})
	register := func(name string, function any) {
		s.env.RegisterActivityWithOptions(function, activity.RegisterOptions{Name: name})
	}
	register(conversation.ActivityOpen, func(context.Context, contract.Envelope) (conversation.Opened, error) {
		return conversation.Opened{UserHash: "h", Flows: []conversation.FlowRef{claim}}, nil
	})
	register(conversation.ActivityAccept, func(_ context.Context, e contract.Envelope) (conversation.Accepted, error) {
		s.mu.Lock()
		s.accepts++
		s.mu.Unlock()
		return conversation.Accepted{Revision: arguments[conversation.AcceptRequest](t, e).Expected + 1}, s.accept()
	})
	register(conversation.ActivityRecall, func(context.Context, contract.Envelope) (conversation.Recollection, error) { return s.recall() })
	register(conversation.ActivityUnderstand, func(_ context.Context, e contract.Envelope) (conversation.Understanding, error) {
		return s.understand(arguments[conversation.UnderstandRequest](t, e)), nil
	})
	register(conversation.ActivityPlan, func(_ context.Context, e contract.Envelope) (conversation.Plan, error) {
		request := arguments[conversation.PlanRequest](t, e)
		s.mu.Lock()
		s.plans = append(s.plans, request)
		s.mu.Unlock()
		return s.plan(request)
	})
	register(conversation.ActivityInvoke, func(_ context.Context, e contract.Envelope) (conversation.Answer, error) {
		s.mu.Lock()
		s.calls = append(s.calls, e)
		s.mu.Unlock()
		return s.tool(e)
	})
	register(conversation.ActivityComplete, func(_ context.Context, e contract.Envelope) (conversation.Answer, error) {
		c := arguments[conversation.Completion](t, e)
		return conversation.Answer{Step: c.Step, Tool: c.Tool, MessageID: c.MessageID, Status: conversation.AnswerOK}, nil
	})
	register(conversation.ActivityReply, func(_ context.Context, e contract.Envelope) (conversation.Rendered, error) {
		request := arguments[conversation.ReplyRequest](t, e)
		if err := s.render(request); err != nil {
			return conversation.Rendered{}, err
		}
		s.mu.Lock()
		s.replies = append(s.replies, request)
		s.mu.Unlock()
		return conversation.Rendered{Text: string(request.Kind), Published: true}, nil
	})
	register(conversation.ActivityRemember, func(_ context.Context, e contract.Envelope) (conversation.Remembered, error) {
		if err := s.remember(); err != nil {
			return conversation.Remembered{}, err
		}
		s.mu.Lock()
		s.writes = append(s.writes, arguments[conversation.RememberRequest](t, e).Writes...)
		s.mu.Unlock()
		return conversation.Remembered{}, nil
	})
	return s
}

// arguments are those of an envelope. They have been checked on the way here.
func arguments[T any](t *testing.T, e contract.Envelope) T {
	var value T
	if err := json.Unmarshal(e.Payload.Context.Arguments, &value); err != nil {
		t.Errorf("arguments of %s: %v", e.Payload.Task, err)
	}
	return value
}

// Scripts.

// choice understands the ids of options, and nothing that is written.
func choice(r conversation.UnderstandRequest) conversation.Understanding {
	events := map[string]conversation.Event{
		conversation.ChoiceCancel: conversation.EventCancel, conversation.ChoiceGoOn: conversation.EventContinue,
		conversation.ChoiceModify: conversation.EventModify,
	}
	return conversation.Understanding{Choice: r.Message.Choice, Event: events[r.Message.Choice]}
}

// step is a call of the flow: its tool and operation have the step's name.
func step(id, effect string) conversation.ToolCall {
	return conversation.ToolCall{
		Step: id, Tool: id, Operation: "do", Arguments: json.RawMessage(`{}`), Effect: effect, TimeoutMS: 1000, MaxAttempts: 1,
	}
}

// onePayment is a flow that needs no material and pays at its end.
func onePayment(r conversation.PlanRequest) (conversation.Plan, error) {
	p := conversation.Plan{Case: r.Case, Digest: "shown"}
	if r.Phase == conversation.PhaseCommit && len(r.Answers)+len(r.Failed) == 0 {
		p.Calls = []conversation.ToolCall{step("pay", contract.EffectWrite)}
	}
	return p, nil
}

func paid(e contract.Envelope) (conversation.Answer, error) {
	return conversation.Answer{Step: e.Metadata.Step, Tool: e.Metadata.Step, MessageID: e.MessageID, Status: conversation.AnswerOK}, nil
}

// later is a tool that answers by task_complete.
func later(e contract.Envelope) (conversation.Answer, error) {
	a, err := paid(e)
	a.Status = conversation.AnswerProcessing
	return a, err
}

func down(what string) error {
	return contract.ApplicationError(conversation.Errorf(conversation.CodeInternal, "%s is down", what))
}

// passing is down for a moment: final for who asked, worth another try later.
func passing(what string) error {
	return temporal.NewNonRetryableApplicationError(what+" is down", string(conversation.CodeUnavailable), nil)
}

// Where a conversation has come to.

type carried map[string]any

// at is a conversation that has come to a state, an hour before its deadline.
func at(state conversation.State, more carried) carried {
	c := carried{
		"state": state, "user_hash": "h", "locale": "zh", "zone": "UTC", "trace_id": trace, "flow": claim,
		"limits": conversation.Limits{}.WithDefaults(), "cycles": 1, "revision": 1, "case": conversation.Case{Intent: "claim"},
	}
	if state != conversation.StateIntent {
		c["deadline"] = begin.Add(time.Hour)
	}
	if state == conversation.StateConfirmation {
		c["asked"] = conversation.ReplyConfirmation
		c["receipt"] = map[string]any{"id": "receipt-a", "digest": "shown", "expires_at": begin.Add(time.Hour)}
	}
	maps.Copy(c, more)
	return c
}

// waiting is a call that a tool will answer later.
func waiting(phase conversation.Phase, id string, files ...string) []map[string]any {
	return []map[string]any{{
		"phase": phase, "message_id": id, "step": "read", "tool": "read", "operation": "do",
		"deadline": begin.Add(2 * time.Minute), "files": files,
	}}
}

func file(name string) conversation.Attachment {
	return conversation.Attachment{Name: name, URI: "blob:sha256/" + name, SHA256: name}
}

// What happens on the stage.

func (s *stage) after(d time.Duration, do func()) { s.env.RegisterDelayedCallback(do, d) }

// says sends a message by signal.
func (s *stage) says(d time.Duration, m conversation.UserMessage) {
	s.after(d, func() { s.env.SignalWorkflow(conversation.SignalUserMessage, m) })
}

func (s *stage) chooses(d time.Duration, messageID, option string) {
	s.says(d, conversation.UserMessage{MessageID: messageID, Choice: option})
}

// completes delivers the late answer of a call.
func (s *stage) completes(d time.Duration, messageID string) {
	s.after(d, func() {
		data, err := json.Marshal(conversation.Completion{MessageID: messageID, Status: 200, Signature: "s"})
		require.NoError(s.t, err)
		e := contract.Envelope{
			MessageID: "complete." + messageID, Timestamp: 1, Source: "tool:read", Target: "conversation:s",
			TraceID: trace, CycleID: "c",
			Payload: contract.Payload{Task: conversation.SignalComplete, Context: contract.Context{SessionID: "s", Arguments: data}},
		}
		require.NoError(s.t, e.Seal())
		s.env.SignalWorkflow(conversation.SignalComplete, e)
	})
}

// sees looks at the conversation as it is then.
func (s *stage) sees(d time.Duration, look func(conversation.CaseView)) {
	s.after(d, func() {
		value, err := s.env.QueryWorkflow(conversation.QueryCase)
		require.NoError(s.t, err)
		var view conversation.CaseView
		require.NoError(s.t, value.Get(&view))
		look(view)
	})
}

// ends looks at the conversation for the last time and cancels its workflow.
func (s *stage) ends(d time.Duration, look func(conversation.CaseView)) {
	s.sees(d, func(view conversation.CaseView) {
		look(view)
		s.env.CancelWorkflow()
	})
}

// run plays the conversation from where it has come to until it ends.
func (s *stage) run(from carried) {
	s.t.Helper()
	data, err := json.Marshal(from)
	require.NoError(s.t, err)
	s.env.ExecuteWorkflow(conversation.WorkflowType,
		conversation.ConversationInput{SessionID: "s", UserID: "u", UserHash: "h", Carried: data})
	require.True(s.t, s.env.IsWorkflowCompleted())
}

// What was done.

func (s *stage) kinds() []conversation.ReplyKind {
	s.mu.Lock()
	defer s.mu.Unlock()
	var kinds []conversation.ReplyKind
	for _, r := range s.replies {
		kinds = append(kinds, r.Kind)
	}
	return kinds
}

// keys are the keys of the effects that tools were asked for, in order.
func (s *stage) keys() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var keys []string
	for _, e := range s.calls {
		if e.Metadata.Effect == contract.EffectWrite {
			keys = append(keys, e.Metadata.IdempotencyKey)
		}
	}
	return keys
}

func (s *stage) tries() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.accepts
}

// planned are the requests of a phase that were made to the flow.
func (s *stage) planned(phase conversation.Phase) []conversation.PlanRequest {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(s.plans), func(r conversation.PlanRequest) bool { return r.Phase != phase })
}

// unfinished is what the conversation left for the next one.
func (s *stage) unfinished() conversation.Unfinished {
	s.t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	i := slices.IndexFunc(s.writes, func(w conversation.Write) bool { return w.Kind == conversation.WriteUnfinished })
	require.GreaterOrEqual(s.t, i, 0, "nothing was kept")
	return *s.writes[i].Unfinished
}
