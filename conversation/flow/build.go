package flow

import (
	"fmt"
	"regexp"
	"slices"
	"text/template"

	"github.com/hermes-orchestrator/hermes/conversation"
)

// build compiles every expression and template of the definition and checks that names mean something.
func (r *reader) build(f *Flow) {
	r.limits(f)
	f.locales = localesOf(f.def.Title)
	r.known = factNames(f)
	r.buildWords(f)
	r.buildMaterials(f)
	r.buildSteps(f)
	r.buildDerive(f)
	r.buildFindings(f)
	r.buildWarnings(f)
	r.buildConfirmation(f)
	if len(f.def.Summary) > 0 {
		f.summary = r.templates("$.summary", f.def.Summary, f.locales, summaryView)
	}
	r.buildTexts(f)
	clearable := append(materialNames(f), r.known...)
	for i, m := range f.def.Modify {
		r.completeWords(fmt.Sprintf("$.modify[%d].say", i), m.Say, f.locales)
		for j, name := range m.Clear {
			r.name(fmt.Sprintf("$.modify[%d].clear[%d]", i, j), "material or fact", name, clearable)
		}
	}
	r.buildRemember(f)
}

// localesOf are the locales of the title; every other text must have exactly these.
func localesOf(title Text) []string {
	var locales []string
	for _, locale := range []string{conversation.LocaleChinese, conversation.LocaleEnglish} {
		if _, ok := title[locale]; ok {
			locales = append(locales, locale)
		}
	}
	return locales
}

// buildWords checks what a sentence may contain: intents and entities.
func (r *reader) buildWords(f *Flow) {
	seen := map[string]bool{}
	for i, intent := range f.def.Intents {
		path := fmt.Sprintf("$.intents[%d]", i)
		r.unique(path+".name", "intent", intent.Name, seen)
		for _, locale := range f.locales {
			if _, said := intent.Say[locale]; !said {
				r.missingLocale(path+".say", locale)
			}
		}
		for locale := range intent.Say {
			r.surplusLocale(path+".say", locale, f.locales)
		}
	}
	seen = map[string]bool{}
	for i, e := range f.def.Entities {
		path := fmt.Sprintf("$.entities[%d]", i)
		r.unique(path+".name", "entity", e.Name, seen)
		switch {
		case e.Type == TypeList && len(e.Values) == 0:
			r.add(path+".values", "an entity of type list needs values", "add values: [{value: …, say: {…}}]")
		case e.Type != TypeList && len(e.Values) > 0:
			r.add(
				path+".values",
				fmt.Sprintf("an entity of type %s has no values", e.Type),
				"write type: list, or remove values",
			)
		}
		values := map[string]bool{}
		for j, v := range e.Values {
			at := fmt.Sprintf("%s.values[%d]", path, j)
			r.unique(at+".value", "value", v.Value, values)
			r.completeWords(at+".say", v.Say, f.locales)
		}
	}
}

func (r *reader) buildMaterials(f *Flow) {
	seen := map[string]bool{}
	for i, def := range f.def.Materials {
		path := fmt.Sprintf("$.materials[%d]", i)
		r.unique(path+".name", "material", def.Name, seen)
		r.complete(path+".label", def.Label, f.locales)
		for j, name := range def.Facts {
			r.fact(fmt.Sprintf("%s.facts[%d]", path, j), name)
		}
		for j, field := range def.Manual {
			at := fmt.Sprintf("%s.manual[%d]", path, j)
			r.complete(at+".label", field.Label, f.locales)
			if field.Type == TypeList {
				r.add(at+".type", "a manual field cannot be a list of values", "write type: text")
			}
		}
		f.materials = append(f.materials, material{
			MaterialDef: def, required: r.condition(path+".required_when", def.RequiredWhen),
			present: r.condition(path+".present", def.Present),
		})
	}
}

// buildDerive compiles the derived facts. Each may read those above it; a tool, a user and a rule cannot all be the
// source of one fact.
func (r *reader) buildDerive(f *Flow) {
	given := map[string]string{}
	for _, e := range f.def.Entities {
		given[e.Name] = "an entity"
	}
	for _, m := range f.def.Materials {
		for _, field := range m.Manual {
			given[field.Name] = "a manual field"
		}
	}
	for _, s := range f.def.Steps {
		for _, e := range s.Facts {
			given[e.Name] = "step " + s.ID
		}
	}
	for i, e := range f.def.Derive {
		path := "$.derive." + e.Name
		if source, taken := given[e.Name]; taken {
			r.add(path, fmt.Sprintf("fact %q comes from %s already", e.Name, source), "give the derived fact another name")
		}
		expr := r.cel(path, e.Source)
		if expr == nil {
			continue
		}
		for _, below := range f.def.Derive[i:] {
			if slices.Contains(expr.facts, below.Name) {
				r.add(path, fmt.Sprintf("it reads %q, which is computed after it", below.Name), "move it below "+below.Name)
			}
		}
		f.derive = append(f.derive, named{e.Name, expr})
	}
}

func (r *reader) buildWarnings(f *Flow) {
	for i, w := range f.def.Warnings {
		path := fmt.Sprintf("$.warnings[%d]", i)
		r.complete(path+".short", w.Short, f.locales)
		match, err := regexp.Compile(w.Match)
		if err != nil {
			r.add(path+".match", err.Error(), "write a regular expression of Go (RE2)")
			continue
		}
		f.warnings = append(f.warnings, warningRule{match, w.Short})
	}
}

// buildConfirmation checks that the approval binds to every fact that the user is shown (DESIGN 3).
func (r *reader) buildConfirmation(f *Flow) {
	for i, name := range f.def.Confirmation.Shows {
		r.fact(fmt.Sprintf("$.confirmation.shows[%d]", i), name)
	}
	f.confirmation = r.templates("$.confirmation.text", f.def.Confirmation.Text, f.locales, replyView)
	for locale, t := range f.confirmation {
		for _, name := range scan(t.Root).facts {
			if slices.Contains(r.known, name) && !slices.Contains(f.def.Confirmation.Shows, name) {
				r.add(
					"$.confirmation.text."+locale,
					fmt.Sprintf("fact %q is shown, but the confirmation does not bind to it", name),
					"add it to shows",
				)
			}
		}
	}
}

func (r *reader) buildTexts(f *Flow) {
	f.texts = map[string]map[string]*template.Template{}
	kinds := make([]string, len(replyKinds))
	for i, k := range replyKinds {
		kinds[i] = string(k)
	}
	for kind, text := range f.def.Texts {
		path := "$.texts." + kind
		switch {
		case !slices.Contains(kinds, kind):
			r.add(path, fmt.Sprintf("there is no reply of kind %q", kind), suggestion(kind, kinds))
		case kind == string(conversation.ReplyConfirmation):
			r.add(path, "the text of the confirmation stands under confirmation", "write it to confirmation.text")
		case kind == string(conversation.ReplyReview):
			r.add(path, "the text of a review stands with its finding", "write it to ask of the finding")
		default:
			f.texts[kind] = r.templates(path, text, f.locales, replyView)
		}
	}
}
