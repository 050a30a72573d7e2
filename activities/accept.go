package activities

import (
	"context"

	"github.com/hermes-orchestrator/hermes/contract"
	"github.com/hermes-orchestrator/hermes/conversation"
	"github.com/hermes-orchestrator/hermes/memory"
)

// Swapper makes the atomic compare-and-swap of a session's revision (SPEC C7).
type Swapper interface {
	Swap(ctx context.Context, key memory.SessionKey, expected int64, writer string) (conversation.Accepted, error)
}

// Accepting guards every change of state.
type Accepting struct{ sessions Swapper }

// NewAccepting returns the activity.
func NewAccepting(sessions Swapper) *Accepting { return &Accepting{sessions: sessions} }

// AcceptMessage answers conversation.AcceptRequest. The writer repeating its own write succeeds, so it is idempotent.
func (a *Accepting) AcceptMessage(ctx context.Context, e contract.Envelope) (conversation.Accepted, error) {
	request, err := arguments[conversation.AcceptRequest](e)
	if err != nil {
		return conversation.Accepted{}, err
	}
	key := memory.SessionKey{State: request.State, SessionID: e.Payload.Context.SessionID}
	return a.sessions.Swap(ctx, key, request.Expected, request.Writer)
}
