package flow

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/hermes-orchestrator/hermes/conversation"
)

// Reset forgets what the user wants to replace, and every check that was built on anything: names are materials (with
// their uploads and all that they brought) or facts. The validate steps run again; with no names only they do. What a
// person has accepted is kept: the next round asks again only where the facts behind it have changed.
func (f *Flow) Reset(c conversation.Case, names []string) conversation.Case {
	c = c.Clone()
	gone := slices.Clone(names)
	for _, m := range f.def.Materials {
		if !slices.Contains(names, m.Name) {
			continue
		}
		gone = append(gone, m.Facts...)
		for _, field := range m.Manual {
			gone = append(gone, field.Name)
		}
		c.Materials = slices.DeleteFunc(c.Materials, func(have conversation.Material) bool { return have.Name == m.Name })
	}
	for _, d := range f.derive {
		gone = append(gone, d.name)
	}
	var again []string
	for i := range f.steps {
		s := &f.steps[i]
		if s.Phase != conversation.PhaseValidate {
			continue
		}
		again = append(again, s.ID)
		for _, fact := range s.facts {
			gone = append(gone, fact.name)
		}
	}
	c.Facts = slices.DeleteFunc(c.Facts, func(fact conversation.Fact) bool { return slices.Contains(gone, fact.Name) })
	c.Symbols = slices.DeleteFunc(c.Symbols, func(s conversation.Symbol) bool {
		return slices.Contains(names, s.Name) || slices.Contains(again, s.Verifier)
	})
	c.Done = slices.DeleteFunc(c.Done, func(id string) bool { return slices.Contains(again, id) })
	c.Degraded = slices.DeleteFunc(
		c.Degraded,
		func(d conversation.Degraded) bool { return slices.Contains(again, d.Step) },
	)
	c.Findings = slices.DeleteFunc(c.Findings, func(have conversation.Finding) bool { return !f.outlivesReset(have) })
	return c
}

// outlivesReset reports whether a finding is no check: what was said of an upload, or a person's decision on a rule.
func (f *Flow) outlivesReset(have conversation.Finding) bool {
	if strings.HasPrefix(have.ID, findingUnusable) {
		return true
	}
	return have.Accepted && f.finding(strings.TrimPrefix(have.ID, findingCannotCheck)) != nil
}

// Accept marks a review as accepted by a message (SPEC C2), and returns the preference that this declares, if the flow
// says so: visible and revocable like any other. A finding that is not open changes nothing.
func (f *Flow) Accept(c conversation.Case, findingID, messageID string) (conversation.Case, []conversation.Write) {
	c = c.Clone()
	var writes []conversation.Write
	for i := range c.Findings {
		if c.Findings[i].ID != findingID || c.Findings[i].Kind != conversation.FindingReview || c.Findings[i].Accepted {
			continue
		}
		c.Findings[i].Accepted, c.Findings[i].AcceptedBy = true, messageID
		def := f.finding(findingID)
		if def == nil || def.tolerance == nil {
			continue
		}
		p := newPlanning(f, conversation.PlanRequest{Case: c, MessageID: messageID}, User{}, nil)
		value, present, err := def.tolerance.eval(p.vars(nil))
		if err != nil || !present {
			continue
		}
		if data, err := json.Marshal(value); err == nil {
			writes = append(
				writes,
				conversation.Write{
					Kind:        conversation.WritePreference,
					Name:        def.Tolerance.Preference,
					Value:       data,
					ConfirmedBy: messageID,
				},
			)
		}
	}
	return c, writes
}
