package conversation

// Event is what may move a conversation. A user's sentence is never an event itself: understanding proposes one, and
// Next refuses it where the state does not admit it.
type Event string

// The closed set of events. The comment names who raises it.
const (
	EventIntentRecognized  Event = "intent_recognized"  // understanding: verb and object are known
	EventIntentUnclear     Event = "intent_unclear"     // understanding: ask once
	EventIntentAbandoned   Event = "intent_abandoned"   // understanding: still unclear after asking
	EventMaterialReceived  Event = "material_received"  // user: at least one usable upload or figure
	EventMaterialsComplete Event = "materials_complete" // plan: nothing required is missing
	EventGaveUp            Event = "gave_up"            // user: cannot or will not deliver the materials
	EventValidated         Event = "validated"          // plan: all checks done, nothing fatal, nothing to review
	EventReviewNeeded      Event = "review_needed"      // plan: a person must accept something
	EventValidationFailed  Event = "validation_failed"  // plan: a fatal finding
	EventReviewAccepted    Event = "review_accepted"    // user: explicit (SPEC C2)
	EventReviewRejected    Event = "review_rejected"    // user: wants to send something else
	EventRevalidate        Event = "revalidate"         // plan: review done, but checks are still open
	EventModify            Event = "modify"             // user: change what is shown
	EventReissued          Event = "reissued"           // plan: shown facts changed, a new confirmation is asked
	EventContinue          Event = "go_on"              // user: yes, go on (answer to a time-limit question)
	EventCommitted         Event = "committed"          // plan: the effect took place, verified
	EventCommitFailed      Event = "commit_failed"      // plan: the effect was refused, or its outcome is unknown
	EventCancel            Event = "cancel"             // user: do not do it
	EventTimeLimit         Event = "time_limit"         // timer: first limit of this wait is over
	EventExpired           Event = "expired"            // timer: the limit after the question is over as well
	EventToolFailed        Event = "tool_failed"        // contract: a call broke the cycle (error_report, SPEC P4)
)

// Events lists the closed set, in declaration order.
func Events() []Event {
	return []Event{
		EventIntentRecognized, EventIntentUnclear, EventIntentAbandoned, EventMaterialReceived, EventMaterialsComplete,
		EventGaveUp, EventValidated, EventReviewNeeded, EventValidationFailed, EventReviewAccepted, EventReviewRejected,
		EventRevalidate, EventModify, EventReissued, EventContinue, EventCommitted, EventCommitFailed, EventCancel,
		EventTimeLimit, EventExpired, EventToolFailed,
	}
}
