package activities

import (
	"encoding/json"

	"github.com/hermes-orchestrator/hermes/contract"
	"github.com/hermes-orchestrator/hermes/conversation"
)

// arguments decodes what an envelope asks.
func arguments[T any](e contract.Envelope) (T, error) {
	var request T
	if err := json.Unmarshal(e.Payload.Context.Arguments, &request); err != nil {
		return request, conversation.Errorf(conversation.CodeMalformedEnvelope,
			"envelope %q: arguments of task %q: %w", e.MessageID, e.Payload.Task, err)
	}
	return request, nil
}
