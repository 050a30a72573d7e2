package workflows_test

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/testsuite"

	"github.com/hermes-orchestrator/hermes/contract"
	"github.com/hermes-orchestrator/hermes/conversation"
)

// A plan of S3 that cannot be made leads to S3.1, which waits, offers to try again, and has a deadline.
func TestPlanFailingInValidation(t *testing.T) {
	t.Parallel()
	broken := func(up *atomic.Bool) func(conversation.PlanRequest) (conversation.Plan, error) {
		return func(r conversation.PlanRequest) (conversation.Plan, error) {
			if r.Phase == conversation.PhaseValidate && !up.Load() {
				return conversation.Plan{}, passing("flows")
			}
			return onePayment(r)
		}
	}
	t.Run("tried again", func(t *testing.T) {
		t.Parallel()
		s := newStage(t)
		var up atomic.Bool
		s.plan = broken(&up)
		s.chooses(time.Second, "m1", conversation.ChoiceRetry)
		s.chooses(2*time.Second, "m2", conversation.ChoiceRetry)
		s.sees(3*time.Second, func(view conversation.CaseView) {
			require.Equal(t, conversation.StateReview, view.State)
			up.Store(true)
		})
		s.chooses(4*time.Second, "m3", conversation.ChoiceRetry)
		s.ends(5*time.Second, func(view conversation.CaseView) { require.Equal(t, conversation.StateConfirmation, view.State) })
		s.run(at(conversation.StateMaterials, nil))
		require.Equal(t, []conversation.ReplyKind{
			conversation.ReplyToolFailed, conversation.ReplyToolFailed, conversation.ReplyConfirmation,
		}, s.kinds())
		require.Equal(t, conversation.CodeUnavailable, s.replies[0].Failed.Code)
	})
	t.Run("nobody comes back", func(t *testing.T) {
		t.Parallel()
		s := newStage(t)
		s.plan = broken(new(atomic.Bool))
		s.chooses(time.Second, "m1", conversation.ChoiceRetry)
		s.run(at(conversation.StateMaterials, nil))
		require.NoError(t, s.env.GetWorkflowError())
		require.Equal(t, []conversation.ReplyKind{
			conversation.ReplyToolFailed, conversation.ReplyStillThere, conversation.ReplyExpired,
		}, s.kinds())
	})
}

// Whoever only signalled learns of a refusal from the event stream; one for a passing reason did not use the message.
func TestRefusalIsPublishedAndMayBeSentAgain(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	var up atomic.Bool
	s.accept = func() error {
		if up.Load() {
			return nil
		}
		return down("session store")
	}
	s.chooses(time.Second, "m1", conversation.ChoiceConfirm)
	s.sees(2*time.Second, func(view conversation.CaseView) {
		require.Equal(t, conversation.StateConfirmation, view.State)
		require.Empty(t, s.keys())
		up.Store(true)
	})
	s.chooses(3*time.Second, "m1", conversation.ChoiceConfirm)
	s.run(at(conversation.StateConfirmation, nil))
	require.Equal(t, []conversation.ReplyKind{conversation.ReplyRefused, conversation.ReplyCommitted}, s.kinds())
	refusal := s.replies[0]
	require.Equal(t, "m1", refusal.Reply.MessageID)
	require.Equal(t, conversation.VerdictRefused, refusal.Reply.Verdict)
	require.Equal(t, conversation.CodeUnavailable, refusal.Reply.Error.Code)
	require.Less(t, refusal.Sequence, s.replies[1].Sequence)
	require.Equal(t, []string{"receipt-a"}, s.keys())
}

// A refusal for good is published as well, and its message stays used.
func TestRefusalForGood(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	old := conversation.UserMessage{MessageID: "m1", Choice: conversation.ChoiceConfirm, Revision: 7}
	s.says(time.Second, old)
	old.Revision = 0
	s.says(2*time.Second, old)
	s.ends(3*time.Second, func(view conversation.CaseView) { require.Equal(t, conversation.StateConfirmation, view.State) })
	s.run(at(conversation.StateConfirmation, nil))
	require.Equal(t, []conversation.ReplyKind{conversation.ReplyRefused}, s.kinds())
	require.Equal(t, conversation.CodeConflict, s.replies[0].Reply.Error.Code)
	require.Empty(t, s.keys())
}

// A conversation that has ended and still tries to remember answers whoever writes, at once.
func TestEndedConversationAnswersWhileMemoryIsDown(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	var up atomic.Bool
	s.remember = func() error {
		if up.Load() {
			return nil
		}
		return contract.ApplicationError(conversation.Errorf(conversation.CodeMemoryUnavailable, "no memory"))
	}
	s.chooses(time.Second, "m1", conversation.ChoiceCancel)
	var asked, answered time.Time
	var reply conversation.Reply
	s.after(10*time.Second, func() {
		asked = s.env.Now()
		s.env.UpdateWorkflow(conversation.UpdateConverse, "u1", &testsuite.TestUpdateCallback{
			OnAccept: func() {},
			OnReject: func(err error) { require.NoError(t, err) },
			OnComplete: func(result any, err error) {
				require.NoError(t, err)
				answered = s.env.Now()
				reply, _ = result.(conversation.Reply)
			},
		}, conversation.UserMessage{MessageID: "m2", Text: "hello"})
	})
	s.after(time.Minute, func() { up.Store(true) })
	s.run(at(conversation.StateConfirmation, nil))
	require.NoError(t, s.env.GetWorkflowError())
	require.Equal(t, conversation.VerdictRefused, reply.Verdict)
	require.Equal(t, conversation.CodeConversationEnded, reply.Error.Code)
	require.WithinDuration(t, asked, answered, time.Second)
	require.Equal(t, conversation.OutcomeCancelled, s.unfinished().Outcome, "it was remembered in the end")
	require.Equal(t, []conversation.ReplyKind{conversation.ReplyCancelled, conversation.ReplyRefused}, s.kinds())
}
