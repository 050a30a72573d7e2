package tool

import (
	"crypto/ed25519"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"

	"github.com/hermes-orchestrator/hermes/conversation"
)

// maxManifestBytes bounds one manifest file and one file of keys.
const maxManifestBytes = 1 << 20

// LoadManifests reads a manifest file, or every *.yaml and *.yml of a directory, and returns what NewRegistry makes of
// them. Values may hold ${NAME} and ${NAME:-default}, replaced through getenv (nil: no variable is set); keys and mock
// answers may not. The error has CodeInvalidConfig and lists every problem as "file:line: what is wrong, what to do".
// The form of the file: docs/tools.md.
func LoadManifests(path string, getenv func(string) string) (*Registry, error) {
	if getenv == nil {
		getenv = func(string) string { return "" }
	}
	files, err := manifestFiles(path)
	if err != nil {
		return nil, err
	}
	l := &loader{getenv: getenv}
	for _, file := range files {
		l.load(file)
	}
	registry, found := newRegistry(l.manifests)
	for i, list := range found {
		if l.places[i].broken {
			continue // What could not be read would be reported again, as missing.
		}
		for _, p := range list {
			l.failf(l.places[i].file, l.places[i].line(p.field), "%s", p.message)
		}
	}
	if len(l.errors) == 0 {
		return registry, nil
	}
	slices.SortStableFunc(l.errors, func(a, b located) int {
		if a.file != b.file {
			return strings.Compare(a.file, b.file)
		}
		return a.line - b.line
	})
	lines := make([]string, len(l.errors))
	for i, e := range l.errors {
		lines[i] = fmt.Sprintf("%s:%d: %s", e.file, e.line, e.message)
	}
	return nil, conversation.Errorf(conversation.CodeInvalidConfig, "%s", strings.Join(slices.Compact(lines), "\n"))
}

func manifestFiles(path string) ([]string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, conversation.Errorf(conversation.CodeInvalidConfig, "manifests %q cannot be read: %w", path, err)
	}
	if !info.IsDir() {
		return []string{path}, nil
	}
	var files []string
	for _, pattern := range []string{"*.yaml", "*.yml"} {
		matches, err := filepath.Glob(filepath.Join(path, pattern))
		if err != nil {
			return nil, conversation.Errorf(conversation.CodeInvalidConfig, "manifests %q cannot be listed: %w", path,
				err)
		}
		files = append(files, matches...)
	}
	if len(files) == 0 {
		return nil, conversation.Errorf(conversation.CodeInvalidConfig,
			"directory %q holds no *.yaml: put a manifest there", path)
	}
	slices.Sort(files)
	return files, nil
}

type located struct {
	file    string
	line    int
	message string
}

// place knows on which line of its file each field of a manifest stands.
type place struct {
	file  string
	lines map[string]int
	// broken is set when something in the manifest could not be read.
	broken bool
}

// line of a field, or of the nearest field that holds it.
func (p place) line(field string) int {
	for {
		if line, ok := p.lines[field]; ok {
			return line
		}
		cut := strings.LastIndexByte(field, '.')
		if cut < 0 {
			return p.lines[""]
		}
		field = field[:cut]
	}
}

type loader struct {
	getenv    func(string) string
	manifests []Manifest
	places    []place
	errors    []located
}

func (l *loader) failf(file string, line int, format string, args ...any) {
	l.errors = append(l.errors, located{file: file, line: line, message: fmt.Sprintf(format, args...)})
}

func (l *loader) load(file string) {
	data, err := readBounded(file)
	if err != nil {
		l.failf(file, 1, "%s", err)
		return
	}
	l.parse(file, data)
}

func readBounded(file string) ([]byte, error) {
	info, err := os.Stat(file)
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%q is not a regular file", file)
	case info.Size() > maxManifestBytes:
		return nil, fmt.Errorf("%q has %d bytes, at most %d are allowed", file, info.Size(), maxManifestBytes)
	}
	return os.ReadFile(file)
}

func (l *loader) parse(file string, data []byte) {
	root, err := parseYAML(data)
	if err != nil {
		line, message := 1, err.Error()
		if syntax, ok := errors.AsType[yaml.Error](err); ok {
			message = syntax.GetMessage()
			if token := syntax.GetToken(); token != nil && token.Position != nil {
				line = max(1, token.Position.Line)
			}
		}
		l.failf(file, line, "%s", message)
		return
	}
	if root == nil {
		l.failf(file, 1, "the file is empty: describe at least one tool under \"tools\"")
		return
	}
	tools := false
	l.each(file, root, func(e yamlEntry) bool {
		tools = tools || e.key == "tools"
		if e.key == "tools" {
			l.list(file, e)
		}
		return e.key == "tools"
	}, "tools")
	if !tools {
		l.failf(file, 1, "the key \"tools\" is missing: describe at least one tool under it")
	}
}

// each calls use for every entry of a mapping; use returns false for a key that it does not know.
func (l *loader) each(file string, node ast.Node, use func(yamlEntry) bool, known ...string) {
	entries, err := mappingOf(node)
	if err != nil {
		l.failf(file, lineOf(node), "%s", err)
		return
	}
	for _, entry := range entries {
		if !use(entry) {
			l.failf(file, entry.line, "key %q is unknown: known are %s", entry.key, strings.Join(known, ", "))
		}
	}
}

func (l *loader) list(file string, e yamlEntry) {
	sequence, ok := e.value.(*ast.SequenceNode)
	if !ok || len(sequence.Values) == 0 {
		l.failf(file, e.line, "tools is not a list: start each tool with \"- name:\"")
		return
	}
	for _, item := range sequence.Values {
		m := &manifestReader{
			loader: l, file: file,
			place:    place{file: file, lines: map[string]int{"": lineOf(item)}},
			manifest: Manifest{Keys: map[string]ed25519.PublicKey{}, Operations: map[string]Operation{}},
		}
		before := len(l.errors)
		m.read(item)
		m.place.broken = len(l.errors) > before
		l.manifests = append(l.manifests, m.manifest)
		l.places = append(l.places, m.place)
	}
}
