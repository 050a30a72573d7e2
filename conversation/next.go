package conversation

// Transition is the answer of Next: where an event leads, and how the conversation ended if it did.
type Transition struct {
	To      State   `json:"to"`
	Outcome Outcome `json:"outcome,omitempty"`
}

// Next returns where event leads from state (SPEC C1). It is pure and total: for a pair that the table does not admit
// it returns an *Error with CodeEventNotAdmitted and the conversation stays where it is. A transition to the same
// state is a step of the path like any other (S2→S2: something arrived, more is missing).
func Next(state State, event Event) (Transition, error) {
	if t, ok := next(state, event); ok {
		return t, nil
	}
	return Transition{}, Errorf(CodeEventNotAdmitted, "event %q is not admitted in state %q", event, state)
}

func next(state State, event Event) (Transition, bool) {
	switch state {
	case StateIntent:
		switch event {
		case EventIntentUnclear, EventToolFailed:
			return Transition{To: StateIntent}, true
		case EventIntentAbandoned:
			return end(OutcomeFailed)
		case EventIntentRecognized:
			return Transition{To: StateMaterials}, true
		case EventMaterialsComplete:
			return Transition{To: StateValidation}, true
		}
	case StateMaterials:
		switch event {
		case EventMaterialReceived, EventTimeLimit, EventContinue, EventToolFailed:
			return Transition{To: StateMaterials}, true
		case EventMaterialsComplete:
			return Transition{To: StateValidation}, true
		case EventGaveUp:
			return Transition{To: StateConfirmation}, true
		}
	case StateValidation:
		switch event {
		case EventValidated:
			return Transition{To: StateConfirmation}, true
		case EventReviewNeeded, EventTimeLimit, EventToolFailed:
			return Transition{To: StateReview}, true
		case EventValidationFailed:
			return end(OutcomeFailed)
		}
	case StateReview:
		switch event {
		case EventReviewAccepted:
			return Transition{To: StateConfirmation}, true
		case EventRevalidate:
			return Transition{To: StateValidation}, true
		case EventReviewRejected:
			return Transition{To: StateMaterials}, true
		case EventReviewNeeded, EventTimeLimit, EventContinue:
			return Transition{To: StateReview}, true
		case EventValidationFailed:
			return end(OutcomeFailed)
		}
	case StateConfirmation:
		switch event {
		case EventCommitted:
			return end(OutcomeCommitted)
		case EventCommitFailed:
			return end(OutcomeFailed)
		case EventModify, EventContinue:
			return Transition{To: StateMaterials}, true
		case EventRevalidate:
			return Transition{To: StateValidation}, true
		case EventReissued:
			return Transition{To: StateConfirmation}, true
		}
	case StateEnd:
		return Transition{}, false
	}
	// Whatever a conversation is busy with, its user may end it and its last limit may pass.
	if state.Valid() {
		switch event {
		case EventCancel:
			return end(OutcomeCancelled)
		case EventExpired:
			return end(OutcomeExpired)
		}
	}
	return Transition{}, false
}

func end(outcome Outcome) (Transition, bool) {
	return Transition{To: StateEnd, Outcome: outcome}, true
}
