package flow

import (
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/hermes-orchestrator/hermes/conversation"
)

// Library holds flows by version. It is safe for concurrent use.
type Library struct {
	mu     sync.RWMutex
	flows  map[conversation.FlowRef]*Flow
	newest map[string]conversation.FlowRef
	order  []string // Ids in the order in which they were added.
}

// NewLibrary returns a library of these flows.
func NewLibrary(flows ...*Flow) *Library {
	l := &Library{flows: map[conversation.FlowRef]*Flow{}, newest: map[string]conversation.FlowRef{}}
	for _, f := range flows {
		l.add(f, true)
	}
	return l
}

// LoadDir reads every flow file (*.yaml, *.yml) at the top of fsys, in the order of names. Files of one id are an
// error: which of them would be the newest?
func LoadDir(fsys fs.FS) (*Library, error) {
	entries, err := fs.ReadDir(fsys, ".")
	if err != nil {
		return nil, conversation.Errorf(conversation.CodeInvalidConfig, "flows: %w", err)
	}
	var flows []*Flow
	var all Errors
	files := map[string]string{}
	for _, entry := range entries {
		ext := path.Ext(entry.Name())
		if entry.IsDir() || (ext != ".yaml" && ext != ".yml") {
			continue
		}
		data, err := fs.ReadFile(fsys, entry.Name())
		if err != nil {
			return nil, conversation.Errorf(conversation.CodeInvalidConfig, "flows: %w", err)
		}
		if !isFlow(data) {
			continue
		}
		f, errs := parse(entry.Name(), data)
		if len(errs) > 0 {
			all = append(all, errs...)
			continue
		}
		if other, taken := files[f.ref.ID]; taken {
			all = append(
				all,
				&Error{
					File:    entry.Name(),
					Line:    1,
					Column:  1,
					Path:    "$.flow",
					Message: "flow \"" + f.ref.ID + "\" is also in " + other,
					Fix:     "give each flow an id of its own",
				},
			)
			continue
		}
		files[f.ref.ID] = entry.Name()
		flows = append(flows, f)
	}
	if len(all) > 0 {
		return nil, conversation.Errorf(conversation.CodeInvalidFlow, "%w", all)
	}
	if len(flows) == 0 {
		return nil, conversation.Errorf(
			conversation.CodeInvalidConfig,
			"flows: there is no flow file (*.yaml with a top-level key \"flow\")",
		)
	}
	return NewLibrary(flows...), nil
}

// isFlow tells a flow file from other YAML beside it (a tool manifest): it has a top-level key "flow".
func isFlow(data []byte) bool {
	return strings.HasPrefix(string(data), "flow:") || strings.Contains(string(data), "\nflow:")
}

// Add makes another version known. It does not become the newest of its id: it is an older one that an open
// conversation still has.
func (l *Library) Add(f *Flow) { l.add(f, false) }

func (l *Library) add(f *Flow, newest bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.flows[f.ref] = f
	if _, known := l.newest[f.ref.ID]; !known || newest {
		if !known {
			l.order = append(l.order, f.ref.ID)
		}
		l.newest[f.ref.ID] = f.ref
	}
}

// Get returns exactly that version.
func (l *Library) Get(ref conversation.FlowRef) (*Flow, error) {
	l.mu.RLock()
	defer l.mu.RUnlock()
	if f, ok := l.flows[ref]; ok {
		return f, nil
	}
	return nil, conversation.Errorf(
		conversation.CodeUnknownFlow,
		"flow %q version %q is not known; known flows: %s",
		ref.ID,
		ref.Version,
		strings.Join(l.order, ", "),
	)
}

// Newest returns the newest version of an id.
func (l *Library) Newest(id string) (*Flow, error) {
	l.mu.RLock()
	defer l.mu.RUnlock()
	if ref, ok := l.newest[id]; ok {
		return l.flows[ref], nil
	}
	return nil, conversation.Errorf(
		conversation.CodeUnknownFlow,
		"flow %q is not known; known flows: %s",
		id,
		strings.Join(l.order, ", "),
	)
}

// Refs returns the newest version of every flow, in the order in which they were added.
func (l *Library) Refs() []conversation.FlowRef {
	l.mu.RLock()
	defer l.mu.RUnlock()
	refs := make([]conversation.FlowRef, 0, len(l.order))
	for _, id := range l.order {
		refs = append(refs, l.newest[id])
	}
	return slices.Clip(refs)
}
