package flow

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/hermes-orchestrator/hermes/conversation"
)

// fold takes one answer into the case: facts with their provenance, symbols, warnings, verification steps.
func (p *planning) fold(answer conversation.Answer) error {
	s := p.flow.step(answer.Step)
	if s == nil {
		return conversation.Errorf(conversation.CodeInvalidFlow, "flow %q has no step %q, whose answer arrived", p.flow.ref.ID, answer.Step)
	}
	c := &p.plan.Case
	if s.Phase == conversation.PhaseInspect {
		for i := range c.Materials {
			c.Materials[i].Inspected = true // Also while the tool is still at it: the files are in its hands.
		}
	}
	if answer.Status == conversation.AnswerProcessing {
		return nil
	}
	output, err := fromJSON(answer.Output)
	if err != nil {
		return conversation.Errorf(conversation.CodeToolMisbehaved, "answer of %s.%s is not JSON: %w", answer.Tool, answer.Operation, err)
	}
	p.outputs[s.ID] = output
	// Later expressions of the same step see the facts as they were before it, whatever their order.
	vars := p.vars(output)
	for _, f := range s.facts {
		value, present, err := f.expr.eval(vars)
		if err != nil {
			return conversation.Errorf(conversation.CodeToolMisbehaved, "answer of %s.%s gives no fact %q: %w", answer.Tool, answer.Operation, f.name, err)
		}
		if !present {
			continue
		}
		data, err := json.Marshal(value)
		if err != nil {
			return conversation.Errorf(conversation.CodeInternal, "fact %q: %w", f.name, err)
		}
		c.SetFact(conversation.Fact{
			Name: f.name, Value: data, Status: statusOf(answer), Source: "tool:" + answer.Tool, MessageID: answer.MessageID,
			At: p.request.Now, Confidence: answer.Diagnostics.ConfidenceScore,
		})
	}
	if err := p.symbols(s, vars); err != nil {
		return err
	}
	if err := p.foldTexts(s, vars); err != nil {
		return err
	}
	for _, v := range answer.Verification {
		if !slices.Contains(c.Verification, v) {
			c.Verification = append(c.Verification, v)
		}
	}
	c.Degraded = slices.DeleteFunc(c.Degraded, func(d conversation.Degraded) bool { return d.Component == "tool:"+s.Tool })
	if answer.Degraded != nil {
		d := *answer.Degraded
		d.Component = "tool:" + s.Tool
		c.Degraded = append(c.Degraded, d)
	}
	p.dropFinding(findingToolFailed + s.ID)
	if s.Phase != conversation.PhaseInspect && !slices.Contains(c.Done, s.ID) {
		c.Done = append(c.Done, s.ID)
	}
	return nil
}

func statusOf(answer conversation.Answer) conversation.FactStatus {
	if answer.Degraded != nil || answer.Proof == nil {
		return conversation.FactDegraded
	}
	return conversation.FactVerified
}

func (p *planning) symbols(s *step, vars map[string]any) error {
	for _, symbol := range s.symbols {
		value, present, err := symbol.expr.eval(vars)
		if err != nil {
			return p.broken(s, "symbol "+symbol.name, err)
		}
		if !present {
			continue
		}
		data, err := json.Marshal(value)
		if err != nil {
			return p.broken(s, "symbol "+symbol.name, err)
		}
		p.plan.Case.SetSymbol(conversation.Symbol{
			Name: symbol.name, Entity: data, At: p.request.Now, ValidFor: conversation.SymbolValidFor, Verifier: s.ID,
		})
		p.plan.SymbolsChanged = true
	}
	return nil
}

// foldTexts keeps what the tool says to people: warnings, and uploads that it could make nothing of.
func (p *planning) foldTexts(s *step, vars map[string]any) error {
	if s.warnings != nil {
		prefix := findingWarning + s.ID + ":"
		p.plan.Case.Findings = slices.DeleteFunc(p.plan.Case.Findings, func(f conversation.Finding) bool { return strings.HasPrefix(f.ID, prefix) })
		list, err := listOf(s.warnings, vars)
		if err != nil {
			return p.broken(s, "warnings", err)
		}
		for i, text := range list {
			p.setFinding(conversation.Finding{ID: fmt.Sprintf("%s%d", prefix, i+1), Kind: conversation.FindingWarning, Text: fmt.Sprint(text)})
		}
	}
	if s.unreadable != nil {
		list, err := listOf(s.unreadable, vars)
		if err != nil {
			return p.broken(s, "unreadable", err)
		}
		for _, item := range list {
			fields, _ := item.(map[string]any)
			p.setFinding(conversation.Finding{
				ID: findingUnusable + fmt.Sprint(fields["file"]), Kind: conversation.FindingWarning,
				Text: fmt.Sprintf("%v: %v", fields["file"], fields["reason"]),
			})
		}
	}
	return nil
}

func listOf(e *expression, vars map[string]any) ([]any, error) {
	value, present, err := e.eval(vars)
	if err != nil || !present {
		return nil, err
	}
	list, ok := value.([]any)
	if !ok {
		return nil, fmt.Errorf("line %d: %s: is not a list", e.line, e.source)
	}
	return list, nil
}

// dropUnusable forgets what was said of uploads of an earlier message when there are new ones.
func (p *planning) dropUnusable() {
	fresh := slices.ContainsFunc(p.plan.Case.Materials, func(m conversation.Material) bool { return !m.Inspected })
	if !fresh {
		return
	}
	p.plan.Case.Findings = slices.DeleteFunc(p.plan.Case.Findings, func(f conversation.Finding) bool {
		return strings.HasPrefix(f.ID, findingUnusable)
	})
}

// fail takes a call that failed for good into the case.
func (p *planning) fail(failed conversation.FailedStep) {
	s := p.flow.step(failed.Step)
	if s == nil {
		return
	}
	c := &p.plan.Case
	switch {
	case s.Manual:
		p.askManually(s.ID)
	case s.Optional:
		c.Degraded = slices.DeleteFunc(c.Degraded, func(d conversation.Degraded) bool { return d.Component == "tool:"+s.Tool })
		c.Degraded = append(c.Degraded, conversation.Degraded{Component: "tool:" + s.Tool, Strategy: "absent", Reason: string(failed.Code)})
		if !slices.Contains(c.Done, s.ID) {
			c.Done = append(c.Done, s.ID)
		}
	case s.Phase == conversation.PhaseValidate:
		p.setFinding(conversation.Finding{ID: findingToolFailed + s.ID, Kind: conversation.FindingReview, Text: s.Tool + ": " + failed.Reason})
	}
}

// remember lists what the verified answers of this request let memory know (SPEC M3): nothing without a proof.
func (p *planning) remember() error {
	for _, answer := range p.request.Answers {
		if answer.Status != conversation.AnswerOK || answer.Proof == nil || answer.Degraded != nil {
			continue
		}
		for i := range p.flow.remember {
			rule := &p.flow.remember[i]
			if rule.After != answer.Step {
				continue
			}
			if rule.Warnings {
				p.rememberWarnings(answer.Step)
				continue
			}
			if err := p.rememberRelations(rule, answer); err != nil {
				return conversation.Errorf(conversation.CodeInvalidFlow, "flow %q: remember after %q: %w", p.flow.ref.ID, rule.After, err)
			}
		}
	}
	return nil
}

func (p *planning) rememberWarnings(step string) {
	for _, f := range p.plan.Case.Findings {
		if !strings.HasPrefix(f.ID, findingWarning+step+":") {
			continue
		}
		text, err := json.Marshal(f.Text)
		if err != nil {
			continue
		}
		p.plan.Writes = append(p.plan.Writes, conversation.Write{
			Kind: conversation.WriteWarning, Name: p.flow.ref.ID, Value: text, ConfirmedBy: p.request.MessageID,
		})
	}
}

func (p *planning) rememberRelations(rule *rememberRule, answer conversation.Answer) error {
	vars := p.vars(p.outputs[answer.Step])
	elements := []any{nil}
	if rule.each != nil {
		list, err := listOf(rule.each, vars)
		if err != nil {
			return err
		}
		elements = list
	}
	for _, element := range elements {
		if rule.As != "" {
			vars[rule.As] = element
		}
		relation := conversation.Relation{
			From: conversation.Entity{Type: rule.Relation.From.Type}, Type: rule.Relation.Type,
			To: conversation.Entity{Type: rule.Relation.To.Type},
		}
		for _, part := range []struct {
			expr *expression
			into *string
		}{{rule.fromID, &relation.From.ID}, {rule.toID, &relation.To.ID}, {rule.fromName, &relation.From.Name}, {rule.toName, &relation.To.Name}} {
			if part.expr == nil {
				continue
			}
			text, err := part.expr.text(vars)
			if err != nil {
				return err
			}
			*part.into = text
		}
		if relation.From.ID == "" || relation.To.ID == "" {
			continue // An entity without identity would merge with every other of its type.
		}
		p.plan.Writes = append(p.plan.Writes, conversation.Write{Kind: conversation.WriteRelation, Relation: &relation, Proof: answer.Proof})
	}
	return nil
}
