package flow

import (
	"regexp"
	"text/template"

	"github.com/hermes-orchestrator/hermes/conversation"
)

// Flow is a validated flow definition. It is immutable and safe for concurrent use. Its accessors return the flow's own
// slices: read them, never write them.
type Flow struct {
	def     definition
	ref     conversation.FlowRef
	source  []byte
	limits  conversation.Limits
	locales []string

	steps        []step
	derive       []named
	materials    []material
	findings     []finding
	warnings     []warningRule
	remember     []rememberRule
	confirmation map[string]*template.Template // By locale.
	summary      map[string]*template.Template
	texts        map[string]map[string]*template.Template // By kind, then locale.
}

type named struct {
	name string
	expr *expression
}

type step struct {
	StepDef
	when       *expression
	arguments  []named
	facts      []named
	symbols    []named
	shows      []named // Material → names of files.
	warnings   *expression
	unreadable *expression
	degraded   map[string]*template.Template

	// Where it stands in the file.
	line, toolLine, toolColumn, operationLine, operationColumn int
}

type material struct {
	MaterialDef
	required *expression
	present  *expression
}

type finding struct {
	FindingDef
	when      *expression
	ask       map[string]*template.Template // Ask or Text.
	tolerance *expression
	reads     []string // Facts that it was built on, sorted.
}

type warningRule struct {
	match *regexp.Regexp
	short Text
}

type rememberRule struct {
	RememberDef
	each, fromID, fromName, toID, toName *expression
}

// Ref names this version of the flow: its id, and the hash of its source.
func (f *Flow) Ref() conversation.FlowRef { return f.ref }

// Source is the file that the flow was read from, byte for byte.
func (f *Flow) Source() []byte { return f.source }

// Title is what the flow is called in that locale.
func (f *Flow) Title(locale string) string { return f.def.Title.in(locale) }

// Locales are the locales that every text of the flow has.
func (f *Flow) Locales() []string { return f.locales }

// Intents are what a user may want of this flow.
func (f *Flow) Intents() []Intent { return f.def.Intents }

// Entities are the parts of a sentence that become facts.
func (f *Flow) Entities() []Entity { return f.def.Entities }

// Materials are what the flow requires from the user.
func (f *Flow) Materials() []MaterialDef { return f.def.Materials }

// Steps are the tool calls of the flow.
func (f *Flow) Steps() []StepDef { return f.def.Steps }

// Findings are the checks of the flow.
func (f *Flow) Findings() []FindingDef { return f.def.Findings }

// Modify are the rules of what a user may want to change.
func (f *Flow) Modify() []ModifyRule { return f.def.Modify }

// in returns the text of a locale, or of the first that there is.
func (t Text) in(locale string) string {
	if text, ok := t[locale]; ok {
		return text
	}
	for _, other := range []string{conversation.LocaleChinese, conversation.LocaleEnglish} {
		if text, ok := t[other]; ok {
			return text
		}
	}
	return ""
}

func (f *Flow) step(id string) *step {
	for i := range f.steps {
		if f.steps[i].ID == id {
			return &f.steps[i]
		}
	}
	return nil
}

func (f *Flow) finding(id string) *finding {
	for i := range f.findings {
		if f.findings[i].ID == id {
			return &f.findings[i]
		}
	}
	return nil
}
