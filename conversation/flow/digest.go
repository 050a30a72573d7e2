package flow

import (
	"slices"
	"strings"

	"github.com/hermes-orchestrator/hermes/conversation"
)

// digest covers what a confirmation shows and what it would set in motion: flow version, commit calls with their
// arguments, shown facts, warnings. It is empty while any of them is unknown.
func (p *planning) digest() {
	phase := p.request.Phase
	if phase != conversation.PhaseValidate && phase != conversation.PhaseCommit || len(p.plan.Missing) > 0 {
		return
	}
	if phase == conversation.PhaseValidate && len(p.plan.Calls) > 0 {
		return
	}
	vars := p.vars(nil)
	calls, facts, warnings := map[string]any{}, map[string]any{}, []string{}
	for i := range p.flow.steps {
		s := &p.flow.steps[i]
		// The second of two effects may need the record of the first: it is bound by the first, once that is done.
		if s.Phase != conversation.PhaseCommit || len(s.Needs) > 0 || slices.Contains(p.plan.Case.Done, s.ID) {
			continue
		}
		arguments, err := s.evalArguments(vars)
		if err != nil {
			return
		}
		calls[s.ID] = map[string]any{"tool": s.Tool, "operation": s.Operation, "arguments": arguments}
	}
	for _, name := range p.flow.def.Confirmation.Shows {
		if fact, found := p.plan.Case.Fact(name); found {
			facts[name] = fact.Value
		}
	}
	for _, f := range p.plan.Case.Findings {
		switch {
		case f.Kind != conversation.FindingWarning || strings.HasPrefix(f.ID, findingUnusable):
		case p.flow.finding(f.ID) != nil:
			warnings = append(warnings, f.ID) // Its text depends on the language of the reader.
		default:
			warnings = append(warnings, f.Text)
		}
	}
	slices.Sort(warnings)
	digest, err := digestOf(map[string]any{"flow": p.flow.ref, "calls": calls, "facts": facts, "warnings": warnings})
	if err == nil {
		p.plan.Digest = digest
	}
}
