package flow

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/hermes-orchestrator/hermes/conversation"
)

// calls plans the next wave: steps of the phase that have not answered, whose needs are settled, and that are wanted.
func (p *planning) calls(ctx context.Context) error {
	if p.plan.Manual != "" {
		return nil
	}
	vars := p.vars(nil)
	settled := map[string]bool{}
	for i := range p.flow.steps {
		s := &p.flow.steps[i]
		if s.Phase != p.request.Phase {
			continue
		}
		done, err := p.settled(s, vars, settled)
		if err != nil {
			return err
		}
		if done || p.underWay(s.ID) || !p.hasWork(s) {
			continue
		}
		ready, err := p.needsSettled(s, vars, settled)
		if err != nil {
			return err
		}
		if !ready {
			continue
		}
		if err := p.call(ctx, s, vars); err != nil {
			return err
		}
	}
	return nil
}

// settled reports whether a step needs no call any more: it has answered, or everything that it needs is settled and it
// is not wanted.
func (p *planning) settled(s *step, vars map[string]any, known map[string]bool) (bool, error) {
	if answer, found := known[s.ID]; found {
		return answer, nil
	}
	if slices.Contains(p.plan.Case.Done, s.ID) {
		known[s.ID] = true
		return true, nil
	}
	ready, err := p.needsSettled(s, vars, known)
	if err != nil {
		return false, err
	}
	if !ready {
		known[s.ID] = false
		return false, nil
	}
	wanted, err := s.when.isTrue(vars)
	if err != nil {
		return false, p.broken(s, "when", err)
	}
	known[s.ID] = !wanted
	return !wanted, nil
}

func (p *planning) needsSettled(s *step, vars map[string]any, known map[string]bool) (bool, error) {
	for _, need := range s.Needs {
		other := p.flow.step(need)
		if other == nil {
			return false, nil
		}
		if done, err := p.settled(other, vars, known); err != nil || !done {
			return false, err
		}
	}
	return true, nil
}

// underWay reports whether a step must not be called now: it has just failed, or its tool answers later.
func (p *planning) underWay(id string) bool {
	return slices.Contains(p.failed, id) || slices.ContainsFunc(p.request.Answers, func(a conversation.Answer) bool {
		return a.Step == id && a.Status == conversation.AnswerProcessing
	})
}

// hasWork reports whether a step has something to work on: inspect steps have uploads, or the answer of another step of
// the same round.
func (p *planning) hasWork(s *step) bool {
	if s.Phase != conversation.PhaseInspect || len(p.fresh) > 0 {
		return true
	}
	return slices.ContainsFunc(s.Needs, func(need string) bool { _, answered := p.outputs[need]; return answered })
}

func (p *planning) call(ctx context.Context, s *step, vars map[string]any) error {
	arguments, err := s.evalArguments(vars)
	if err != nil {
		return p.broken(s, "arguments", err)
	}
	capability, err := p.tools.Capability(ctx, s.Tool, s.Operation, arguments)
	if err != nil {
		return err
	}
	switch {
	case capability.Effect == effectWrite && s.Phase != conversation.PhaseCommit:
		return conversation.Errorf(
			conversation.CodeInvalidFlow,
			"flow %q, line %d: step %q writes in phase %s: an effect needs the user's confirmation, move it to phase commit",
			p.flow.ref.ID,
			s.line,
			s.ID,
			s.Phase,
		)
	case capability.Unhealthy != "" && s.Manual && !capability.Fallback:
		p.askManually(s.ID)
		return nil
	}
	p.plan.Calls = append(p.plan.Calls, conversation.ToolCall{
		Step:        s.ID,
		Tool:        s.Tool,
		Operation:   s.Operation,
		Arguments:   arguments,
		Effect:      capability.Effect,
		TimeoutMS:   capability.TimeoutMS,
		MaxAttempts: capability.MaxAttempts,
		BackoffMS:   capability.BackoffMS,
		// A step that can be replaced by asking the user must not break its cycle.
		Fallback: capability.Fallback,
		Optional: s.Optional || s.Manual,
		// An effect is never left to come later: its outcome must be known before anything is said.
		Async:     capability.Async && capability.Effect != effectWrite,
		Unhealthy: capability.Unhealthy,
	})
	return nil
}

// effectWrite is the effect of operations that change something outside.
const effectWrite = "write"

func (s *step) evalArguments(vars map[string]any) (json.RawMessage, error) {
	arguments := map[string]any{}
	for _, a := range s.arguments {
		value, present, err := a.expr.eval(vars)
		if err != nil {
			return nil, err
		}
		if present {
			arguments[a.name] = value
		}
	}
	return json.Marshal(arguments)
}

func (p *planning) broken(s *step, what string, err error) error {
	return conversation.Errorf(conversation.CodeInvalidFlow, "flow %q: step %q: %s: %w", p.flow.ref.ID, s.ID, what, err)
}

// askManually has the user asked for the figures; the uploads count as inspected, nobody will read them.
func (p *planning) askManually(step string) {
	p.plan.Manual = step
	for i := range p.plan.Case.Materials {
		p.plan.Case.Materials[i].Inspected = true
	}
}
