package conversation

// State is one of the stations of a conversation (SPEC C1). The topology is fixed: flows fill the states with meaning,
// they never add or connect any.
type State string

// The stations. StateReview is written "S3.1" because it belongs to validation and is left to where validation leads.
const (
	StateIntent       State = "S1"   // Understand what the user wants.
	StateMaterials    State = "S2"   // Collect what the flow requires.
	StateValidation   State = "S3"   // Let tools check the materials.
	StateReview       State = "S3.1" // Let a person accept what tools could not decide.
	StateConfirmation State = "S4"   // Show the facts, wait for an explicit yes.
	StateEnd          State = "S5"   // Committed, cancelled, expired or failed.
)

// States lists every state in the order of the main path.
func States() []State {
	return []State{StateIntent, StateMaterials, StateValidation, StateReview, StateConfirmation, StateEnd}
}

// Valid reports whether s is one of the six states.
func (s State) Valid() bool {
	switch s {
	case StateIntent, StateMaterials, StateValidation, StateReview, StateConfirmation, StateEnd:
		return true
	}
	return false
}

// Outcome says how a conversation ended. It is empty until StateEnd is entered.
type Outcome string

// The outcomes of StateEnd.
const (
	OutcomeCommitted Outcome = "committed"
	OutcomeCancelled Outcome = "cancelled"
	OutcomeExpired   Outcome = "expired"
	OutcomeFailed    Outcome = "failed"
)
