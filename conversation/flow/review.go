package flow

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hermes-orchestrator/hermes/conversation"
)

// findings evaluates the checks, in their order. One that cannot be evaluated is never silently passed: whatever its
// kind, it becomes a review "cannot_check:<id>".
func (p *planning) findings() {
	toolFailed := slices.ContainsFunc(
		p.plan.Case.Findings,
		func(f conversation.Finding) bool { return strings.HasPrefix(f.ID, findingToolFailed) },
	)
	vars := p.vars(nil)
	for i := range p.flow.findings {
		def := &p.flow.findings[i]
		applies, err := def.when.isTrue(vars)
		basis := p.basis(def)
		if err != nil {
			p.dropFinding(def.ID)
			// While a tool's answer is missing, that is what must be decided first.
			if toolFailed {
				p.dropFinding(findingCannotCheck + def.ID)
				continue
			}
			p.raise(
				conversation.Finding{
					ID:    findingCannotCheck + def.ID,
					Kind:  conversation.FindingReview,
					Text:  err.Error(),
					Basis: basis,
				},
			)
			continue
		}
		p.dropFinding(findingCannotCheck + def.ID)
		if !applies {
			p.dropFinding(def.ID)
			continue
		}
		text, err := renderFinding(def, p.locale, p.facts)
		if err != nil {
			text = def.ID
		}
		p.raise(conversation.Finding{ID: def.ID, Kind: def.Kind, Text: text, Basis: basis})
	}
}

// raise sets a finding, unless a person has accepted it already and nothing that it was built on has changed.
func (p *planning) raise(f conversation.Finding) {
	accepted := func(have conversation.Finding) bool { return have.ID == f.ID && have.Accepted && have.Basis == f.Basis }
	if !slices.ContainsFunc(p.plan.Case.Findings, accepted) {
		p.setFinding(f)
	}
}

// basis is a digest of the facts that a finding was built on; a fact that is absent is one as well.
func (p *planning) basis(def *finding) string {
	read := make(map[string]any, len(def.reads))
	for _, name := range def.reads {
		read[name] = p.facts[name]
	}
	digest, err := digestOf(read)
	if err != nil {
		return ""
	}
	return digest[:16]
}

func (p *planning) setFinding(f conversation.Finding) {
	p.dropFinding(f.ID)
	p.plan.Case.Findings = append(p.plan.Case.Findings, f)
}

func (p *planning) dropFinding(id string) {
	p.plan.Case.Findings = slices.DeleteFunc(p.plan.Case.Findings, func(f conversation.Finding) bool { return f.ID == id })
}

func renderFinding(def *finding, locale string, facts map[string]any) (string, error) {
	t := def.ask[locale]
	if t == nil {
		return "", fmt.Errorf("finding %q has no text for locale %q", def.ID, locale)
	}
	var b strings.Builder
	err := t.Execute(&b, map[string]any{"facts": facts})
	return b.String(), err
}
