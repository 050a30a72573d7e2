package workflows_test

import (
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/hermes-orchestrator/hermes/contract"
	"github.com/hermes-orchestrator/hermes/conversation"
)

func refusing(contract.Envelope) (conversation.Answer, error) {
	return conversation.Answer{}, contract.ApplicationError(conversation.Errorf(conversation.CodeToolRefused, "not like this"))
}

func silent(contract.Envelope) (conversation.Answer, error) {
	return conversation.Answer{}, contract.ApplicationError(conversation.Errorf(conversation.CodeToolUnavailable, "no answer"))
}

// unfolded is a flow that pays and can make nothing of the answer.
func unfolded(r conversation.PlanRequest) (conversation.Plan, error) {
	if len(r.Answers) > 0 {
		return conversation.Plan{}, contract.ApplicationError(conversation.Errorf(conversation.CodeToolMisbehaved, "no record"))
	}
	return onePayment(r)
}

// resumed is a conversation that offers an unfinished one.
func resumed(offer conversation.Unfinished) carried {
	return at(conversation.StateIntent, carried{
		"asked": conversation.ReplyResumeOffer, "offered": true, "offer": offer, "trace_id": "fedcba9876543210fedcba9876543210",
	})
}

// An effect whose outcome is not known keeps its key, whoever goes on: the tool answers what it did, and nothing is
// paid twice.
func TestOpenEffectKeepsItsKey(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		plan func(conversation.PlanRequest) (conversation.Plan, error)
		tool func(contract.Envelope) (conversation.Answer, error)
	}{
		"no answer":                     {onePayment, silent},
		"an answer that says nothing":   {unfolded, paid},
		"an answer that is to come yet": {onePayment, later},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			first := newStage(t)
			first.plan, first.tool = tt.plan, tt.tool
			first.chooses(time.Second, "m1", conversation.ChoiceConfirm)
			first.run(at(conversation.StateConfirmation, nil))
			require.Equal(t, []conversation.ReplyKind{conversation.ReplyUnknown}, first.kinds())
			require.Equal(t, []string{"receipt-a"}, first.keys())
			require.Equal(t, "receipt-a", first.unfinished().OpenKey)

			second := newStage(t)
			second.chooses(time.Second, "m1", conversation.ChoiceResume)
			second.chooses(2*time.Second, "m2", conversation.ChoiceConfirm)
			second.run(resumed(first.unfinished()))
			require.Equal(t, []conversation.ReplyKind{conversation.ReplyConfirmation, conversation.ReplyCommitted}, second.kinds())
			require.Equal(t, []string{"receipt-a"}, second.keys())
		})
	}
}

// A resumed conversation that comes to nothing hands the open key on.
func TestOpenKeyIsHandedOn(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.chooses(time.Second, "m1", conversation.ChoiceResume)
	s.chooses(2*time.Second, "m2", conversation.ChoiceModify)
	s.chooses(3*time.Second, "m3", conversation.ChoiceCancel)
	s.run(resumed(conversation.Unfinished{SessionID: "old", Flow: claim, Case: having(), OpenKey: "receipt-a"}))
	require.Empty(t, s.keys())
	require.Equal(t, "receipt-a", s.unfinished().OpenKey)
}

// A tool that refuses a key which was used before says nothing of what it did under it the first time.
func TestRefusalOfAnOpenKeyLeavesItOpen(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.tool = refusing
	s.chooses(time.Second, "m1", conversation.ChoiceConfirm)
	s.run(at(conversation.StateConfirmation, carried{"open_key": "receipt-a"}))
	require.Equal(t, []conversation.ReplyKind{conversation.ReplyUnknown}, s.kinds())
	require.Equal(t, "receipt-a", s.unfinished().OpenKey)
}

// The tool's own signed refusal of a first attempt is certain: nothing was done, the next attempt is a new one.
func TestRefusedEffectIsNotOpen(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.tool = refusing
	s.chooses(time.Second, "m1", conversation.ChoiceConfirm)
	s.run(at(conversation.StateConfirmation, nil))
	require.Equal(t, []conversation.ReplyKind{conversation.ReplyFailed}, s.kinds())
	require.Empty(t, s.unfinished().OpenKey)
}

// Keys of different conversations can never meet: a cycle is named by the whole trace.
func TestKeyNamesTheWholeTrace(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.chooses(time.Second, "m1", conversation.ChoiceRetry)
	s.chooses(2*time.Second, "m2", conversation.ChoiceConfirm)
	s.run(at(conversation.StateMaterials, nil))
	require.Len(t, s.keys(), 1)
	require.Regexp(t, "^receipt-"+trace+"-[0-9]+$", s.keys()[0])
}

// What a second tool refuses does not undo what the first one did.
func TestSecondEffectRefusedAfterTheFirst(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.plan = func(r conversation.PlanRequest) (conversation.Plan, error) {
		p, err := onePayment(r)
		if len(r.Answers) == 1 && r.Answers[0].Step == "pay" {
			p.Calls = []conversation.ToolCall{step("book", contract.EffectWrite)}
		}
		return p, err
	}
	s.tool = func(e contract.Envelope) (conversation.Answer, error) {
		if e.Metadata.Step == "book" {
			return refusing(e)
		}
		return paid(e)
	}
	s.chooses(time.Second, "m1", conversation.ChoiceConfirm)
	s.run(at(conversation.StateConfirmation, nil))
	require.Equal(t, []conversation.ReplyKind{conversation.ReplyUnknown}, s.kinds())
	require.Equal(t, []string{"receipt-a", "receipt-a"}, s.keys())
	require.Equal(t, "receipt-a", s.unfinished().OpenKey)
}

// The outcome of an effect is known before anything is said, also when a flow asks for less.
func TestEffectIsNeverAsynchronous(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.plan = func(r conversation.PlanRequest) (conversation.Plan, error) {
		p, err := onePayment(r)
		for i := range p.Calls {
			p.Calls[i].Async = true
		}
		return p, err
	}
	s.chooses(time.Second, "m1", conversation.ChoiceConfirm)
	s.run(at(conversation.StateConfirmation, nil))
	require.Equal(t, []conversation.ReplyKind{conversation.ReplyCommitted}, s.kinds())
	require.Len(t, s.calls, 1)
	require.False(t, s.calls[0].Metadata.Async)
	require.False(t, arguments[conversation.ToolCall](t, s.calls[0]).Async)
}

// While memory cannot be asked no effect is made (SPEC P2). What was shown stays confirmable.
func TestMemoryDownHoldsTheEffectBack(t *testing.T) {
	t.Parallel()
	absent := conversation.Recollection{Degraded: []conversation.Degraded{{Component: contract.ComponentMidterm, Strategy: "absent"}}}
	tests := map[string]func() (conversation.Recollection, error){
		"one tier":     func() (conversation.Recollection, error) { return absent, nil },
		"all of it":    func() (conversation.Recollection, error) { return conversation.Recollection{}, down("memory") },
		"all, retried": func() (conversation.Recollection, error) { return conversation.Recollection{}, errors.New("timeout") },
	}
	for name, broken := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t)
			var up atomic.Bool
			s.recall = func() (conversation.Recollection, error) {
				if up.Load() {
					return conversation.Recollection{}, nil
				}
				return broken()
			}
			s.chooses(time.Second, "m1", conversation.ChoiceConfirm)
			s.sees(5*time.Minute, func(view conversation.CaseView) {
				require.Equal(t, conversation.StateConfirmation, view.State)
				require.Empty(t, s.keys())
				up.Store(true)
			})
			s.chooses(6*time.Minute, "m2", conversation.ChoiceConfirm)
			s.run(at(conversation.StateConfirmation, nil))
			require.Equal(t, []conversation.ReplyKind{conversation.ReplyConfirmation, conversation.ReplyCommitted}, s.kinds())
			require.Equal(t, []string{"receipt-a"}, s.keys())
		})
	}
}

// Only what the last reply showed can be confirmed.
func TestConfirmMeansWhatWasShownLast(t *testing.T) {
	t.Parallel()
	t.Run("another question was asked", func(t *testing.T) {
		t.Parallel()
		s := newStage(t)
		s.understand = func(r conversation.UnderstandRequest) conversation.Understanding {
			u := choice(r)
			if r.Message.Text != "" {
				u.Ambiguous = []conversation.Option{{ID: "a", Label: "A"}, {ID: "b", Label: "B"}}
			}
			return u
		}
		s.says(time.Second, conversation.UserMessage{MessageID: "m1", Text: "the other one"})
		s.chooses(2*time.Second, "m2", conversation.ChoiceConfirm)
		s.sees(3*time.Second, func(view conversation.CaseView) {
			require.Equal(t, conversation.StateConfirmation, view.State)
			require.Empty(t, s.keys())
		})
		s.chooses(4*time.Second, "m3", conversation.ChoiceConfirm)
		s.run(at(conversation.StateConfirmation, nil))
		require.Equal(t, []conversation.ReplyKind{
			conversation.ReplyAmbiguous, conversation.ReplyConfirmation, conversation.ReplyCommitted,
		}, s.kinds())
		require.Equal(t, []string{"receipt-a"}, s.keys())
	})
	t.Run("it could not be shown", func(t *testing.T) {
		t.Parallel()
		s := newStage(t)
		var broken atomic.Bool
		broken.Store(true)
		s.render = func(r conversation.ReplyRequest) error {
			if r.Kind == conversation.ReplyConfirmation && broken.Load() {
				return down("rendering")
			}
			return nil
		}
		s.chooses(time.Second, "m1", conversation.ChoiceRetry)
		s.sees(2*time.Second, func(view conversation.CaseView) {
			require.Equal(t, conversation.StateConfirmation, view.State)
			broken.Store(false)
		})
		s.chooses(3*time.Second, "m2", conversation.ChoiceConfirm)
		s.sees(4*time.Second, func(view conversation.CaseView) {
			require.Equal(t, conversation.StateConfirmation, view.State)
			require.Empty(t, s.keys())
		})
		s.chooses(5*time.Second, "m3", conversation.ChoiceConfirm)
		s.run(at(conversation.StateMaterials, nil))
		require.Equal(t, []conversation.ReplyKind{conversation.ReplyConfirmation, conversation.ReplyCommitted}, s.kinds())
		require.Len(t, s.keys(), 1)
	})
}

// Who wanted to change something and then does not comes back to the confirmation.
func TestModifyWithoutAChangeLeadsBack(t *testing.T) {
	t.Parallel()
	for name, second := range map[string]conversation.UserMessage{
		"go on": {MessageID: "m2", Choice: conversation.ChoiceGoOn},
		"words": {MessageID: "m2", Text: "it is right as it is"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t)
			s.chooses(time.Second, "m1", conversation.ChoiceModify)
			s.says(2*time.Second, second)
			s.ends(3*time.Second, func(view conversation.CaseView) { require.Equal(t, conversation.StateConfirmation, view.State) })
			s.run(at(conversation.StateConfirmation, nil))
			require.Equal(t, []conversation.ReplyKind{conversation.ReplyModify, conversation.ReplyConfirmation}, s.kinds())
		})
	}
}
