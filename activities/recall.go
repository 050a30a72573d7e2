package activities

import (
	"context"
	"encoding/json"
	"sync"
	"time"

	"github.com/hermes-orchestrator/hermes/contract"
	"github.com/hermes-orchestrator/hermes/conversation"
	"github.com/hermes-orchestrator/hermes/memory"
)

// Known is what Recall asks of mid-term memory.
type Known interface {
	Preferences(ctx context.Context, userID string) (map[string]memory.Preference, error)
	Unfinished(ctx context.Context, userID string) ([]conversation.Unfinished, error)
	Warnings(ctx context.Context, userID, flow string) ([]string, error)
}

// Recalling answers query_context (SPEC P2).
type Recalling struct {
	known Known
	now   func() time.Time
}

// NewRecalling returns the activity.
func NewRecalling(known Known, now func() time.Time) *Recalling {
	return &Recalling{known: known, now: now}
}

// maxUnfinished bounds what one recollection offers.
const maxUnfinished = 3

// Recall answers conversation.RecallRequest. It never fails because memory is down: the tier is named in the answer,
// and the flow decides what may go on without it.
func (r *Recalling) Recall(ctx context.Context, e contract.Envelope) (conversation.Recollection, error) {
	request, err := arguments[conversation.RecallRequest](e)
	if err != nil {
		return conversation.Recollection{}, err
	}
	user := e.Payload.Context.UserID
	answer := conversation.Recollection{At: r.now()}
	var preferences map[string]memory.Preference
	var failures [3]error
	var group sync.WaitGroup
	group.Go(func() { preferences, failures[0] = r.known.Preferences(ctx, user) })
	if request.WithUnfinished {
		group.Go(func() { answer.Unfinished, failures[1] = r.known.Unfinished(ctx, user) })
	}
	if request.Flow.ID != "" {
		group.Go(func() { answer.Warnings, failures[2] = r.known.Warnings(ctx, user, request.Flow.ID) })
	}
	group.Wait()
	for _, failure := range failures {
		if failure != nil {
			answer.Degraded = []conversation.Degraded{{
				Component: contract.ComponentMidterm, Strategy: "absent", Reason: string(conversation.CodeOf(failure)),
			}}
			break
		}
	}
	if len(answer.Unfinished) > maxUnfinished {
		answer.Unfinished = answer.Unfinished[:maxUnfinished]
	}
	if len(preferences) > 0 {
		answer.Preferences = make(map[string]json.RawMessage, len(preferences))
		for name, p := range preferences {
			answer.Preferences[name] = p.Value
		}
	}
	return answer, nil
}
