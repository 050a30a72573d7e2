package flow

import (
	"fmt"
	"slices"

	"github.com/google/cel-go/cel"

	"github.com/hermes-orchestrator/hermes/conversation"
)

// buildFindings compiles the checks. It comes after derive: what a check reads includes what that was computed from.
func (r *reader) buildFindings(f *Flow) {
	seen := map[string]bool{}
	clearable := append(materialNames(f), r.known...)
	for i, def := range f.def.Findings {
		path := fmt.Sprintf("$.findings[%d]", i)
		r.unique(path+".id", "finding", def.ID, seen)
		for j, name := range def.Clear {
			r.name(fmt.Sprintf("%s.clear[%d]", path, j), "material or fact", name, clearable)
		}
		built := finding{FindingDef: def, when: r.condition(path+".when", def.When)}
		if def.Kind == conversation.FindingReview {
			built.ask = r.templates(path+".ask", def.Ask, f.locales, findingView)
			for _, option := range []string{conversation.ChoiceAccept, conversation.ChoiceReject} {
				r.complete(path+".options."+option, def.Options[option], f.locales)
			}
		} else {
			built.ask = r.templates(path+".text", def.Text, f.locales, findingView)
		}
		if len(def.Label) > 0 {
			r.complete(path+".label", def.Label, f.locales)
		}
		for side, words := range def.Say {
			r.completeWords(path+".say."+side, words, f.locales)
		}
		r.onlyReviews(path, def)
		if def.Tolerance != nil {
			built.tolerance = r.cel(path+".tolerance.value", def.Tolerance.Value)
		}
		built.reads = f.closure(built)
		f.findings = append(f.findings, built)
	}
}

// onlyReviews refuses keys that only the answer to a question can use.
func (r *reader) onlyReviews(path string, def FindingDef) {
	if def.Kind == conversation.FindingReview || def.Kind == "" {
		return
	}
	for key, given := range map[string]bool{
		"ask": len(def.Ask) > 0, "options": len(def.Options) > 0, "say": len(def.Say) > 0, "clear": len(def.Clear) > 0,
		"tolerance": def.Tolerance != nil,
	} {
		if given {
			r.add(path+"."+key, fmt.Sprintf("a finding of kind %s asks nothing", def.Kind), "write kind: review, or remove "+key)
		}
	}
}

// closure lists the facts that a finding was built on, derived ones and what they come from: while they are unchanged,
// an acceptance stays valid.
func (f *Flow) closure(built finding) []string {
	var names []string
	var add func(name string)
	add = func(name string) {
		if slices.Contains(names, name) {
			return
		}
		names = append(names, name)
		for _, d := range f.derive {
			if d.name == name {
				for _, read := range d.expr.facts {
					add(read)
				}
			}
		}
	}
	if built.when != nil {
		for _, name := range built.when.facts {
			add(name)
		}
	}
	for _, t := range built.ask {
		for _, name := range scan(t.Root).facts {
			add(name)
		}
	}
	slices.Sort(names)
	return names
}

// buildRemember compiles what memory may learn from the answer of a step.
func (r *reader) buildRemember(f *Flow) {
	for i, def := range f.def.Remember {
		path := fmt.Sprintf("$.remember[%d]", i)
		r.name(path+".after", "step", def.After, stepIDs(f))
		switch {
		case (def.Relation == nil) != def.Warnings:
			r.add(path, "a rule has either a relation or warnings: true", "write one of both")
			continue
		case (def.Each == "") != (def.As == ""):
			r.add(path, "each and as belong together", "name the element: as: item")
			continue
		case slices.Contains(variables, def.As):
			r.add(path+".as", fmt.Sprintf("%q has a meaning already", def.As), "choose another name")
			continue
		}
		if def.Warnings {
			for _, s := range f.def.Steps {
				if s.ID == def.After && s.Warnings == "" {
					r.add(
						path+".warnings",
						fmt.Sprintf("step %q has no warnings", def.After),
						"add warnings to the step, or remove the rule",
					)
				}
			}
		}
		rule := rememberRule{RememberDef: def}
		r.withOutput(func() {
			rule.each = r.list(path+".each", def.Each)
			if def.Relation == nil {
				return
			}
			if def.As != "" {
				env, err := r.env.Extend(cel.Variable(def.As, cel.DynType))
				if err != nil {
					r.add(path+".as", err.Error(), "choose another name")
					return
				}
				r.env = env
			}
			rule.fromID = r.cel(path+".relation.from.id", def.Relation.From.ID)
			rule.toID = r.cel(path+".relation.to.id", def.Relation.To.ID)
			rule.fromName = r.cel(path+".relation.from.name", def.Relation.From.Name)
			rule.toName = r.cel(path+".relation.to.name", def.Relation.To.Name)
		})
		f.remember = append(f.remember, rule)
	}
}
