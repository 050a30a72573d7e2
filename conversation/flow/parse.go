package flow

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
	"github.com/google/cel-go/cel"

	"github.com/hermes-orchestrator/hermes/conversation"
)

// Bounds of a flow file. A definition of a hundred steps stays far below them; the number of tokens bounds nesting and
// the parser's time as well, which grows with its square.
const (
	MaxFileBytes  = 1 << 20
	MaxFileTokens = 20_000
)

// Load reads a flow file. The error is of code not_found when the file cannot be read, otherwise that of Parse.
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
	file      string // Its name, for messages.
	places    map[string]place
	env       *cel.Env // Without output.
	outputEnv *cel.Env // With output, for what maps a tool's answer.
	known     []string // Facts that the flow can have.
	errs      Errors
}

func parse(name string, data []byte) (*Flow, Errors) {
	r := &reader{file: name}
	root := r.readYAML(data)
	if root == nil {
		return nil, r.errs
	}
	r.places = placesOf(root)
	var tree any
	if err := yaml.NodeToValue(root, &tree); err != nil {
		r.syntax(err)
		return nil, r.errs
	}
	r.validateSchema(tree)
	sum := sha256.Sum256(data)
	f := &Flow{source: bytes.Clone(data)}
	if err := yaml.NodeToValue(root, &f.def); err != nil {
		if len(r.errs) == 0 {
			r.syntax(err)
		}
		return nil, r.errs.sorted()
	}
	f.ref = conversation.FlowRef{ID: f.def.Flow, Version: hex.EncodeToString(sum[:])}
	var err error
	if r.env, r.outputEnv, err = environments(); err != nil {
		r.add("$", "expression language: "+err.Error(), "")
		return nil, r.errs
	}
	shape := len(r.errs)
	r.build(f)
	r.errs = withoutEchoes(r.errs, shape)
	if len(r.errs) > 0 {
		return nil, r.errs.sorted()
	}
	return f, nil
}

// readYAML returns the one document of data, or nil after having recorded why there is none.
func (r *reader) readYAML(data []byte) (root ast.Node) {
	switch {
	case len(data) > MaxFileBytes:
		r.addAt(
			1,
			1,
			fmt.Sprintf("the file has %d bytes, at most %d are allowed", len(data), MaxFileBytes),
			"divide it into several flows",
		)
		return nil
	case !utf8.Valid(data):
		line := 1 + bytes.Count(data[:validPrefix(data)], []byte("\n"))
		r.addAt(line, 1, "the file is not valid UTF-8", "save it as UTF-8")
		return nil
	}
	// The parser is not ours: whatever it makes of a file, the file is refused and the process goes on.
	defer func() {
		if cause := recover(); cause != nil {
			r.addAt(
				1,
				1,
				fmt.Sprintf("the YAML parser cannot read the file: %v", cause),
				"write plain YAML: mappings, lists and texts",
			)
			root = nil
		}
	}()
	tokens := lexer.Tokenize(string(data))
	if len(tokens) > MaxFileTokens {
		r.addAt(
			1,
			1,
			fmt.Sprintf("the file has %d YAML tokens, at most %d are allowed", len(tokens), MaxFileTokens),
			"divide it into several flows",
		)
		return nil
	}
	r.refuseConstructs(tokens)
	if len(r.errs) > 0 {
		return nil
	}
	file, err := parser.Parse(tokens, 0)
	if err != nil {
		r.syntax(err)
		return nil
	}
	for _, doc := range file.Docs {
		if doc.Body == nil || doc.Body.Type() == ast.CommentType || doc.Body.Type() == ast.NullType {
			continue
		}
		if root != nil {
			position := doc.Body.GetToken().Position
			r.addAt(
				position.Line,
				position.Column,
				"the file has several YAML documents",
				"write each flow to a file of its own",
			)
			return nil
		}
		root = doc.Body
	}
	if root == nil {
		r.addAt(1, 1, "the file is empty", "begin with: flow: <name>")
	}
	return root
}

// refuseConstructs refuses what YAML can and a flow does not need: anchors and aliases (a few lines of them unfold to
// gigabytes), tags and directives. An expression that begins with "!" is a tag to YAML: the message says to quote it.
func (r *reader) refuseConstructs(tokens token.Tokens) {
	for _, t := range tokens {
		var what, fix string
		switch t.Type {
		case token.AnchorType, token.AliasType, token.MergeKeyType:
			what, fix = "YAML anchors, aliases and merge keys are not used in flow files", "write the value out"
		case token.TagType:
			what = fmt.Sprintf("%s is a YAML tag, which flow files do not use", t.Value)
			fix = "put an expression that begins with ! in quotes"
		case token.DirectiveType:
			what, fix = "YAML directives are not used in flow files", "remove the line"
		default:
			continue
		}
		r.addAt(t.Position.Line, t.Position.Column, what, fix)
	}
}

// validPrefix is the number of bytes before the first that is not UTF-8.
func validPrefix(data []byte) int {
	n := 0
	for n < len(data) {
		c, size := utf8.DecodeRune(data[n:])
		if c == utf8.RuneError && size == 1 {
			break
		}
		n += size
	}
	return n
}

// syntax records an error of the YAML library at its place.
func (r *reader) syntax(err error) {
	line, column, text := 1, 1, err.Error()
	if positioned, ok := errors.AsType[yaml.Error](err); ok {
		text = positioned.GetMessage()
		if t := positioned.GetToken(); t != nil && t.Position != nil {
			line, column = t.Position.Line, t.Position.Column
		}
	}
	r.addAt(line, column, "not YAML: "+text, "")
}

// add records an error at the place of a path.
func (r *reader) add(path, message, fix string) {
	line, column := r.position(path)
	r.errs = append(r.errs, &Error{File: r.file, Line: line, Column: column, Path: path, Message: message, Fix: fix})
}

func (r *reader) addAt(line, column int, message, fix string) {
	r.errs = append(r.errs, &Error{File: r.file, Line: line, Column: column, Path: "$", Message: message, Fix: fix})
}

// withoutEchoes drops errors of meaning on lines that have one of shape: a mistyped key is not also a missing one.
func withoutEchoes(errs Errors, shape int) Errors {
	lines := map[int]bool{}
	for _, e := range errs[:shape] {
		lines[e.Line] = true
	}
	return slices.DeleteFunc(slices.Clone(errs), func(e *Error) bool {
		return !slices.Contains(errs[:shape], e) && lines[e.Line]
	})
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
