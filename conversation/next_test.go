package conversation_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/hermes-orchestrator/hermes/conversation"
)

func TestNextFollowsTheAcceptancePath(t *testing.T) {
	t.Parallel()
	state, path := conversation.StateIntent, conversation.Path{{State: conversation.StateIntent}}
	for _, event := range []conversation.Event{
		conversation.EventIntentRecognized, conversation.EventMaterialReceived, conversation.EventMaterialsComplete,
		conversation.EventReviewNeeded, conversation.EventReviewAccepted, conversation.EventCommitted,
	} {
		transition, err := conversation.Next(state, event)
		require.NoError(t, err)
		state = transition.To
		path = append(path, conversation.Step{State: state, Event: event})
	}
	require.Equal(t, "S1→S2→S2→S3→S3.1→S4→S5", path.String())
}

func TestNextTable(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		state   conversation.State
		event   conversation.Event
		to      conversation.State
		outcome conversation.Outcome
	}{
		"unclear asks first":                    {conversation.StateIntent, conversation.EventIntentUnclear, conversation.StateIntent, ""},
		"unclear twice ends":                    {conversation.StateIntent, conversation.EventIntentAbandoned, conversation.StateEnd, conversation.OutcomeFailed},
		"giving up offers to cancel":            {conversation.StateMaterials, conversation.EventGaveUp, conversation.StateConfirmation, ""},
		"materials limit asks once more":        {conversation.StateMaterials, conversation.EventTimeLimit, conversation.StateMaterials, ""},
		"materials expire":                      {conversation.StateMaterials, conversation.EventExpired, conversation.StateEnd, conversation.OutcomeExpired},
		"validation limit goes to review":       {conversation.StateValidation, conversation.EventTimeLimit, conversation.StateReview, ""},
		"validation fails":                      {conversation.StateValidation, conversation.EventValidationFailed, conversation.StateEnd, conversation.OutcomeFailed},
		"review accepted":                       {conversation.StateReview, conversation.EventReviewAccepted, conversation.StateConfirmation, ""},
		"review rejected collects again":        {conversation.StateReview, conversation.EventReviewRejected, conversation.StateMaterials, ""},
		"confirmation idle expires":             {conversation.StateConfirmation, conversation.EventExpired, conversation.StateEnd, conversation.OutcomeExpired},
		"changed facts need a new confirmation": {conversation.StateConfirmation, conversation.EventReissued, conversation.StateConfirmation, ""},
		"committed":                             {conversation.StateConfirmation, conversation.EventCommitted, conversation.StateEnd, conversation.OutcomeCommitted},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			transition, err := conversation.Next(tt.state, tt.event)
			require.NoError(t, err)
			require.Equal(t, conversation.Transition{To: tt.to, Outcome: tt.outcome}, transition)
		})
	}
}

// Whatever happens: nothing leaves S5, an outcome comes with S5 and only with it, only S4 commits, and a refused event
// is an error with a code.
func TestNextProperties(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		state := conversation.StateIntent
		for _, event := range rapid.SliceOf(rapid.SampledFrom(conversation.Events())).Draw(t, "events") {
			transition, err := conversation.Next(state, event)
			if err != nil {
				require.Equal(t, conversation.CodeEventNotAdmitted, conversation.CodeOf(err))
				continue
			}
			checkTransition(t, state, transition)
			state = transition.To
		}
	})
}

func checkTransition(t require.TestingT, from conversation.State, transition conversation.Transition) {
	require.NotEqual(t, conversation.StateEnd, from, "nothing leaves S5")
	require.True(t, transition.To.Valid())
	require.Equal(t, transition.To == conversation.StateEnd, transition.Outcome != "")
	if transition.Outcome == conversation.OutcomeCommitted {
		require.Equal(t, conversation.StateConfirmation, from)
	}
}

func TestEveryStateCanBeCancelledAndLeft(t *testing.T) {
	t.Parallel()
	for _, state := range conversation.States() {
		if state == conversation.StateEnd {
			continue
		}
		transition, err := conversation.Next(state, conversation.EventCancel)
		require.NoError(t, err, state)
		require.Equal(t, conversation.OutcomeCancelled, transition.Outcome)
	}
}

func FuzzNext(f *testing.F) {
	for _, state := range conversation.States() {
		for _, event := range conversation.Events() {
			f.Add(string(state), string(event))
		}
	}
	f.Add("S9", "committed")
	f.Fuzz(func(t *testing.T, state, event string) {
		transition, err := conversation.Next(conversation.State(state), conversation.Event(event))
		if err != nil {
			require.Equal(t, conversation.CodeEventNotAdmitted, conversation.CodeOf(err))
			return
		}
		require.True(t, conversation.State(state).Valid())
		checkTransition(t, conversation.State(state), transition)
	})
}
