package conversation

import "time"

// Limits are the time limits of SPEC C1. A flow may shorten or lengthen them; dialogue scripts shorten them. Zero means
// the default; a state without a limit waits as long as its conversation is open.
type Limits struct {
	// Materials bounds each wait of S2. Defaults to 5 minutes.
	Materials Duration `json:"materials,omitempty"`
	// Validation bounds all parallel tool calls of one S3. Defaults to 30 seconds.
	Validation Duration `json:"validation,omitempty"`
	// Review bounds each wait of S3.1. Defaults to 5 minutes.
	Review Duration `json:"review,omitempty"`
	// Confirmation is the idle time of S4, and the life of its approval receipt. Defaults to 10 minutes.
	Confirmation Duration `json:"confirmation,omitempty"`
	// Task bounds the wait for a tool that answers later (task_complete). Defaults to 2 minutes.
	Task Duration `json:"task,omitempty"`
}

// WithDefaults fills what is zero.
func (l Limits) WithDefaults() Limits {
	fill := func(d *Duration, byDefault time.Duration) {
		if *d <= 0 {
			*d = Duration(byDefault)
		}
	}
	fill(&l.Materials, 5*time.Minute)
	fill(&l.Validation, 30*time.Second)
	fill(&l.Review, 5*time.Minute)
	fill(&l.Confirmation, 10*time.Minute)
	fill(&l.Task, 2*time.Minute)
	return l
}

// Or returns l with every zero replaced by that of other.
func (l Limits) Or(other Limits) Limits {
	fill := func(d *Duration, alternative Duration) {
		if *d <= 0 {
			*d = alternative
		}
	}
	fill(&l.Materials, other.Materials)
	fill(&l.Validation, other.Validation)
	fill(&l.Review, other.Review)
	fill(&l.Confirmation, other.Confirmation)
	fill(&l.Task, other.Task)
	return l
}

// Wait is how long a conversation in state s waits for its user; zero means without limit.
func (l Limits) Wait(s State) time.Duration {
	switch s {
	case StateMaterials:
		return time.Duration(l.Materials)
	case StateReview:
		return time.Duration(l.Review)
	case StateConfirmation:
		return time.Duration(l.Confirmation)
	case StateIntent, StateValidation, StateEnd:
		return 0
	}
	return 0
}

// AsksBeforeExpiry says whether the first passing of the limit asks once more before the conversation expires: S2 and
// S3.1 do, S4 does not (SPEC C1, settled readings).
func AsksBeforeExpiry(s State) bool {
	return s == StateMaterials || s == StateReview
}
