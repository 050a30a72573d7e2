package flow

import (
	"encoding/json"
	"strings"

	"github.com/hermes-orchestrator/hermes/conversation"
)

// remember lists what the answers of this request let memory know (SPEC M3): nothing without a proof. A rule that
// cannot be evaluated writes nothing and is named as a degraded tier: what a tool has done stays done.
func (p *planning) remember() {
	for _, answer := range p.request.Answers {
		output, taken := p.outputs[answer.Step]
		if !taken || answer.Proof == nil || answer.Degraded != nil {
			continue
		}
		for i := range p.flow.remember {
			rule := &p.flow.remember[i]
			if rule.After != answer.Step {
				continue
			}
			if rule.Warnings {
				p.rememberWarnings(answer)
				continue
			}
			writes, err := p.relations(rule, answer, output)
			if err != nil {
				p.plan.Case.Degraded = append(p.plan.Case.Degraded, conversation.Degraded{
					Component: "memory:longterm",
					Strategy:  "absent",
					Reason:    "remember after " + rule.After + ": " + err.Error(),
					Step:      rule.After,
				})
				continue
			}
			p.plan.Writes = append(p.plan.Writes, writes...)
		}
	}
}

// rememberWarnings keeps the warnings of an answer for the next time (SPEC M2).
func (p *planning) rememberWarnings(answer conversation.Answer) {
	for _, f := range p.plan.Case.Findings {
		if !strings.HasPrefix(f.ID, findingWarning+answer.Step+":") {
			continue
		}
		text, err := json.Marshal(f.Text)
		if err != nil {
			continue
		}
		p.plan.Writes = append(p.plan.Writes, conversation.Write{
			Kind:        conversation.WriteWarning,
			Name:        p.flow.ref.ID,
			Value:       text,
			ConfirmedBy: p.request.MessageID,
			Proof:       answer.Proof,
		})
	}
}

func (p *planning) relations(rule *rememberRule, answer conversation.Answer, output any) ([]conversation.Write, error) {
	vars := p.vars(output)
	elements := []any{nil}
	if rule.each != nil {
		list, err := listOf(rule.each, vars)
		if err != nil {
			return nil, err
		}
		elements = list
	}
	var writes []conversation.Write
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
		}{
			{rule.fromID, &relation.From.ID},
			{rule.toID, &relation.To.ID},
			{rule.fromName, &relation.From.Name},
			{rule.toName, &relation.To.Name},
		} {
			if part.expr == nil {
				continue
			}
			text, err := part.expr.text(vars)
			if err != nil {
				return nil, err
			}
			*part.into = text
		}
		if relation.From.ID == "" || relation.To.ID == "" {
			continue // An entity without identity would merge with every other of its type.
		}
		writes = append(
			writes,
			conversation.Write{Kind: conversation.WriteRelation, Relation: &relation, Proof: answer.Proof},
		)
	}
	return writes, nil
}
