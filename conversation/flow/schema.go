package flow

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
	"golang.org/x/text/language"
	"golang.org/x/text/message"
)

//go:embed flow.schema.json
var schemaSource []byte

// schema compiles the schema of flow files once; it is immutable.
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

// validateSchema checks the shape by the JSON Schema and records each violation at its line.
func (r *reader) validateSchema(tree any) {
	schema, err := schema()
	if err != nil {
		r.add("$", "schema of flow files: "+err.Error(), "")
		return
	}
	data, err := json.Marshal(tree)
	if err != nil {
		r.add("$", "the file is not a mapping with text keys: "+err.Error(), "put keys in quotes")
		return
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	if err != nil {
		r.add("$", err.Error(), "")
		return
	}
	if invalid, ok := errors.AsType[*jsonschema.ValidationError](schema.Validate(value)); ok {
		r.schemaErrors(invalid)
	}
}

func (r *reader) schemaErrors(e *jsonschema.ValidationError) {
	if len(e.Causes) > 0 {
		for _, cause := range e.Causes {
			r.schemaErrors(cause)
		}
		return
	}
	path := pathOf(e.InstanceLocation)
	switch k := e.ErrorKind.(type) {
	case *kind.AdditionalProperties:
		known, pattern := keysOf(e.SchemaURL)
		for _, name := range k.Properties {
			if pattern != "" {
				r.add(path+"."+name, fmt.Sprintf("%q is not a name", name), formFix(pattern))
				continue
			}
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
		r.add(path, fmt.Sprintf("%q does not have the form %s", k.Got, k.Want), formFix(k.Want))
	case *kind.Type:
		want := strings.Join(k.Want, " or ")
		fix := "write a " + kindName(want)
		if want == "string" && (k.Got == "number" || k.Got == "boolean" || k.Got == "null") {
			fix = "put it in quotes"
		}
		r.add(path, fmt.Sprintf("this is a %s, a %s is wanted", kindName(k.Got), kindName(want)), fix)
	default:
		r.add(path, e.ErrorKind.LocalizedString(message.NewPrinter(language.English)), "")
	}
}

// pathOf writes a location of JSON Schema as the paths of this package.
func pathOf(location []string) string {
	var path strings.Builder
	path.WriteString("$")
	for _, part := range location {
		if strings.Trim(part, "0123456789") == "" && part != "" {
			path.WriteString("[" + part + "]")
		} else {
			path.WriteString("." + part)
		}
	}
	return path.String()
}

// kindName says in YAML's words what JSON Schema says in JSON's.
func kindName(jsonType string) string {
	switch jsonType {
	case "string":
		return "text"
	case "array":
		return "list"
	case "object":
		return "mapping"
	}
	return jsonType
}

func formFix(pattern string) string {
	switch {
	case strings.HasPrefix(pattern, "^[a-z][a-z0-9_]"):
		return "write small letters, digits and _, beginning with a letter"
	case strings.Contains(pattern, "ms|s|m|h"):
		return "write for example 5m or 30s"
	case strings.Contains(pattern, "/"):
		return "write a media type, for example image/png"
	}
	return ""
}

// keysOf finds the keys of the schema object that refused one, or the pattern that all its keys must have.
func keysOf(schemaURL string) (known []string, pattern string) {
	_, pointer, _ := strings.Cut(schemaURL, "#")
	var node any
	if json.Unmarshal(schemaSource, &node) != nil {
		return nil, ""
	}
	for part := range strings.SplitSeq(strings.Trim(pointer, "/"), "/") {
		if fields, ok := node.(map[string]any); ok && part != "" {
			node = fields[part]
		}
	}
	fields, _ := node.(map[string]any)
	properties, _ := fields["properties"].(map[string]any)
	known = slices.Sorted(maps.Keys(properties))
	patterns, _ := fields["patternProperties"].(map[string]any)
	for pattern = range patterns {
		break
	}
	return known, pattern
}
