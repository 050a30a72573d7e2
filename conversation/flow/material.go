package flow

import (
	"fmt"
	"slices"

	"github.com/hermes-orchestrator/hermes/conversation"
)

// nameShown names the uploads that an answer says to show a material, by their file names. A mapping that cannot be
// evaluated names nothing: names help to replace an upload later, nothing is decided by them.
func (p *planning) nameShown(s *step, vars map[string]any) {
	for _, shown := range s.shows {
		files, err := listOf(shown.expr, vars)
		if err != nil {
			continue
		}
		for _, file := range files {
			for i := range p.plan.Case.Materials {
				m := &p.plan.Case.Materials[i]
				if m.Name == "" && m.Inspected && m.Attachment.Name == fmt.Sprint(file) {
					m.Name = shown.name
				}
			}
		}
	}
}

// nameMaterials names uploads where only one material can be meant: exactly one has become present by the answers of
// this request, and no step of the flow says more.
func (p *planning) nameMaterials() {
	explicit := slices.ContainsFunc(p.flow.steps, func(s step) bool { return len(s.shows) > 0 })
	if explicit || len(p.outputs) == 0 || p.request.Phase != conversation.PhaseInspect {
		return
	}
	before := newPlanning(p.flow, p.request, p.user, nil).vars(nil)
	now := p.vars(nil)
	var turned []string
	for i := range p.flow.materials {
		m := &p.flow.materials[i]
		was, errBefore := m.present.isTrue(before)
		is, err := m.present.isTrue(now)
		if errBefore == nil && err == nil && !was && is {
			turned = append(turned, m.Name)
		}
	}
	if len(turned) != 1 {
		return
	}
	for i := range p.plan.Case.Materials {
		if m := &p.plan.Case.Materials[i]; m.Name == "" && m.Inspected {
			m.Name = turned[0]
		}
	}
}

// labels names materials for people.
func (f *Flow) labels(materials []string, locale string) []string {
	labels := make([]string, 0, len(materials))
	for _, name := range materials {
		label := name
		for _, m := range f.def.Materials {
			if m.Name == name {
				label = m.Label.in(locale)
			}
		}
		labels = append(labels, label)
	}
	return labels
}
