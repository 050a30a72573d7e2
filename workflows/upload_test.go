package workflows_test

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/hermes-orchestrator/hermes/conversation"
)

func inspected(c conversation.Case) map[string]bool {
	state := map[string]bool{}
	for _, m := range c.Materials {
		state[m.Attachment.Name] = m.Inspected
	}
	return state
}

func having(materials ...conversation.Material) conversation.Case {
	return conversation.Case{Intent: "claim", Materials: materials}
}

// Uploads that a tool was still reading when the user cancelled have not been read: whoever goes on must have them read.
func TestCancelledWhileReading(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.chooses(time.Second, "m1", conversation.ChoiceCancel)
	s.run(at(conversation.StateMaterials, carried{
		"pending": waiting(conversation.PhaseInspect, "c1", "b.png"),
		"case": having(
			conversation.Material{Attachment: file("a.png"), Inspected: true},
			conversation.Material{Attachment: file("b.png"), Inspected: true}),
	}))
	require.Equal(t, map[string]bool{"a.png": true, "b.png": false}, inspected(s.unfinished().Case))

	next := newStage(t)
	next.plan = reader
	next.chooses(time.Second, "m1", conversation.ChoiceResume)
	next.ends(2*time.Second, func(view conversation.CaseView) {
		require.Equal(t, map[string]bool{"a.png": true, "b.png": true}, inspected(view.Case))
	})
	next.run(resumed(s.unfinished()))
	require.Len(t, next.calls, 1)
}

// Files that came with the sentence which led to the offer belong to what is resumed.
func TestResumeKeepsTheFilesOfTheFirstMessage(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.plan = reader
	s.understand = func(r conversation.UnderstandRequest) conversation.Understanding {
		u := choice(r)
		if r.Message.Text != "" {
			u.Flow, u.Intent = claim, "claim"
		}
		return u
	}
	s.says(time.Second, conversation.UserMessage{MessageID: "m1", Text: "claim", Attachments: []conversation.Attachment{file("b.png")}})
	s.chooses(2*time.Second, "m2", conversation.ChoiceResume)
	s.ends(3*time.Second, func(view conversation.CaseView) {
		require.Equal(t, map[string]bool{"a.png": true, "b.png": true}, inspected(view.Case))
	})
	s.run(at(conversation.StateIntent, carried{"case": conversation.Case{}, "offer": conversation.Unfinished{
		SessionID: "old", Flow: claim, Case: having(conversation.Material{Attachment: file("a.png"), Inspected: true}),
	}}))
	require.Equal(t, conversation.ReplyResumeOffer, s.kinds()[0])
	require.Len(t, s.calls, 1, "the new file is read")
}

// A late answer is that of the files which its call was given; one that came since is read in a call of its own.
func TestLateAnswerIsNotOfNewerFiles(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.plan = reader
	s.understand = func(conversation.UnderstandRequest) conversation.Understanding {
		return conversation.Understanding{Ambiguous: []conversation.Option{{ID: "a"}, {ID: "b"}}}
	}
	s.says(time.Second, conversation.UserMessage{MessageID: "m1", Text: "one or two", Attachments: []conversation.Attachment{file("b.png")}})
	s.sees(2*time.Second, func(view conversation.CaseView) {
		require.False(t, inspected(view.Case)["b.png"])
		require.Empty(t, s.calls)
	})
	s.completes(3*time.Second, "c1")
	s.ends(4*time.Second, func(view conversation.CaseView) {
		require.True(t, inspected(view.Case)["b.png"])
		require.Equal(t, conversation.StateConfirmation, view.State)
	})
	s.run(at(conversation.StateMaterials, carried{
		"pending": waiting(conversation.PhaseInspect, "c1", "a.png"),
		"case":    having(conversation.Material{Attachment: file("a.png"), Inspected: true}),
	}))
	require.Len(t, s.calls, 1)
	require.Equal(t, "read", s.calls[0].Metadata.Step)
}

// A tool that never answers has not read its files.
func TestFilesOfAFailedCallAreUnread(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	var seen map[string]bool
	s.plan = func(r conversation.PlanRequest) (conversation.Plan, error) {
		if len(r.Failed) > 0 {
			seen = inspected(r.Case)
		}
		return reader(r)
	}
	s.ends(3*time.Minute, func(conversation.CaseView) {})
	s.run(at(conversation.StateMaterials, carried{
		"pending": waiting(conversation.PhaseInspect, "c1", "a.png"),
		"case":    having(conversation.Material{Attachment: file("a.png"), Inspected: true}),
	}))
	require.Equal(t, map[string]bool{"a.png": false}, seen)
}

// unreadable is a flow to which nothing is missing and whose reader is down while broken.
func unreadable(broken func() bool) func(conversation.PlanRequest) (conversation.Plan, error) {
	return func(r conversation.PlanRequest) (conversation.Plan, error) {
		fresh := slices.ContainsFunc(r.Case.Materials, func(m conversation.Material) bool { return !m.Inspected })
		if r.Phase == conversation.PhaseInspect && fresh && broken() {
			return conversation.Plan{Case: r.Case, Unread: 1}, nil
		}
		return reader(r)
	}
}

// A file that cannot be read while nothing is missing is never left out in silence: the user decides.
func TestUnreadFileAsksTheUser(t *testing.T) {
	t.Parallel()
	late := conversation.UserMessage{MessageID: "m1", Attachments: []conversation.Attachment{file("late.png")}}
	tests := map[string]struct {
		choice  string
		repairs bool
		kind    conversation.ReplyKind
		state   conversation.State
		read    int
	}{
		"go on without it": {conversation.ChoiceGoOn, false, conversation.ReplyConfirmation, conversation.StateConfirmation, 0},
		"read it now":      {conversation.ChoiceRetry, true, conversation.ReplyConfirmation, conversation.StateConfirmation, 1},
		"try in vain":      {conversation.ChoiceRetry, false, conversation.ReplyUnread, conversation.StateMaterials, 0},
		"say nothing":      {"", false, conversation.ReplyUnread, conversation.StateMaterials, 0},
		"cancel":           {conversation.ChoiceCancel, false, conversation.ReplyCancelled, conversation.StateEnd, 0},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t)
			broken := true
			s.plan = unreadable(func() bool { s.mu.Lock(); defer s.mu.Unlock(); return broken })
			s.says(time.Second, late)
			s.sees(2*time.Second, func(view conversation.CaseView) {
				require.Equal(t, conversation.StateMaterials, view.State)
				require.False(t, inspected(view.Case)["late.png"])
				s.mu.Lock()
				broken = !tt.repairs
				s.mu.Unlock()
			})
			s.says(3*time.Second, conversation.UserMessage{MessageID: "m2", Text: "hm", Choice: tt.choice})
			s.after(4*time.Second, s.env.CancelWorkflow)
			s.run(at(conversation.StateConfirmation, nil))
			require.Equal(t, []conversation.ReplyKind{conversation.ReplyUnread, tt.kind}, s.kinds())
			require.Equal(t, tt.state, s.replies[1].Reply.State)
			require.Len(t, s.calls, tt.read)
			require.Empty(t, s.keys())
		})
	}
}

// The question of the time limit does not lose the one before it: going on then tries the file again.
func TestUnreadFileAfterTheTimeLimit(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.plan = unreadable(func() bool { return true })
	s.says(time.Second, conversation.UserMessage{MessageID: "m1", Attachments: []conversation.Attachment{file("late.png")}})
	s.chooses(6*time.Minute, "m2", conversation.ChoiceGoOn)
	s.ends(7*time.Minute, func(view conversation.CaseView) {
		require.Equal(t, conversation.StateMaterials, view.State)
		require.False(t, inspected(view.Case)["late.png"])
	})
	s.run(at(conversation.StateConfirmation, nil))
	require.Equal(t, []conversation.ReplyKind{conversation.ReplyUnread, conversation.ReplyStillThere, conversation.ReplyUnread}, s.kinds())
}

// A message that is sent again brings its files once.
func TestFilesSentAgainAreNotDoubled(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	failed := false
	s.plan = func(r conversation.PlanRequest) (conversation.Plan, error) {
		s.mu.Lock()
		defer s.mu.Unlock()
		if !failed {
			failed = true
			return conversation.Plan{}, passing("flows")
		}
		return reader(r)
	}
	m := conversation.UserMessage{MessageID: "m1", Attachments: []conversation.Attachment{file("a.png"), file("b.png")}}
	s.says(time.Second, m)
	s.says(2*time.Second, m)
	s.ends(3*time.Second, func(view conversation.CaseView) {
		require.Len(t, view.Case.Materials, 2)
		require.Equal(t, conversation.StateConfirmation, view.State)
	})
	s.run(at(conversation.StateMaterials, nil))
	require.Equal(t, []conversation.ReplyKind{conversation.ReplyRefused, conversation.ReplyConfirmation}, s.kinds())
}

func TestFilesOfAConversationAreBounded(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	many := make([]conversation.Material, conversation.MaxMaterials-1)
	for i := range many {
		many[i] = conversation.Material{Attachment: file("a.png"), Inspected: true}
	}
	s.plan = reader
	s.says(time.Second, conversation.UserMessage{MessageID: "m1", Attachments: []conversation.Attachment{file("b.png"), file("c.png")}})
	s.sees(2*time.Second, func(view conversation.CaseView) {
		require.Len(t, view.Case.Materials, conversation.MaxMaterials-1)
		require.Equal(t, conversation.StateMaterials, view.State)
	})
	s.says(3*time.Second, conversation.UserMessage{MessageID: "m2", Attachments: []conversation.Attachment{file("b.png")}})
	s.ends(4*time.Second, func(view conversation.CaseView) { require.Len(t, view.Case.Materials, conversation.MaxMaterials) })
	s.run(at(conversation.StateMaterials, carried{"case": having(many...)}))
	require.Equal(t, []conversation.ReplyKind{conversation.ReplyRefused, conversation.ReplyConfirmation}, s.kinds())
	require.Equal(t, conversation.CodeTooLarge, s.replies[0].Reply.Error.Code)
}
