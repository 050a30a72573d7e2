package flow

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"text/template"

	"github.com/google/cel-go/cel"

	"github.com/hermes-orchestrator/hermes/conversation"
)

// build compiles every expression and template of the definition and checks that names mean something.
func (r *reader) build(f *Flow) {
	r.limits(f)
	f.locales = r.locales(f)
	known := factNames(f)
	r.buildMaterials(f, known)
	r.buildSteps(f, known)
	for i, e := range f.def.Derive {
		if expr := r.cel(fmt.Sprintf("$.derive.%s", e.Name), e.Source, known); expr != nil {
			f.derive = append(f.derive, named{f.def.Derive[i].Name, expr})
		}
	}
	r.buildFindings(f, known)
	for i, w := range f.def.Warnings {
		path := fmt.Sprintf("$.warnings[%d]", i)
		match, err := regexp.Compile(w.Match)
		if err != nil {
			r.add(path+".match", err.Error(), "write a regular expression (RE2)")
			continue
		}
		r.complete(path+".short", w.Short, f.locales)
		f.warnings = append(f.warnings, warningRule{match, w.Short})
	}
	for i, name := range f.def.Confirmation.Shows {
		r.fact(fmt.Sprintf("$.confirmation.shows[%d]", i), name, known)
	}
	f.confirmation = r.templates("$.confirmation.text", f.def.Confirmation.Text, f.locales, known)
	if len(f.def.Summary) > 0 {
		f.summary = r.templates("$.summary", f.def.Summary, f.locales, known)
	}
	f.texts = map[string]map[string]*template.Template{}
	for kind, text := range f.def.Texts {
		path := "$.texts." + kind
		if !slices.Contains(replyKinds, conversation.ReplyKind(kind)) {
			kinds := make([]string, len(replyKinds))
			for i, k := range replyKinds {
				kinds[i] = string(k)
			}
			r.add(path, fmt.Sprintf("there is no reply of kind %q", kind), suggestion(kind, kinds))
			continue
		}
		f.texts[kind] = r.templates(path, text, f.locales, known)
	}
	clearable := append(materialNames(f), known...)
	for i, m := range f.def.Modify {
		for j, name := range m.Clear {
			r.name(fmt.Sprintf("$.modify[%d].clear[%d]", i, j), "material or fact", name, clearable)
		}
	}
	r.buildRemember(f, known)
}

// locales are those of the title; every other text must have them all.
func (r *reader) locales(f *Flow) []string {
	var locales []string
	for _, locale := range []string{conversation.LocaleChinese, conversation.LocaleEnglish} {
		if _, ok := f.def.Title[locale]; ok {
			locales = append(locales, locale)
		}
	}
	return locales
}

// factNames lists every fact that the flow can have.
func factNames(f *Flow) []string {
	var names []string
	for _, e := range f.def.Entities {
		names = append(names, e.Name)
	}
	for _, m := range f.def.Materials {
		for _, field := range m.Manual {
			names = append(names, field.Name)
		}
	}
	for _, s := range f.def.Steps {
		for _, e := range s.Facts {
			names = append(names, e.Name)
		}
	}
	for _, e := range f.def.Derive {
		names = append(names, e.Name)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

func materialNames(f *Flow) []string {
	names := make([]string, len(f.def.Materials))
	for i, m := range f.def.Materials {
		names[i] = m.Name
	}
	return names
}

func stepIDs(f *Flow) []string {
	ids := make([]string, len(f.def.Steps))
	for i, s := range f.def.Steps {
		ids[i] = s.ID
	}
	return ids
}

func (r *reader) buildMaterials(f *Flow, known []string) {
	seen := map[string]bool{}
	for i, def := range f.def.Materials {
		path := fmt.Sprintf("$.materials[%d]", i)
		r.unique(path+".name", "material", def.Name, seen)
		r.complete(path+".label", def.Label, f.locales)
		for j, name := range def.Facts {
			r.fact(fmt.Sprintf("%s.facts[%d]", path, j), name, known)
		}
		for j, field := range def.Manual {
			r.complete(fmt.Sprintf("%s.manual[%d].label", path, j), field.Label, f.locales)
		}
		f.materials = append(f.materials, material{
			MaterialDef: def, required: r.optionalCEL(path+".required_when", def.RequiredWhen, known),
			present: r.cel(path+".present", def.Present, known),
		})
	}
}

func (r *reader) buildSteps(f *Flow, known []string) {
	seen := map[string]bool{}
	ids := stepIDs(f)
	commits, canAsk := 0, slices.ContainsFunc(f.def.Materials, func(m MaterialDef) bool { return len(m.Manual) > 0 })
	for i, def := range f.def.Steps {
		path := fmt.Sprintf("$.steps[%d]", i)
		r.unique(path+".id", "step", def.ID, seen)
		if def.Phase == conversation.PhaseCommit {
			commits++
		}
		if def.Manual && (def.Phase != conversation.PhaseInspect || !canAsk) {
			r.add(path+".manual", "manual needs a step of phase inspect, and a material with manual fields", "add manual fields to a material, or remove manual")
		}
		if def.Manual && def.Optional {
			r.add(path+".optional", "a step is either optional or manual", "remove one of both")
		}
		for j, need := range def.Needs {
			needPath := fmt.Sprintf("%s.needs[%d]", path, j)
			r.name(needPath, "step", need, ids)
			for _, other := range f.def.Steps {
				if other.ID == need && other.Phase != def.Phase {
					r.add(needPath, fmt.Sprintf("step %q is of phase %s, not of %s", need, other.Phase, def.Phase), "phases run one after the other: remove it")
				}
			}
		}
		s := step{
			StepDef: def, when: r.optionalCEL(path+".when", def.When, known),
			warnings: r.optionalCEL(path+".warnings", def.Warnings, known), unreadable: r.optionalCEL(path+".unreadable", def.Unreadable, known),
			arguments: r.celMap(path+".arguments", def.Arguments, known), facts: r.celMap(path+".facts", def.Facts, known),
			symbols: r.celMap(path+".symbols", def.Symbols, known),
		}
		if len(def.Degraded) > 0 {
			s.degraded = r.templates(path+".degraded", def.Degraded, f.locales, known)
		}
		f.steps = append(f.steps, s)
	}
	if commits == 0 {
		r.add("$.steps", "no step has phase commit: nothing would happen when the user confirms", "add the step that takes effect, with phase: commit")
	}
	r.cycles(f)
}

// cycles reports steps that need each other in a circle.
func (r *reader) cycles(f *Flow) {
	needs := map[string][]string{}
	for _, s := range f.def.Steps {
		needs[s.ID] = s.Needs
	}
	const (
		entered = 1
		left    = 2
	)
	mark := map[string]int{}
	var circular func(id string) bool
	circular = func(id string) bool {
		if mark[id] != 0 {
			return mark[id] == entered
		}
		mark[id] = entered
		for _, need := range needs[id] {
			if circular(need) {
				return true
			}
		}
		mark[id] = left
		return false
	}
	for i, s := range f.def.Steps {
		clear(mark)
		if circular(s.ID) {
			r.add(fmt.Sprintf("$.steps[%d].needs", i), fmt.Sprintf("step %q needs itself, through %s", s.ID, strings.Join(s.Needs, ", ")), "break the circle")
		}
	}
}

func (r *reader) buildFindings(f *Flow, known []string) {
	seen := map[string]bool{}
	clearable := append(materialNames(f), known...)
	for i, def := range f.def.Findings {
		path := fmt.Sprintf("$.findings[%d]", i)
		r.unique(path+".id", "finding", def.ID, seen)
		for j, name := range def.Clear {
			r.name(fmt.Sprintf("%s.clear[%d]", path, j), "material or fact", name, clearable)
		}
		built := finding{FindingDef: def, when: r.cel(path+".when", def.When, known)}
		if def.Kind == conversation.FindingReview {
			built.ask = r.templates(path+".ask", def.Ask, f.locales, known)
			for _, option := range []string{"accept", "reject"} {
				r.complete(path+".options."+option, def.Options[option], f.locales)
			}
		} else {
			built.ask = r.templates(path+".text", def.Text, f.locales, known)
		}
		if def.Tolerance != nil {
			built.tolerance = r.cel(path+".tolerance.value", def.Tolerance.Value, known)
		}
		f.findings = append(f.findings, built)
	}
}

func (r *reader) buildRemember(f *Flow, known []string) {
	for i, def := range f.def.Remember {
		path := fmt.Sprintf("$.remember[%d]", i)
		r.name(path+".after", "step", def.After, stepIDs(f))
		rule := rememberRule{RememberDef: def, each: r.optionalCEL(path+".each", def.Each, known)}
		if (def.Each == "") != (def.As == "") {
			r.add(path, "each and as belong together", "name the element: as: invoice")
			continue
		}
		if (def.Relation == nil) != def.Warnings {
			r.add(path, "a rule has either a relation or warnings: true", "")
			continue
		}
		if def.Relation != nil {
			env := r.env
			if def.As != "" {
				extended, err := env.Extend(cel.Variable(def.As, cel.DynType))
				if err != nil {
					r.add(path+".as", err.Error(), "choose another name")
					continue
				}
				r.env = extended
			}
			rule.fromID = r.cel(path+".relation.from.id", def.Relation.From.ID, known)
			rule.toID = r.cel(path+".relation.to.id", def.Relation.To.ID, known)
			rule.fromName = r.optionalCEL(path+".relation.from.name", def.Relation.From.Name, known)
			rule.toName = r.optionalCEL(path+".relation.to.name", def.Relation.To.Name, known)
			r.env = env
		}
		f.remember = append(f.remember, rule)
	}
}

// cel compiles an expression and checks that the facts it reads exist.
func (r *reader) cel(path, source string, known []string) *expression {
	line, _ := r.position(path)
	expr, err := compile(r.env, source, line)
	if err != nil {
		r.add(path, strings.TrimSpace(err.Error()), "")
		return nil
	}
	for _, name := range expr.facts {
		r.fact(path, name, known)
	}
	return expr
}

func (r *reader) optionalCEL(path, source string, known []string) *expression {
	if source == "" {
		return nil
	}
	return r.cel(path, source, known)
}

func (r *reader) celMap(path string, m orderedMap, known []string) []named {
	var list []named
	for _, e := range m {
		if expr := r.cel(path+"."+e.Name, e.Source, known); expr != nil {
			list = append(list, named{e.Name, expr})
		}
	}
	return list
}

func (r *reader) fact(path, name string, known []string) { r.name(path, "fact", name, known) }

func (r *reader) name(path, what, name string, known []string) {
	if !slices.Contains(known, name) {
		r.add(path, fmt.Sprintf("there is no %s %q", what, name), suggestion(name, known))
	}
}

func (r *reader) unique(path, what, name string, seen map[string]bool) {
	if seen[name] {
		r.add(path, fmt.Sprintf("%s %q is defined twice", what, name), "give it another name")
	}
	seen[name] = true
}

func (r *reader) complete(path string, text Text, locales []string) {
	for _, locale := range locales {
		if text[locale] == "" {
			r.add(path, "the text for locale "+locale+" is missing", "add "+locale+": …")
		}
	}
}
