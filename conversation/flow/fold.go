package flow

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/hermes-orchestrator/hermes/conversation"
)

// take folds one answer into the case. An answer that does not fit counts as a failed call where the flow knows how to
// go on without one.
func (p *planning) take(answer conversation.Answer) error {
	s := p.flow.step(answer.Step)
	if s == nil {
		return conversation.Errorf(
			conversation.CodeInvalidFlow,
			"flow %q has no step %q, whose answer arrived",
			p.flow.ref.ID,
			answer.Step,
		)
	}
	if s.Phase == conversation.PhaseInspect && !p.request.Late {
		for _, i := range p.fresh {
			p.plan.Case.Materials[i].Inspected = true // Also while the tool is still at it: the files are in its hands.
		}
	}
	if answer.Status == conversation.AnswerProcessing {
		return nil
	}
	err := p.fold(s, answer)
	if err != nil && (s.Manual || s.Optional || s.Phase == conversation.PhaseValidate) {
		p.fail(conversation.FailedStep{Step: s.ID, Tool: s.Tool, Code: conversation.CodeOf(err), Reason: err.Error()})
		return nil
	}
	return err
}

// folded is what an answer says, before any of it is in the case: an answer is taken as a whole or not at all, and its
// expressions see the facts as they were before it, whatever their order.
type folded struct {
	facts, symbols       []value
	warnings, unreadable []any
}

type value struct {
	name  string
	value any
	data  json.RawMessage
}

func (p *planning) fold(s *step, answer conversation.Answer) error {
	output, err := fromJSON(answer.Output)
	if err != nil {
		return misbehaved(answer, "its answer is not JSON", err)
	}
	vars := p.vars(output)
	var got folded
	if got.facts, err = evalAll(s.facts, vars); err != nil {
		return misbehaved(answer, "its answer gives no fact", err)
	}
	if got.symbols, err = evalAll(s.symbols, vars); err != nil {
		return misbehaved(answer, "its answer gives no symbol", err)
	}
	if got.warnings, err = listOf(s.warnings, vars); err != nil {
		return misbehaved(answer, "its answer gives no warnings", err)
	}
	if got.unreadable, err = listOf(s.unreadable, vars); err != nil {
		return misbehaved(answer, "its answer does not tell what is unreadable", err)
	}
	p.outputs[s.ID] = output
	p.apply(s, answer, got)
	p.nameShown(s, vars)
	return nil
}

func misbehaved(answer conversation.Answer, what string, err error) error {
	return conversation.Errorf(conversation.CodeToolMisbehaved, "%s.%s: %s: %w", answer.Tool, answer.Operation, what, err)
}

// apply writes what an answer said into the case, with its provenance.
func (p *planning) apply(s *step, answer conversation.Answer, got folded) {
	c := &p.plan.Case
	status := conversation.FactVerified
	if answer.Degraded != nil || answer.Proof == nil {
		status = conversation.FactDegraded
	}
	for _, f := range got.facts {
		p.setFact(conversation.Fact{
			Name: f.name, Value: f.data, Status: status, Source: "tool:" + answer.Tool, MessageID: answer.MessageID,
			At: p.request.Now, Confidence: answer.Diagnostics.ConfidenceScore,
		}, f.value)
	}
	for _, f := range got.symbols {
		c.SetSymbol(conversation.Symbol{
			Name: f.name, Entity: f.data, At: p.request.Now, ValidFor: conversation.SymbolValidFor, Verifier: s.ID,
		})
		p.plan.SymbolsChanged = true
	}
	if s.warnings != nil {
		c.Findings = slices.DeleteFunc(
			c.Findings,
			func(f conversation.Finding) bool { return strings.HasPrefix(f.ID, findingWarning+s.ID+":") },
		)
	}
	for i, text := range got.warnings {
		p.setFinding(conversation.Finding{
			ID: fmt.Sprintf("%s%s:%d", findingWarning, s.ID, i+1), Kind: conversation.FindingWarning, Text: fmt.Sprint(text),
		})
	}
	for _, item := range got.unreadable {
		p.setFinding(unusable(item))
	}
	for _, v := range answer.Verification {
		if !slices.Contains(c.Verification, v) {
			c.Verification = append(c.Verification, v)
		}
	}
	p.clearDegraded(s)
	if answer.Degraded != nil {
		d := *answer.Degraded
		d.Component, d.Step = "tool:"+s.Tool, s.ID
		c.Degraded = append(c.Degraded, d)
	}
	p.dropFinding(findingToolFailed + s.ID)
	if !slices.Contains(c.Done, s.ID) {
		c.Done = append(c.Done, s.ID)
	}
}

// unusable is the finding of an upload that a tool could make nothing of: {file, reason} or just a text.
func unusable(item any) conversation.Finding {
	fields, ok := item.(map[string]any)
	if !ok {
		return conversation.Finding{
			ID:   findingUnusable + fmt.Sprint(item),
			Kind: conversation.FindingWarning,
			Text: fmt.Sprint(item),
		}
	}
	return conversation.Finding{
		ID: findingUnusable + fmt.Sprint(fields["file"]), Kind: conversation.FindingWarning,
		Text: fmt.Sprintf("%v: %v", fields["file"], fields["reason"]),
	}
}

func (p *planning) clearDegraded(s *step) {
	p.plan.Case.Degraded = slices.DeleteFunc(
		p.plan.Case.Degraded,
		func(d conversation.Degraded) bool { return d.Step == s.ID },
	)
}

func evalAll(list []named, vars map[string]any) ([]value, error) {
	var values []value
	for _, n := range list {
		v, present, err := n.expr.eval(vars)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", n.name, err)
		}
		if !present {
			continue
		}
		data, err := json.Marshal(v)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", n.name, err)
		}
		values = append(values, value{n.name, v, data})
	}
	return values, nil
}

// listOf evaluates to a list; nil for no expression, and for no value.
func listOf(e *expression, vars map[string]any) ([]any, error) {
	if e == nil {
		return nil, nil
	}
	v, present, err := e.eval(vars)
	if err != nil || !present {
		return nil, err
	}
	list, ok := v.([]any)
	if !ok {
		return nil, fmt.Errorf("line %d: %s: is not a list", e.line, e.source)
	}
	return list, nil
}

// fail takes a call that failed for good into the case.
func (p *planning) fail(failed conversation.FailedStep) {
	s := p.flow.step(failed.Step)
	if s == nil {
		return
	}
	p.failed = append(p.failed, s.ID)
	c := &p.plan.Case
	switch {
	case s.Manual:
		p.askManually(s.ID)
	case s.Optional:
		p.clearDegraded(s)
		c.Degraded = append(c.Degraded, conversation.Degraded{
			Component: "tool:" + s.Tool, Strategy: "absent", Reason: string(failed.Code), Step: s.ID,
		})
		if !slices.Contains(c.Done, s.ID) {
			c.Done = append(c.Done, s.ID)
		}
	case s.Phase == conversation.PhaseValidate:
		p.setFinding(
			conversation.Finding{
				ID:   findingToolFailed + s.ID,
				Kind: conversation.FindingReview,
				Text: s.Tool + ": " + failed.Reason,
			},
		)
	}
}
