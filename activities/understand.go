package activities

import (
	"context"

	"github.com/hermes-orchestrator/hermes/contract"
	"github.com/hermes-orchestrator/hermes/conversation"
	"github.com/hermes-orchestrator/hermes/conversation/flow"
)

// Understander proposes what a message means. The rules of package nlu are one.
type Understander interface {
	Understand(
		ctx context.Context, library *flow.Library, request conversation.UnderstandRequest,
	) (conversation.Understanding, error)
}

// Understanding turns a message into an event and facts.
type Understanding struct {
	flows        *Flows
	understander Understander
}

// NewUnderstanding returns the activity.
func NewUnderstanding(flows *Flows, understander Understander) *Understanding {
	return &Understanding{flows: flows, understander: understander}
}

// Understand answers conversation.UnderstandRequest.
func (u *Understanding) Understand(ctx context.Context, e contract.Envelope) (conversation.Understanding, error) {
	request, err := arguments[conversation.UnderstandRequest](e)
	if err != nil {
		return conversation.Understanding{}, err
	}
	refs := request.Flows
	if request.Flow.ID != "" {
		refs = []conversation.FlowRef{request.Flow}
	}
	library, err := u.flows.among(ctx, refs)
	if err != nil {
		return conversation.Understanding{}, err
	}
	return u.understander.Understand(ctx, library, request)
}
