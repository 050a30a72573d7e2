package dialogue

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"time"

	"github.com/goccy/go-yaml"

	"github.com/hermes-orchestrator/hermes/conversation"
)

// Script is one scripted conversation, or several of one user, one after the other.
type Script struct {
	// Name says what the script shows; it is printed with its verdict.
	Name string `yaml:"name"`
	// Requires names programs that must be installed ("tesseract"); without one the script is skipped by name.
	Requires []string `yaml:"requires"`
	// At is the time of the first message; each further one is sent a second later. Defaults to now.
	At     time.Time `yaml:"at"`
	User   string    `yaml:"user"`   // Defaults to "u-1001".
	Locale string    `yaml:"locale"` // Defaults to "zh".
	Zone   string    `yaml:"zone"`   // Defaults to "Asia/Shanghai".
	Flow   string    `yaml:"flow"`   // Empty: the first message decides.
	// Limits shorten the time limits of the flow, as in {materials: 2s}.
	Limits map[string]string `yaml:"limits"`
	// MaxMessages makes the conversation continue as new after so many messages.
	MaxMessages int `yaml:"max_messages"`
	// Faults are injected between Hermes and the tools.
	Faults []Fault `yaml:"faults"`
	Steps  []Step  `yaml:"steps"`
	Expect End     `yaml:"expect"`

	file string
}

// Fault is something that goes wrong with a tool.
type Fault struct {
	Tool string `yaml:"tool"`
	// Operation restricts the fault to one operation; empty means all of them.
	Operation string `yaml:"operation"`
	// Kind is one of: down (connection refused), status (answers Status), latency (answers after Delay), hang (never
	// answers), forge (the body is altered after signing), replay (an older answer is sent again), absent_signature,
	// lost_callback (the answer that was to come later never arrives), health (the health says LatencyMS and
	// SuccessRate).
	Kind        string        `yaml:"kind"`
	Status      int           `yaml:"status"`
	Delay       time.Duration `yaml:"delay"`
	LatencyMS   int64         `yaml:"latency_ms"`
	SuccessRate float64       `yaml:"success_rate"`
	// After lets so many calls pass first; Times ends the fault after so many calls (0: never).
	After int `yaml:"after"`
	Times int `yaml:"times"`
}

// Step is one thing that the user does, and what must come of it.
type Step struct {
	Say    string   `yaml:"say"`
	Files  []string `yaml:"files"` // Relative to the script.
	Choose string   `yaml:"choose"`
	// MessageID repeats an id; by default each step has its own.
	MessageID string `yaml:"message_id"`
	// By is "update" (default) or "signal": the plain signal user_message, whose reply comes by event.
	By string `yaml:"by"`
	// Wait waits for the next reply that nobody asked for (a slow tool, a time limit).
	Wait bool `yaml:"wait"`
	// NewConversation begins the user's next conversation with this step.
	NewConversation bool `yaml:"new_conversation"`
	// Faults begin with this step; ClearFaults ends all earlier ones first.
	Faults      []Fault `yaml:"faults"`
	ClearFaults bool    `yaml:"clear_faults"`
	// Revision is sent as the revision that the sender saw.
	Revision int64  `yaml:"revision"`
	Expect   Expect `yaml:"expect"`
}

// Expect is what a reply must be. Zero fields are not checked.
type Expect struct {
	State    string   `yaml:"state"`
	Path     string   `yaml:"path"`
	Reply    string   `yaml:"reply"`    // The whole text.
	Contains []string `yaml:"contains"` // Parts of the text.
	Lacks    []string `yaml:"lacks"`    // What must not stand in the text.
	Options  []string `yaml:"options"`  // Ids, in order.
	Degraded []string `yaml:"degraded"` // Components.
	Interim  *bool    `yaml:"interim"`
	Verdict  string   `yaml:"verdict"`
	Outcome  string   `yaml:"outcome"`
	Error    string   `yaml:"error"` // Code.
	Locale   string   `yaml:"locale"`
	Verified []string `yaml:"verified"` // Parts of verification steps.
	// Symbols and Facts are checked by name against their JSON value, as the conversation's query "case" has them.
	Symbols map[string]any `yaml:"symbols"`
	Facts   map[string]any `yaml:"facts"`
}

// End is what must hold when all steps are done, of the last conversation.
type End struct {
	Outcome string `yaml:"outcome"`
	Path    string `yaml:"path"`
	State   string `yaml:"state"`
	Calls   []Call `yaml:"calls"`
	// Facts are checked by name against their JSON value.
	Facts map[string]any `yaml:"facts"`
	// Graph lists relations that long-term memory must have, as verified.
	Graph []Relation `yaml:"graph"`
	// NoGraph says that long-term memory must have none.
	NoGraph bool `yaml:"no_graph"`
}

// Call is an expectation on the calls of one operation over all conversations of the script.
type Call struct {
	Tool      string         `yaml:"tool"` // "finance_tool.debit".
	Count     *int           `yaml:"count"`
	Arguments map[string]any `yaml:"arguments"`
}

// Relation is an expected edge; empty fields match everything.
type Relation struct {
	From string `yaml:"from"` // "<type>" or "<type>:<id>".
	Type string `yaml:"type"`
	To   string `yaml:"to"`
}

// Load reads every *.yaml below path, or the one file that path is. Unknown keys are errors with their line.
func Load(path string) ([]*Script, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, conversation.Errorf(conversation.CodeNotFound, "dialogues %q: %w", path, err)
	}
	files := []string{path}
	if info.IsDir() {
		files = nil
		err := filepath.WalkDir(path, func(file string, entry os.DirEntry, err error) error {
			if err == nil && !entry.IsDir() && (strings.HasSuffix(file, ".yaml") || strings.HasSuffix(file, ".yml")) {
				files = append(files, file)
			}
			return err
		})
		if err != nil {
			return nil, conversation.Errorf(conversation.CodeNotFound, "dialogues %q: %w", path, err)
		}
	}
	sort.Strings(files)
	if len(files) == 0 {
		return nil, conversation.Errorf(conversation.CodeNotFound, "dialogues %q: no *.yaml file below it", path)
	}
	scripts := make([]*Script, 0, len(files))
	for _, file := range files {
		s, err := parse(file)
		if err != nil {
			return nil, err
		}
		scripts = append(scripts, s)
	}
	return scripts, nil
}

func parse(file string) (*Script, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, conversation.Errorf(conversation.CodeNotFound, "dialogue %q: %w", file, err)
	}
	s := &Script{User: "u-1001", Locale: conversation.LocaleChinese, Zone: "Asia/Shanghai", file: file}
	if err := yaml.NewDecoder(bytes.NewReader(data), yaml.DisallowUnknownField()).Decode(s); err != nil {
		return nil, conversation.Errorf(conversation.CodeInvalidArgument,
			"dialogue %s: %s", file, yaml.FormatError(err, false, true))
	}
	if err := s.validate(); err != nil {
		return nil, conversation.Errorf(conversation.CodeInvalidArgument, "dialogue %s: %w", file, err)
	}
	return s, nil
}

func (s *Script) validate() error {
	if s.Name == "" {
		return fmt.Errorf("name is empty: say in one sentence what the script shows")
	}
	if len(s.Steps) == 0 {
		return fmt.Errorf("steps is empty")
	}
	if _, err := s.limits(); err != nil {
		return err
	}
	for i, step := range s.Steps {
		asks := step.Say != "" || step.Choose != "" || len(step.Files) > 0
		if asks == step.Wait {
			return fmt.Errorf("steps[%d]: give either say, files or choose, or wait: true", i)
		}
		if step.By != "" && step.By != "update" && step.By != "signal" {
			return fmt.Errorf("steps[%d]: by is %q, it must be update or signal", i, step.By)
		}
	}
	for _, f := range s.allFaults() {
		switch f.Kind {
		case FaultDown, FaultStatus, FaultLatency, FaultHang, FaultForge, FaultReplay, FaultUnsigned, FaultHealth,
			FaultLostCallback:
		default:
			return fmt.Errorf("fault of %s: kind %q is not known", f.Tool, f.Kind)
		}
	}
	return nil
}

func (s *Script) allFaults() []Fault {
	faults := append([]Fault(nil), s.Faults...)
	for _, step := range s.Steps {
		faults = append(faults, step.Faults...)
	}
	return faults
}

func (s *Script) limits() (conversation.Limits, error) {
	var limits conversation.Limits
	fields := map[string]*conversation.Duration{
		"materials": &limits.Materials, "validation": &limits.Validation, "review": &limits.Review,
		"confirmation": &limits.Confirmation, "task": &limits.Task,
	}
	for name, text := range s.Limits {
		field := fields[name]
		if field == nil {
			return limits, fmt.Errorf("limits.%s is not one of materials, validation, review, confirmation, task", name)
		}
		d, err := time.ParseDuration(text)
		if err != nil {
			return limits, fmt.Errorf("limits.%s: %q is not of the form \"2s\"", name, text)
		}
		*field = conversation.Duration(d)
	}
	return limits, nil
}

// Kinds of faults.
const (
	FaultDown     = "down"
	FaultStatus   = "status"
	FaultLatency  = "latency"
	FaultHang     = "hang"
	FaultForge    = "forge"
	FaultReplay   = "replay"
	FaultUnsigned = "absent_signature"
	FaultHealth   = "health"
	// FaultLostCallback lets the tool accept a call and answer later, but the answer never arrives.
	FaultLostCallback = "lost_callback"
)

// File is where the script was read from.
func (s *Script) File() string { return s.file }

// Title is the file's name without its ending.
func (s *Script) Title() string {
	base := filepath.Base(s.file)
	return strings.TrimSuffix(strings.TrimSuffix(base, ".yaml"), ".yml")
}
