package flow

import "github.com/hermes-orchestrator/hermes/conversation"

// Text is a text in each locale that the flow speaks.
type Text map[string]string

// Words are spellings in each locale.
type Words map[string][]string

// definition is the flow file as it is written. docs/flows.md describes it field by field.
type definition struct {
	Flow         string            `yaml:"flow"`
	Title        Text              `yaml:"title"`
	Limits       map[string]string `yaml:"limits"`
	Intents      []Intent          `yaml:"intents"`
	Entities     []Entity          `yaml:"entities"`
	Materials    []MaterialDef     `yaml:"materials"`
	Steps        []StepDef         `yaml:"steps"`
	Derive       orderedMap        `yaml:"derive"`
	Findings     []FindingDef      `yaml:"findings"`
	Warnings     []WarningDef      `yaml:"warnings"`
	Confirmation ConfirmationDef   `yaml:"confirmation"`
	Modify       []ModifyRule      `yaml:"modify"`
	Remember     []RememberDef     `yaml:"remember"`
	Summary      Text              `yaml:"summary"`
	Texts        map[string]Text   `yaml:"texts"`
}

// Intent is something that a user may want, and how it is said.
type Intent struct {
	Name string                 `yaml:"name"`
	Verb string                 `yaml:"verb"` // submit, query or change.
	Say  map[string]IntentWords `yaml:"say"`  // By locale.
}

// IntentWords are the words of an intent: a sentence must have one of each list.
type IntentWords struct {
	Verbs   []string `yaml:"verbs"`
	Objects []string `yaml:"objects"`
}

// Types of entities and manual fields.
const (
	TypeList      = "list"      // One of the values.
	TypeDate      = "date"      // "2024-05-12".
	TypeDateRange = "daterange" // {"start","end"}, both inclusive.
	TypeAmount    = "amount"    // Decimal string with two digits.
	TypeCount     = "count"     // Integer.
	TypeText      = "text"
)

// Entity is a named part of a sentence that becomes a declared fact.
type Entity struct {
	Name   string        `yaml:"name"`
	Type   string        `yaml:"type"`
	Values []EntityValue `yaml:"values"` // For TypeList.
}

// EntityValue is one value of a list and how it is said.
type EntityValue struct {
	Value string `yaml:"value"`
	Say   Words  `yaml:"say"`
}

// MaterialDef is something that the flow requires from the user.
type MaterialDef struct {
	Name         string        `yaml:"name"`
	Label        Text          `yaml:"label"`
	Accept       []string      `yaml:"accept"`        // Media types.
	RequiredWhen string        `yaml:"required_when"` // CEL; empty: always.
	Present      string        `yaml:"present"`       // CEL; true once it is there.
	Facts        []string      `yaml:"facts"`         // What it brings; cleared with it.
	Manual       []ManualField `yaml:"manual"`        // Asked for when no tool can read it.
}

// ManualField is a figure that a user may give instead of an upload.
type ManualField struct {
	Name  string `yaml:"name"` // Fact.
	Type  string `yaml:"type"`
	Label Text   `yaml:"label"`
}

// StepDef is one tool call of a phase.
type StepDef struct {
	ID        string             `yaml:"id"`
	Label     Text               `yaml:"label"` // What the tool is called when it fails; empty: a general name.
	Phase     conversation.Phase `yaml:"phase"`
	Needs     []string           `yaml:"needs"` // Steps of the same phase that must have answered.
	When      string             `yaml:"when"`  // CEL; empty: always. A step that is not wanted counts as done for others.
	Tool      string             `yaml:"tool"`
	Operation string             `yaml:"operation"`
	Arguments orderedMap         `yaml:"arguments"` // Name → CEL.
	Facts     orderedMap         `yaml:"facts"`     // Fact → CEL over output.
	Symbols   orderedMap         `yaml:"symbols"`   // Symbol → CEL over output.
	Warnings  string             `yaml:"warnings"`  // CEL over output: list of texts, passed unchanged.
	Materials orderedMap         `yaml:"materials"` // Material → CEL over output: names of the files that show it.
	// Unreadable is CEL over output: a list of {file, reason} that the tool could make nothing of.
	Unreadable string `yaml:"unreadable"`
	Optional   bool   `yaml:"optional"`
	Manual     bool   `yaml:"manual"` // When it fails for good, ask for the manual fields of the materials.
	// Degraded is the notice when a fallback gave an older answer; {{.as_of}} is when that was good, in the user's zone.
	Degraded Text `yaml:"degraded"`
}

// FindingDef is a check after the steps of a phase.
type FindingDef struct {
	ID    string                   `yaml:"id"`
	Label Text                     `yaml:"label"` // What is checked, for people; empty: the id.
	Kind  conversation.FindingKind `yaml:"kind"`
	Phase conversation.Phase       `yaml:"phase"`
	When  string                   `yaml:"when"`
	Ask   Text                     `yaml:"ask"`  // For reviews.
	Text  Text                     `yaml:"text"` // For warnings and fatal findings.
	// Options label accept and reject; Say are further words for them.
	Options map[string]Text  `yaml:"options"`
	Say     map[string]Words `yaml:"say"`
	// Clear are the materials and facts that a rejection asks for again.
	Clear     []string      `yaml:"clear"`
	Tolerance *ToleranceDef `yaml:"tolerance"`
}

// ToleranceDef is the preference that accepting a finding declares (SPEC C2).
type ToleranceDef struct {
	Preference string `yaml:"preference"`
	Value      string `yaml:"value"` // CEL.
}

// WarningDef gives a short form of tools' warnings for the confirmation.
type WarningDef struct {
	Match string `yaml:"match"` // RE2.
	Short Text   `yaml:"short"`
}

// ConfirmationDef is what S4 shows.
type ConfirmationDef struct {
	Shows []string `yaml:"shows"` // Facts that the approval binds to.
	Text  Text     `yaml:"text"`
}

// ModifyRule says what a user may want to change, and what is asked again then.
type ModifyRule struct {
	Say   Words    `yaml:"say"`
	Clear []string `yaml:"clear"`
}

// RememberDef says what a step's verified answer lets memory know.
type RememberDef struct {
	After    string       `yaml:"after"`
	Each     string       `yaml:"each"` // CEL list; empty: once.
	As       string       `yaml:"as"`   // Name of the element.
	Relation *RelationDef `yaml:"relation"`
	Warnings bool         `yaml:"warnings"`
}

// RelationDef is an edge; ids are CEL.
type RelationDef struct {
	From EntityDef `yaml:"from"`
	Type string    `yaml:"type"`
	To   EntityDef `yaml:"to"`
}

// EntityDef is a node of an edge.
type EntityDef struct {
	Type string `yaml:"type"`
	ID   string `yaml:"id"`   // CEL.
	Name string `yaml:"name"` // CEL; empty: none.
}
