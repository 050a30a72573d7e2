package flow

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/hermes-orchestrator/hermes/conversation"
)

// Reset forgets what the user wants to replace, and every check that was built on anything: names are materials (with
// all that they brought) or facts. The validate steps run again; with no names only they do.
func (f *Flow) Reset(c conversation.Case, names []string) conversation.Case {
	c = c.Clone()
	for _, name := range names {
		c.DropFact(name)
		for _, m := range f.def.Materials {
			if m.Name != name {
				continue
			}
			for _, fact := range m.Facts {
				c.DropFact(fact)
			}
			for _, field := range m.Manual {
				c.DropFact(field.Name)
			}
		}
	}
	for _, d := range f.derive {
		c.DropFact(d.name)
	}
	for i := range f.steps {
		s := &f.steps[i]
		if s.Phase != conversation.PhaseValidate {
			continue
		}
		for _, fact := range s.facts {
			c.DropFact(fact.name)
		}
		c.Done = slices.DeleteFunc(c.Done, func(id string) bool { return id == s.ID })
		c.Degraded = slices.DeleteFunc(c.Degraded, func(d conversation.Degraded) bool { return d.Component == "tool:"+s.Tool })
	}
	c.Findings = slices.DeleteFunc(c.Findings, func(finding conversation.Finding) bool {
		return !strings.HasPrefix(finding.ID, findingUnusable)
	})
	return c
}

// Accept marks a review as accepted by a message (SPEC C2), and returns the preference that this declares, if the flow
// says so: visible and revocable like any other.
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
		p := &planning{flow: f, plan: conversation.Plan{Case: c}}
		value, present, err := def.tolerance.eval(p.vars(nil))
		if err != nil || !present {
			continue
		}
		if data, err := json.Marshal(value); err == nil {
			writes = append(writes, conversation.Write{Kind: conversation.WritePreference, Name: def.Tolerance.Preference, Value: data, ConfirmedBy: messageID})
		}
	}
	return c, writes
}
