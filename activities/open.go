package activities

import (
	"context"

	"github.com/hermes-orchestrator/hermes/contract"
	"github.com/hermes-orchestrator/hermes/conversation"
)

// Opening pins what a new conversation starts with.
type Opening struct {
	flows *Flows
	hash  func(userID string) string
}

// NewOpening returns the activity. hash is the keyed hash of user ids.
func NewOpening(flows *Flows, hash func(userID string) string) *Opening {
	return &Opening{flows: flows, hash: hash}
}

// OpenConversation answers conversation.OpenRequest: the flow versions of now, and the hash of the user.
func (o *Opening) OpenConversation(ctx context.Context, e contract.Envelope) (conversation.Opened, error) {
	request, err := arguments[conversation.OpenRequest](e)
	if err != nil {
		return conversation.Opened{}, err
	}
	opened := conversation.Opened{UserHash: o.hash(e.Payload.Context.UserID)}
	if request.Input.Flow == "" {
		opened.Flows = o.flows.library.Refs()
		return opened, nil
	}
	ref := conversation.FlowRef{ID: request.Input.Flow, Version: request.Input.FlowVersion}
	if ref.Version == "" {
		fl, err := o.flows.library.Newest(ref.ID)
		if err != nil {
			return opened, err
		}
		ref = fl.Ref()
	} else if _, err := o.flows.Get(ctx, ref); err != nil {
		return opened, err
	}
	opened.Flows = []conversation.FlowRef{ref}
	return opened, nil
}
