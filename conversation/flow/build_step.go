package flow

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hermes-orchestrator/hermes/conversation"
)

// buildSteps compiles the tool calls and checks how they depend on each other.
func (r *reader) buildSteps(f *Flow) {
	seen := map[string]bool{}
	canAsk := slices.ContainsFunc(f.def.Materials, func(m MaterialDef) bool { return len(m.Manual) > 0 })
	for i, def := range f.def.Steps {
		path := fmt.Sprintf("$.steps[%d]", i)
		r.unique(path+".id", "step", def.ID, seen)
		r.checkStep(path, def, canAsk)
		r.checkNeeds(path, def, f)
		s := step{
			StepDef: def, when: r.condition(path+".when", def.When),
			warnings: r.list(path+".warnings", def.Warnings), unreadable: r.list(path+".unreadable", def.Unreadable),
			arguments: r.celMap(path+".arguments", def.Arguments),
		}
		r.withOutput(func() {
			s.facts = r.celMap(path+".facts", def.Facts)
			s.symbols = r.celMap(path+".symbols", def.Symbols)
			s.shows = r.celMap(path+".materials", def.Materials)
		})
		for _, e := range def.Materials {
			r.name(path+".materials."+e.Name, "material", e.Name, materialNames(f))
		}
		s.line, _ = r.position(path)
		s.toolLine, s.toolColumn = r.position(path + ".tool")
		s.operationLine, s.operationColumn = r.position(path + ".operation")
		if len(def.Label) > 0 {
			r.complete(path+".label", def.Label, f.locales)
		}
		if len(def.Degraded) > 0 {
			s.degraded = r.templates(path+".degraded", def.Degraded, f.locales, degradedView)
		}
		f.steps = append(f.steps, s)
	}
	if !slices.ContainsFunc(f.def.Steps, func(s StepDef) bool { return s.Phase == conversation.PhaseCommit }) {
		r.add(
			"$.steps",
			"no step has phase commit: nothing would happen when the user confirms",
			"add the step that takes effect, with phase: commit",
		)
	}
	r.cycles(f)
}

// checkStep checks combinations of keys that the schema cannot tell.
func (r *reader) checkStep(path string, def StepDef, canAsk bool) {
	inspects := def.Phase == conversation.PhaseInspect
	switch {
	case def.Manual && !inspects:
		r.add(path+".manual", "only a step of phase inspect can be replaced by asking for figures", "remove manual")
	case def.Manual && !canAsk:
		r.add(
			path+".manual",
			"no material has manual fields that could be asked for",
			"add manual fields to a material, or remove manual",
		)
	case def.Manual && def.Optional:
		r.add(path+".optional", "a step is either optional or manual", "remove one of both")
	}
	if def.Optional && def.Phase == conversation.PhaseCommit {
		r.add(path+".optional", "what the user confirmed is not optional", "remove optional")
	}
	if len(def.Materials) > 0 && !inspects {
		r.add(path+".materials", "only a step of phase inspect tells what uploads show", "remove materials")
	}
	if def.Unreadable != "" && !inspects {
		r.add(path+".unreadable", "only a step of phase inspect reads uploads", "remove unreadable")
	}
}

func (r *reader) checkNeeds(path string, def StepDef, f *Flow) {
	for j, need := range def.Needs {
		at := fmt.Sprintf("%s.needs[%d]", path, j)
		r.name(at, "step", need, stepIDs(f))
		for _, other := range f.def.Steps {
			if other.ID == need && other.Phase != def.Phase {
				r.add(
					at,
					fmt.Sprintf("step %q is of phase %s, not of %s", need, other.Phase, def.Phase),
					"phases run one after the other: remove it",
				)
			}
		}
	}
}

// cycles reports each circle of steps that need each other, once, at the step of it that stands first in the file.
func (r *reader) cycles(f *Flow) {
	at := map[string]int{}
	for i, s := range f.def.Steps {
		if _, twice := at[s.ID]; !twice {
			at[s.ID] = i
		}
	}
	const (
		entered = 1
		left    = 2
	)
	mark := map[string]int{}
	var trail []string
	var visit func(id string)
	visit = func(id string) {
		i, exists := at[id]
		if !exists || mark[id] == left {
			return
		}
		if mark[id] == entered {
			circle := trail[slices.Index(trail, id):]
			first := slices.MinFunc(circle, func(a, b string) int { return at[a] - at[b] })
			r.add(
				fmt.Sprintf("$.steps[%d].needs", at[first]),
				"steps need each other in a circle: "+strings.Join(append(slices.Clone(circle), id), " → "),
				"break the circle",
			)
			return
		}
		mark[id] = entered
		trail = append(trail, id)
		for _, need := range f.def.Steps[i].Needs {
			visit(need)
		}
		trail = trail[:len(trail)-1]
		mark[id] = left
	}
	for _, s := range f.def.Steps {
		visit(s.ID)
	}
}
