package schema

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
	"golang.org/x/text/language"
	"golang.org/x/text/message"
)

// resource is the name under which a schema is compiled. It is never fetched.
const resource = "hermes:///schema"

// maxReported bounds how many mismatches one error lists: the first ones tell what is wrong.
const maxReported = 3

// Schema is a compiled JSON Schema. It is safe for concurrent use.
type Schema struct{ compiled *jsonschema.Schema }

// errExternal is returned for a $ref that leaves the document: a schema comes from another machine, and must not make
// this one read files or URLs.
var errExternal = errors.New("the schema refers to another document: put everything it needs into $defs")

type noLoader struct{}

func (noLoader) Load(string) (any, error) { return nil, errExternal }

// Compile compiles a JSON Schema (2020-12 unless it names another draft). Formats such as "date" are asserted.
func Compile(data []byte) (*Schema, error) {
	tree, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("not JSON: %w", err)
	}
	return CompileTree(tree)
}

// CompileTree is Compile for a decoded schema, as jsonschema.UnmarshalJSON returns it.
func CompileTree(tree any) (*Schema, error) {
	compiler := jsonschema.NewCompiler()
	compiler.UseLoader(noLoader{})
	compiler.AssertFormat()
	if err := compiler.AddResource(resource, tree); err != nil {
		return nil, fmt.Errorf("not a JSON Schema: %w", err)
	}
	compiled, err := compiler.Compile(resource)
	if err != nil {
		return nil, fmt.Errorf("not a JSON Schema: %w", err)
	}
	return &Schema{compiled: compiled}, nil
}

// Validate checks a JSON text. Its error names places and rules of the schema but no value: it ends up in logs and in
// histories, where raw data does not belong (SPEC C4).
func (s *Schema) Validate(data []byte) error {
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	if err != nil {
		return errors.New("it is not one JSON value")
	}
	err = s.compiled.Validate(value)
	if err == nil {
		return nil
	}
	var invalid *jsonschema.ValidationError
	if !errors.As(err, &invalid) {
		return errors.New("it cannot be checked against the schema")
	}
	var lines []string
	collect(invalid, message.NewPrinter(language.English), &lines)
	slices.Sort(lines) // The library reports properties in no order.
	if len(lines) > maxReported {
		lines = append(lines[:maxReported], fmt.Sprintf("and %d more", len(lines)-maxReported))
	}
	return errors.New(strings.Join(lines, "; "))
}

func collect(e *jsonschema.ValidationError, printer *message.Printer, lines *[]string) {
	if len(e.Causes) > 0 {
		for _, cause := range e.Causes {
			collect(cause, printer, lines)
		}
		return
	}
	*lines = append(*lines,
		fmt.Sprintf("%q %s", "/"+strings.Join(e.InstanceLocation, "/"), describe(e.ErrorKind, printer)))
}

// describe says which rule is broken. Only kinds whose text holds no part of the value are written out.
func describe(k jsonschema.ErrorKind, printer *message.Printer) string {
	switch k.(type) {
	case *kind.Type, *kind.Required, *kind.AdditionalProperties, *kind.AdditionalItems, *kind.DependentRequired,
		*kind.MinItems, *kind.MaxItems, *kind.MinLength, *kind.MaxLength, *kind.MinProperties, *kind.MaxProperties,
		*kind.UniqueItems:
		return k.LocalizedString(printer)
	}
	if path := k.KeywordPath(); len(path) > 0 {
		return fmt.Sprintf("breaks the rule %q", path[len(path)-1])
	}
	return "is not allowed"
}
