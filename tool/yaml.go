package tool

import (
	"encoding/json"
	"fmt"
	"math/big"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
)

// maxDepth bounds how deep a manifest may be nested.
const maxDepth = 32

// yamlEntry is one key of a mapping.
type yamlEntry struct {
	key   string
	line  int
	value ast.Node
}

// parseYAML returns the one document of data, nil if it is empty.
func parseYAML(data []byte) (node ast.Node, err error) {
	// A parser of a third party must not take the process down because of a file.
	defer func() {
		if recovered := recover(); recovered != nil {
			node, err = nil, fmt.Errorf("the file is not YAML: %v", recovered)
		}
	}()
	file, err := parser.ParseBytes(data, 0)
	if err != nil {
		return nil, err
	}
	for _, document := range file.Docs {
		if document == nil || document.Body == nil {
			continue
		}
		if node != nil {
			return nil, fmt.Errorf("the file holds several documents: keep one, or make it several files")
		}
		node = document.Body
	}
	return node, nil
}

func lineOf(node ast.Node) int {
	if node == nil {
		return 1
	}
	if token := node.GetToken(); token != nil && token.Position != nil {
		return max(1, token.Position.Line)
	}
	return 1
}

// mappingOf returns the keys of a mapping in the order of the file.
func mappingOf(node ast.Node) ([]yamlEntry, error) {
	var values []*ast.MappingValueNode
	switch n := node.(type) {
	case *ast.MappingNode:
		values = n.Values
	case *ast.MappingValueNode:
		values = []*ast.MappingValueNode{n}
	default:
		return nil, fmt.Errorf("a mapping (name: value) is expected here, not %s", kindOf(node))
	}
	entries := make([]yamlEntry, 0, len(values))
	seen := map[string]bool{}
	for _, value := range values {
		key, err := scalarOf(value.Key)
		if err != nil {
			return nil, fmt.Errorf("a key is %s: a plain name is expected", kindOf(value.Key))
		}
		if seen[key] {
			return nil, fmt.Errorf("key %q stands twice", key)
		}
		seen[key] = true
		entries = append(entries, yamlEntry{key: key, line: lineOf(value.Key), value: value.Value})
	}
	return entries, nil
}

// scalarOf returns a scalar as it is written, so that numbers keep their digits.
func scalarOf(node ast.Node) (string, error) {
	switch n := node.(type) {
	case *ast.StringNode:
		return n.Value, nil
	case *ast.LiteralNode:
		if n.Value != nil {
			return n.Value.Value, nil
		}
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.InfinityNode, *ast.NanNode:
		return node.GetToken().Value, nil
	}
	return "", fmt.Errorf("a single value is expected here, not %s", kindOf(node))
}

func kindOf(node ast.Node) string {
	switch node.(type) {
	case nil, *ast.NullNode:
		return "nothing"
	case *ast.MappingNode, *ast.MappingValueNode:
		return "a mapping"
	case *ast.SequenceNode:
		return "a list"
	case *ast.AnchorNode, *ast.AliasNode, *ast.MergeKeyNode:
		return "an anchor, alias or merge (write the value out)"
	case *ast.TagNode:
		return "a tagged value (write it without the tag)"
	}
	return "a single value"
}

// jsonOf turns a YAML value into JSON. Numbers keep their digits.
func jsonOf(node ast.Node, depth int) (json.RawMessage, error) {
	if depth > maxDepth {
		return nil, fmt.Errorf("values are nested deeper than %d", maxDepth)
	}
	switch n := node.(type) {
	case nil, *ast.NullNode:
		return json.RawMessage("null"), nil
	case *ast.MappingNode, *ast.MappingValueNode:
		entries, err := mappingOf(node)
		if err != nil {
			return nil, err
		}
		parts := make([]string, 0, len(entries))
		for _, entry := range entries {
			value, err := jsonOf(entry.value, depth+1)
			if err != nil {
				return nil, err
			}
			parts = append(parts, string(jsonText(entry.key))+":"+string(value))
		}
		return json.RawMessage("{" + strings.Join(parts, ",") + "}"), nil
	case *ast.SequenceNode:
		parts := make([]string, 0, len(n.Values))
		for _, item := range n.Values {
			value, err := jsonOf(item, depth+1)
			if err != nil {
				return nil, err
			}
			parts = append(parts, string(value))
		}
		return json.RawMessage("[" + strings.Join(parts, ",") + "]"), nil
	case *ast.BoolNode:
		return json.RawMessage(strconv.FormatBool(n.Value)), nil
	case *ast.IntegerNode, *ast.FloatNode:
		return jsonNumber(node.GetToken().Value)
	}
	text, err := scalarOf(node)
	if err != nil {
		return nil, err
	}
	return jsonText(text), nil
}

// jsonNumber keeps a number that JSON can write the same way, and rewrites what only YAML knows (0x10, 1_000, .5).
func jsonNumber(text string) (json.RawMessage, error) {
	if json.Valid([]byte(text)) {
		return json.RawMessage(text), nil
	}
	if whole, ok := new(big.Int).SetString(strings.TrimPrefix(text, "+"), 0); ok {
		return json.RawMessage(whole.String()), nil
	}
	if value, err := strconv.ParseFloat(strings.ReplaceAll(text, "_", ""), 64); err == nil {
		if data, err := json.Marshal(value); err == nil {
			return data, nil
		}
	}
	return nil, fmt.Errorf("number %q cannot be written in JSON", text)
}

func jsonText(text string) json.RawMessage {
	data, err := json.Marshal(text)
	if err != nil { // A string always can be.
		return json.RawMessage(`""`)
	}
	return data
}

// expand replaces ${NAME} by the variable and ${NAME:-text} by text where the variable is empty; $${ writes a plain ${.
func expand(text string, getenv func(string) string) (string, error) {
	var out strings.Builder
	for {
		before, rest, found := strings.Cut(text, "${")
		if !found {
			out.WriteString(text)
			return out.String(), nil
		}
		if strings.HasSuffix(before, "$") {
			out.WriteString(before + "{")
			text = rest
			continue
		}
		inside, after, closed := strings.Cut(rest, "}")
		if !closed {
			return "", fmt.Errorf("${%s has no closing brace: write $${ for a plain ${", rest)
		}
		name, byDefault, hasDefault := strings.Cut(inside, ":-")
		if !validVariable(name) {
			return "", fmt.Errorf("${%s} names no variable: write $${ for a plain ${", inside)
		}
		value := getenv(name)
		if value == "" && !hasDefault {
			return "", fmt.Errorf("variable %q is not set: set it, or write ${%s:-default}", name, name)
		}
		if value == "" {
			value = byDefault
		}
		out.WriteString(before + value)
		text = after
	}
}

func validVariable(name string) bool {
	for i, r := range name {
		letter := r == '_' || (r >= 'a' && r <= 'z') || (r >= 'A' && r <= 'Z')
		if !letter && (i == 0 || r < '0' || r > '9') {
			return false
		}
	}
	return name != ""
}
