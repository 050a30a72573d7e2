package activities

import (
	"context"
	"strings"

	"github.com/hermes-orchestrator/hermes/contract"
	"github.com/hermes-orchestrator/hermes/conversation"
	"github.com/hermes-orchestrator/hermes/conversation/flow"
)

// Planning asks the flow what to do next. It decides when a tool is called and with what (SPEC T6); the health that it
// looks at is part of its recorded answer.
type Planning struct {
	flows *Flows
	tools flow.Tools
}

// NewPlanning returns the activity.
func NewPlanning(flows *Flows, tools flow.Tools) *Planning {
	return &Planning{flows: flows, tools: tools}
}

// Plan answers conversation.PlanRequest.
func (p *Planning) Plan(ctx context.Context, e contract.Envelope) (conversation.Plan, error) {
	request, err := arguments[conversation.PlanRequest](e)
	if err != nil {
		return conversation.Plan{}, err
	}
	fl, err := p.flows.Get(ctx, request.Flow)
	if err != nil {
		return conversation.Plan{}, err
	}
	var writes []conversation.Write
	if request.Accept != "" {
		accepted, tolerance := fl.Accept(request.Case, request.Accept, request.MessageID)
		request.Case = accepted
		writes = append(writes, tolerance...)
	}
	if len(request.Clear) > 0 {
		request.Case = fl.Reset(request.Case, clearNames(fl, request.Clear))
	}
	plan, err := fl.Plan(ctx, request, flow.User{ID: e.Payload.Context.UserID}, p.tools)
	if err != nil {
		return conversation.Plan{}, err
	}
	plan.Writes = append(writes, plan.Writes...)
	return plan, nil
}

// clearNames resolves what the workflow may name without knowing the flow: "finding:<id>" stands for what that finding
// clears, "phase:validate" for nothing but the checks, which every reset repeats.
func clearNames(fl *flow.Flow, names []string) []string {
	var resolved []string
	for _, name := range names {
		id, isFinding := strings.CutPrefix(name, "finding:")
		switch {
		case isFinding:
			for _, f := range fl.Findings() {
				if f.ID == id {
					resolved = append(resolved, f.Clear...)
				}
			}
		case strings.HasPrefix(name, "phase:"):
		default:
			resolved = append(resolved, name)
		}
	}
	return resolved
}
