package flow

import (
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"
)

// place is where a value stands in the file: its key (or, for an element of a list, its beginning) is what a person
// looks for; the value is needed to point into an expression.
type place struct {
	line, column int
	value        ast.Node
}

// placesOf indexes a document by path, "$.steps[0].tool". One walk serves all errors of a file.
func placesOf(root ast.Node) map[string]place {
	places := map[string]place{"$": {line: 1, column: 1, value: root}}
	var walk func(path string, node ast.Node)
	entry := func(path string, v *ast.MappingValueNode) {
		key := v.Key.GetToken()
		path += "." + key.Value
		if _, twice := places[path]; !twice {
			places[path] = place{key.Position.Line, key.Position.Column, v.Value}
		}
		walk(path, v.Value)
	}
	walk = func(path string, node ast.Node) {
		switch n := node.(type) {
		case *ast.MappingNode:
			for _, v := range n.Values {
				entry(path, v)
			}
		case *ast.MappingValueNode:
			entry(path, n)
		case *ast.SequenceNode:
			for i, v := range n.Values {
				at := path + "[" + strconv.Itoa(i) + "]"
				position := startOf(v)
				places[at] = place{position.Line, position.Column, v}
				walk(at, v)
			}
		}
	}
	walk("$", root)
	return places
}

// startOf is where an element of a list begins: at its first key, if it is a mapping written over several lines.
func startOf(node ast.Node) *token.Position {
	if m, ok := node.(*ast.MappingNode); ok && len(m.Values) > 0 && !m.IsFlowStyle {
		return m.Values[0].Key.GetToken().Position
	}
	if m, ok := node.(*ast.MappingValueNode); ok {
		return m.Key.GetToken().Position
	}
	return node.GetToken().Position
}

// position finds the place of a path, or of its nearest parent that exists.
func (r *reader) position(path string) (line, column int) {
	for path != "" {
		if p, found := r.places[path]; found {
			return p.line, p.column
		}
		cut := strings.LastIndexAny(path, ".[")
		if cut <= 0 {
			break
		}
		path = path[:cut]
	}
	return 1, 1
}

// within finds the place of a character in the text at path; line and column count from 1 in that text. Where the text
// is written with escapes or folded, the place of the text itself has to do.
func (r *reader) within(path string, line, column int) (fileLine, fileColumn int) {
	p, found := r.places[path]
	if !found || p.value == nil {
		return r.position(path)
	}
	switch n := p.value.(type) {
	case *ast.LiteralNode:
		if n.Start.Type == token.LiteralType {
			return n.Start.Position.Line + line, p.column
		}
	case *ast.StringNode:
		t := n.GetToken()
		if strings.Contains(strings.TrimSpace(t.Origin), "\n") || line != 1 {
			return t.Position.Line, t.Position.Column
		}
		switch t.Type {
		case token.StringType:
			return t.Position.Line, t.Position.Column + column - 1
		case token.SingleQuoteType, token.DoubleQuoteType:
			if !strings.ContainsAny(t.Origin, `\`) && !strings.Contains(strings.Trim(t.Origin, " '"), "''") {
				return t.Position.Line, t.Position.Column + column
			}
		default: // A text over several lines: its first line is near enough.
		}
		return t.Position.Line, t.Position.Column
	}
	return p.line, p.column
}
