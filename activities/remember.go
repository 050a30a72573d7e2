package activities

import (
	"context"
	"encoding/json"

	"github.com/hermes-orchestrator/hermes/contract"
	"github.com/hermes-orchestrator/hermes/conversation"
	"github.com/hermes-orchestrator/hermes/memory"
)

// Midterm is what Remember writes to mid-term memory.
type Midterm interface {
	SetPreference(ctx context.Context, userID, name string, value json.RawMessage, confirmedBy string) error
	SaveUnfinished(ctx context.Context, userID string, u conversation.Unfinished) error
	FinishUnfinished(ctx context.Context, userID, sessionID string) error
	AddWarning(ctx context.Context, userID, flow, text, messageID string) error
}

// Relater writes to long-term memory. Only verified relations can be handed to it: see memory.Verify.
type Relater interface {
	Relate(ctx context.Context, userID string, relations []conversation.Relation, verified memory.Verified) error
}

// Remembering writes what a tool verified or the user confirmed.
type Remembering struct {
	midterm Midterm
	graph   Relater
	proofs  memory.ProofChecker
}

// NewRemembering returns the activity.
func NewRemembering(midterm Midterm, graph Relater, proofs memory.ProofChecker) *Remembering {
	return &Remembering{midterm: midterm, graph: graph, proofs: proofs}
}

// Remember answers conversation.RememberRequest. Each write is idempotent, so a repeated batch changes nothing. A tier
// that is down fails the attempt; a write that can never succeed is named in the answer and does not hold up the
// others.
func (r *Remembering) Remember(ctx context.Context, e contract.Envelope) (conversation.Remembered, error) {
	request, err := arguments[conversation.RememberRequest](e)
	if err != nil {
		return conversation.Remembered{}, err
	}
	var remembered conversation.Remembered
	for _, w := range request.Writes {
		err := r.write(ctx, e.Payload.Context.UserID, w)
		switch code := conversation.CodeOf(err); {
		case err == nil:
			remembered.Written++
		case code.Retryable() || code == conversation.CodeInternal:
			return remembered, err
		default:
			remembered.Degraded = append(remembered.Degraded, conversation.Degraded{
				Component: "memory:" + string(w.Kind), Strategy: "refused", Reason: err.Error(),
			})
		}
	}
	return remembered, nil
}

func (r *Remembering) write(ctx context.Context, user string, w conversation.Write) error {
	switch w.Kind {
	case conversation.WritePreference:
		return r.midterm.SetPreference(ctx, user, w.Name, w.Value, w.ConfirmedBy)
	case conversation.WriteWarning:
		var text string
		if err := json.Unmarshal(w.Value, &text); err != nil {
			return conversation.Errorf(conversation.CodeMalformedEnvelope, "warning %s is not a text", w.Value)
		}
		return r.midterm.AddWarning(ctx, user, w.Name, text, w.ConfirmedBy)
	case conversation.WriteUnfinished:
		if w.Unfinished == nil {
			return conversation.Errorf(conversation.CodeMalformedEnvelope, "write of an unfinished flow has none")
		}
		return r.midterm.SaveUnfinished(ctx, user, *w.Unfinished)
	case conversation.WriteFinished:
		return r.midterm.FinishUnfinished(ctx, user, w.Name)
	case conversation.WriteRelation:
		if w.Relation == nil || w.Proof == nil {
			return conversation.Errorf(conversation.CodeUnverified, "relation without a proof is not written")
		}
		verified, err := memory.Verify(r.proofs, *w.Proof)
		if err != nil {
			return err
		}
		return r.graph.Relate(ctx, user, []conversation.Relation{*w.Relation}, verified)
	}
	return conversation.Errorf(conversation.CodeMalformedEnvelope, "write of kind %q is not known", w.Kind)
}
