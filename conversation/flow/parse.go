package flow

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/google/cel-go/cel"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
	"golang.org/x/text/language"
	"golang.org/x/text/message"

	"github.com/hermes-orchestrator/hermes/conversation"
)

//go:embed flow.schema.json
var schemaSource []byte

// MaxFileBytes bounds a flow file.
const MaxFileBytes = 1 << 20

// Load reads a flow file.
func Load(fsys fs.FS, file string) (*Flow, error) {
	data, err := fs.ReadFile(fsys, file)
	if err != nil {
		return nil, conversation.Errorf(conversation.CodeNotFound, "flow file %q: %w", file, err)
	}
	return Parse(file, data)
}

// Parse reads a flow definition. name is used in messages. Everything that is wrong is reported at once: the error is
// of code invalid_flow and wraps Errors.
func Parse(name string, data []byte) (*Flow, error) {
	f, errs := parse(name, data)
	if len(errs) > 0 {
		return nil, conversation.Errorf(conversation.CodeInvalidFlow, "%w", errs)
	}
	return f, nil
}

// reader collects errors with their places.
type reader struct {
	label string // Of the file, in messages.
	file  *ast.File
	env   *cel.Env
	errs  Errors
}

func parse(name string, data []byte) (*Flow, Errors) {
	r := &reader{label: name}
	switch {
	case len(data) > MaxFileBytes:
		r.add("$", fmt.Sprintf("the file has %d bytes, at most %d are allowed", len(data), MaxFileBytes), "")
	case !utf8.Valid(data):
		r.add("$", "the file is not valid UTF-8", "save it as UTF-8")
	case bytes.Contains(data, []byte("\n%")) || hasAlias(data):
		r.add("$", "YAML anchors, aliases and directives are not used in flow files", "write the value out")
	}
	if len(r.errs) > 0 {
		return nil, r.errs
	}
	file, err := parser.ParseBytes(data, 0)
	if err != nil {
		return nil, Errors{syntaxError(name, err)}
	}
	r.file = file
	var tree any
	if err := yaml.Unmarshal(data, &tree); err != nil {
		return nil, Errors{syntaxError(name, err)}
	}
	if !r.validateSchema(tree) {
		return nil, r.errs.sorted()
	}
	f := &Flow{source: bytes.Clone(data)}
	if err := yaml.Unmarshal(data, &f.def); err != nil {
		return nil, Errors{syntaxError(name, err)}
	}
	sum := sha256.Sum256(data)
	f.ref = conversation.FlowRef{ID: f.def.Flow, Version: hex.EncodeToString(sum[:])}
	env, err := environment()
	if err != nil {
		r.add("$", "expression language: "+err.Error(), "")
		return nil, r.errs
	}
	r.env = env
	r.build(f)
	if len(r.errs) > 0 {
		return nil, r.errs.sorted()
	}
	return f, nil
}

// hasAlias finds YAML anchors and aliases: they have no use here, and a few lines of them can unfold to gigabytes.
func hasAlias(data []byte) bool { return aliasPattern.Match(data) }

var aliasPattern = regexp.MustCompile(`(?m)^[^#'"]*(?::|-)\s+[&*][A-Za-z0-9_]+\s*$|<<\s*:`)

func syntaxError(name string, err error) *Error {
	e := &Error{File: name, Line: 1, Column: 1, Message: err.Error()}
	var syntax *yaml.SyntaxError
	if errors.As(err, &syntax) && syntax.Token != nil {
		e.Line, e.Column, e.Message = syntax.Token.Position.Line, syntax.Token.Position.Column, syntax.Message
		return e
	}
	var positioned interface {
		GetMessage() string
	}
	if errors.As(err, &positioned) {
		e.Message = positioned.GetMessage()
	}
	return e
}

// add records an error at the place of a YAML path.
func (r *reader) add(path, message, fix string) {
	line, column := r.position(path)
	r.errs = append(r.errs, &Error{File: r.label, Line: line, Column: column, Path: path, Message: message, Fix: fix})
}

// position finds the key or the element that a path names, or its nearest parent that exists.
func (r *reader) position(path string) (line, column int) {
	for r.file != nil && path != "" {
		if node := r.find(path); node != nil {
			position := node.GetToken().Position
			return position.Line, position.Column
		}
		cut := strings.LastIndexAny(path, ".[")
		if cut <= 0 {
			break
		}
		path = path[:cut]
	}
	return 1, 1
}

// find returns the node of the path: for a key of a mapping the key itself, because that is what a person looks for.
func (r *reader) find(path string) ast.Node {
	node := r.filter(path)
	if node == nil {
		return nil
	}
	cut := strings.LastIndex(path, ".")
	if cut <= 0 || strings.HasSuffix(path, "]") {
		if mapping, ok := node.(*ast.MappingNode); ok && len(mapping.Values) > 0 {
			return mapping.Values[0].Key
		}
		return node
	}
	var values []*ast.MappingValueNode
	switch parent := r.filter(path[:cut]).(type) {
	case *ast.MappingNode:
		values = parent.Values
	case *ast.MappingValueNode:
		values = []*ast.MappingValueNode{parent}
	}
	for _, value := range values {
		if key := value.Key.GetToken(); key != nil && key.Value == path[cut+1:] {
			return value.Key
		}
	}
	return node
}

func (r *reader) filter(path string) ast.Node {
	p, err := yaml.PathString(path)
	if err != nil {
		return nil
	}
	node, err := p.FilterFile(r.file)
	if err != nil || node == nil || node.GetToken() == nil {
		return nil
	}
	return node
}

// schema compiles the schema of flow files once.
var schema = sync.OnceValues(func() (*jsonschema.Schema, error) {
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(schemaSource))
	if err != nil {
		return nil, err
	}
	compiler := jsonschema.NewCompiler()
	if err := compiler.AddResource("flow.schema.json", document); err != nil {
		return nil, err
	}
	return compiler.Compile("flow.schema.json")
})

// validateSchema checks the shape by the JSON Schema and reports each violation at its line.
func (r *reader) validateSchema(tree any) bool {
	schema, err := schema()
	if err != nil {
		r.add("$", "schema of flow files: "+err.Error(), "")
		return false
	}
	data, err := json.Marshal(tree)
	if err != nil {
		r.add("$", "the file is not a mapping with text keys: "+err.Error(), "")
		return false
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	if err != nil {
		r.add("$", err.Error(), "")
		return false
	}
	err = schema.Validate(value)
	var invalid *jsonschema.ValidationError
	if errors.As(err, &invalid) {
		r.schemaErrors(invalid)
		return false
	}
	return err == nil
}

func (r *reader) schemaErrors(e *jsonschema.ValidationError) {
	if len(e.Causes) > 0 {
		for _, cause := range e.Causes {
			r.schemaErrors(cause)
		}
		return
	}
	path := "$"
	for _, part := range e.InstanceLocation {
		if isIndex(part) {
			path += "[" + part + "]"
		} else {
			path += "." + part
		}
	}
	printer := message.NewPrinter(language.English)
	switch k := e.ErrorKind.(type) {
	case *kind.AdditionalProperties:
		known := knownKeys(e.SchemaURL)
		for _, name := range k.Properties {
			r.add(path+"."+name, fmt.Sprintf("key %q is not known here", name), suggestion(name, known))
		}
	case *kind.Required:
		r.add(path, "missing: "+strings.Join(k.Missing, ", "), "add "+strings.Join(k.Missing, ", "))
	case *kind.Enum:
		want := make([]string, len(k.Want))
		for i := range k.Want {
			want[i] = fmt.Sprint(k.Want[i])
		}
		r.add(path, fmt.Sprintf("%v is not allowed", k.Got), suggestion(fmt.Sprint(k.Got), want))
	case *kind.Pattern:
		r.add(path, fmt.Sprintf("%q does not have the form %s", k.Got, k.Want), "")
	default:
		r.add(path, e.ErrorKind.LocalizedString(printer), "")
	}
}

func isIndex(part string) bool {
	return part != "" && strings.Trim(part, "0123456789") == ""
}

// knownKeys finds the properties of the schema object that refused a key, for suggestions.
func knownKeys(schemaURL string) []string {
	_, pointer, _ := strings.Cut(schemaURL, "#")
	var node any
	if json.Unmarshal(schemaSource, &node) != nil {
		return nil
	}
	for part := range strings.SplitSeq(strings.Trim(pointer, "/"), "/") {
		if fields, ok := node.(map[string]any); ok && part != "" {
			node = fields[part]
		}
	}
	fields, _ := node.(map[string]any)
	properties, _ := fields["properties"].(map[string]any)
	names := make([]string, 0, len(properties))
	for name := range properties {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// limits of the file as durations.
func (r *reader) limits(f *Flow) {
	for name, field := range map[string]*conversation.Duration{
		"materials": &f.limits.Materials, "validation": &f.limits.Validation, "review": &f.limits.Review,
		"confirmation": &f.limits.Confirmation, "task": &f.limits.Task,
	} {
		text, given := f.def.Limits[name]
		if !given {
			continue
		}
		d, err := time.ParseDuration(text)
		if err != nil || d <= 0 {
			r.add("$.limits."+name, fmt.Sprintf("%q is not a duration above zero", text), "write for example 5m or 30s")
			continue
		}
		*field = conversation.Duration(d)
	}
}
