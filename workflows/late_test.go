package workflows_test

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/hermes-orchestrator/hermes/contract"
	"github.com/hermes-orchestrator/hermes/conversation"
)

// reader is a flow that has its uploads read, and pays.
func reader(r conversation.PlanRequest) (conversation.Plan, error) {
	if r.Phase != conversation.PhaseInspect {
		return onePayment(r)
	}
	p := conversation.Plan{Case: r.Case.Clone()}
	if r.Late || len(r.Failed) > 0 {
		return p, nil
	}
	fresh := false
	for i := range p.Case.Materials {
		m := &p.Case.Materials[i]
		fresh = fresh || !m.Inspected
		m.Inspected = m.Inspected || len(r.Answers) > 0
	}
	if fresh && len(r.Answers) == 0 {
		p.Calls = []conversation.ToolCall{step("read", contract.EffectRead)}
	}
	return p, nil
}

// checker is a flow whose one check is answered later; finding is what it then finds, if anything.
func checker(finding conversation.Finding) func(conversation.PlanRequest) (conversation.Plan, error) {
	return func(r conversation.PlanRequest) (conversation.Plan, error) {
		if r.Phase != conversation.PhaseValidate {
			return onePayment(r)
		}
		p := conversation.Plan{Case: r.Case.Clone(), Digest: "shown"}
		for _, a := range r.Answers {
			if a.Status == conversation.AnswerOK {
				p.Case.Done = []string{"read"}
				if finding.ID != "" {
					p.Case.Findings = []conversation.Finding{finding}
				}
			}
		}
		if len(p.Case.Done)+len(r.Answers)+len(r.Failed) == 0 {
			call := step("read", contract.EffectRead)
			call.Async = true
			p.Calls = []conversation.ToolCall{call}
		}
		return p, nil
	}
}

func slowReader(e contract.Envelope) (conversation.Answer, error) {
	if e.Metadata.Effect == contract.EffectWrite {
		return paid(e)
	}
	return later(e)
}

// An answer that comes while the session store is down is not lost: it is taken in as soon as the store is up, although
// its tool has done its duty and will not send it again.
func TestLateAnswerOutlivesTheSessionStore(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.plan = reader
	var up atomic.Bool
	s.accept = func() error {
		if up.Load() {
			return nil
		}
		return down("session store")
	}
	s.completes(time.Second, "c1")
	s.sees(10*time.Second, func(view conversation.CaseView) {
		require.Equal(t, []string{"read"}, view.Pending)
		require.Equal(t, 1, s.tries())
		require.Empty(t, s.planned(conversation.PhaseInspect))
		up.Store(true)
	})
	s.ends(time.Minute, func(view conversation.CaseView) {
		require.Empty(t, view.Pending)
		require.Equal(t, conversation.StateConfirmation, view.State)
	})
	s.run(at(conversation.StateMaterials, carried{"pending": waiting(conversation.PhaseInspect, "c1")}))
	require.Equal(t, 2, s.tries())
	plans := s.planned(conversation.PhaseInspect)
	require.Len(t, plans, 1)
	require.True(t, plans[0].Late)
	require.Len(t, plans[0].Answers, 1)
	require.Equal(t, "c1", plans[0].Answers[0].MessageID)
}

// A second copy of the answer that comes first is enough.
func TestLateAnswerSentAgain(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.plan = reader
	var up atomic.Bool
	s.accept = func() error {
		if up.Load() {
			return nil
		}
		return down("session store")
	}
	s.completes(time.Second, "c1")
	s.after(2*time.Second, func() { up.Store(true) })
	s.completes(3*time.Second, "c1")
	s.ends(2*time.Minute, func(view conversation.CaseView) { require.Empty(t, view.Pending) })
	s.run(at(conversation.StateMaterials, carried{"pending": waiting(conversation.PhaseInspect, "c1")}))
	require.Len(t, s.planned(conversation.PhaseInspect), 1)
}

// The time limit of a slow tool passes only once it has been written down.
func TestTaskLimitOutlivesTheSessionStore(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.plan = reader
	var up atomic.Bool
	s.accept = func() error {
		if up.Load() {
			return nil
		}
		return down("session store")
	}
	s.sees(2*time.Minute+10*time.Second, func(view conversation.CaseView) {
		require.Equal(t, []string{"read"}, view.Pending)
		require.NotZero(t, s.tries())
		up.Store(true)
	})
	s.ends(3*time.Minute, func(view conversation.CaseView) { require.Empty(t, view.Pending) })
	s.run(at(conversation.StateMaterials, carried{"pending": waiting(conversation.PhaseInspect, "c1")}))
	plans := s.planned(conversation.PhaseInspect)
	require.NotEmpty(t, plans)
	require.Len(t, plans[0].Failed, 1)
	require.Equal(t, conversation.CodeToolUnavailable, plans[0].Failed[0].Code)
}

// Nothing is confirmed while a check is not answered yet.
func TestUnansweredCheckHoldsTheConfirmationBack(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.plan, s.tool = checker(conversation.Finding{}), slowReader
	s.chooses(time.Second, "m1", conversation.ChoiceRetry)
	s.chooses(2*time.Second, "m2", conversation.ChoiceConfirm)
	s.sees(3*time.Second, func(view conversation.CaseView) {
		require.Equal(t, conversation.StateReview, view.State)
		require.Empty(t, s.keys())
		require.Len(t, s.calls, 1)
	})
	s.after(4*time.Second, func() { s.completes(time.Second, s.calls[0].MessageID) })
	s.chooses(10*time.Second, "m3", conversation.ChoiceConfirm)
	s.run(at(conversation.StateMaterials, nil))
	require.Equal(t, []conversation.ReplyKind{
		conversation.ReplyProcessing, conversation.ReplyProcessing, conversation.ReplyConfirmation, conversation.ReplyCommitted,
	}, s.kinds())
	require.Len(t, s.keys(), 1)
}

// What a check finds after the confirmation was shown is heard before anything is done.
func TestFatalLateFindingIsNotExecuted(t *testing.T) {
	t.Parallel()
	from := at(conversation.StateConfirmation, carried{"pending": waiting(conversation.PhaseValidate, "c1")})
	fatal := conversation.Finding{ID: "fraud", Kind: conversation.FindingFatal}
	t.Run("before the click", func(t *testing.T) {
		t.Parallel()
		s := newStage(t)
		s.plan, s.tool = checker(fatal), slowReader
		s.completes(time.Second, "c1")
		s.chooses(2*time.Second, "m1", conversation.ChoiceConfirm)
		s.run(from)
		require.Equal(t, conversation.ReplyFailed, s.kinds()[0])
		require.Empty(t, s.keys())
		require.Equal(t, conversation.OutcomeFailed, s.unfinished().Outcome)
	})
	t.Run("after the click", func(t *testing.T) {
		t.Parallel()
		s := newStage(t)
		s.plan, s.tool = checker(fatal), slowReader
		s.chooses(time.Second, "m1", conversation.ChoiceConfirm)
		s.completes(2*time.Second, "c1")
		s.run(from)
		require.Equal(t, []conversation.ReplyKind{conversation.ReplyProcessing, conversation.ReplyFailed}, s.kinds())
		require.Empty(t, s.keys())
	})
	t.Run("in the case already", func(t *testing.T) {
		t.Parallel()
		s := newStage(t)
		s.chooses(time.Second, "m1", conversation.ChoiceConfirm)
		s.run(at(conversation.StateConfirmation, carried{
			"case": conversation.Case{Intent: "claim", Findings: []conversation.Finding{fatal}},
		}))
		require.Equal(t, []conversation.ReplyKind{conversation.ReplyFailed}, s.kinds())
		require.Empty(t, s.keys())
	})
}
