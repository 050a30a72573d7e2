package activities

import (
	"context"
	"encoding/json"
	"log/slog"

	"github.com/hermes-orchestrator/hermes/contract"
	"github.com/hermes-orchestrator/hermes/conversation"
	"github.com/hermes-orchestrator/hermes/conversation/flow"
)

// Publisher appends to the event stream of a session. Publishing a sequence number again changes nothing.
type Publisher interface {
	Publish(ctx context.Context, sessionID string, sequence int64, data []byte) error
}

// Replying renders and publishes.
type Replying struct {
	flows  *Flows
	events Publisher
	logger *slog.Logger
}

// NewReplying returns the activity.
func NewReplying(flows *Flows, events Publisher, logger *slog.Logger) *Replying {
	return &Replying{flows: flows, events: events, logger: logger}
}

// Reply answers conversation.ReplyRequest. It renders from the snapshot in the request and from nothing else (SPEC G).
// A stream that cannot be written does not take the reply away from the caller who waits for it.
func (r *Replying) Reply(ctx context.Context, e contract.Envelope) (conversation.Rendered, error) {
	request, err := arguments[conversation.ReplyRequest](e)
	if err != nil {
		return conversation.Rendered{}, err
	}
	if request.Kind == conversation.ReplyRefused {
		return r.publish(ctx, e, request, conversation.Rendered{Text: request.Reply.Text})
	}
	rendered, err := r.render(ctx, request)
	if err != nil {
		return conversation.Rendered{}, err
	}
	return r.publish(ctx, e, request, rendered)
}

// publish appends the rendered reply to the session's stream.
func (r *Replying) publish(
	ctx context.Context, e contract.Envelope, request conversation.ReplyRequest, rendered conversation.Rendered,
) (conversation.Rendered, error) {
	reply := request.Reply
	reply.Text = rendered.Text
	if len(reply.Options) == 0 {
		reply.Options = rendered.Options
	}
	data, err := json.Marshal(reply)
	if err != nil {
		return conversation.Rendered{}, conversation.Errorf(conversation.CodeInternal,
			"reply of session %q: %w", e.Payload.Context.SessionID, err)
	}
	if err := r.events.Publish(ctx, e.Payload.Context.SessionID, request.Sequence, data); err != nil {
		r.logger.WarnContext(ctx, "reply not published", "error", err, "trace_id", e.TraceID, "sequence", request.Sequence)
		return rendered, nil
	}
	rendered.Published = true
	return rendered, nil
}

func (r *Replying) render(ctx context.Context, request conversation.ReplyRequest) (conversation.Rendered, error) {
	if request.Flow.ID == "" {
		return flow.RenderCore(request, r.flows.titles(request.Reply.Locale))
	}
	fl, err := r.flows.Get(ctx, request.Flow)
	if err != nil {
		return conversation.Rendered{}, err
	}
	return fl.Render(request)
}
