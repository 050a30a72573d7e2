package schema

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

const componentPrefix = "#/components/schemas/"

// plain lists the keywords that mean the same in both languages and hold no schema.
func plain(keyword string) bool {
	switch keyword {
	case "title", "description", "format", "default", "enum", "pattern", "minLength", "maxLength", "minItems",
		"maxItems", "uniqueItems", "minProperties", "maxProperties", "minimum", "maximum", "multipleOf", "readOnly",
		"writeOnly", "deprecated":
		return true
	}
	return strings.HasPrefix(keyword, "x-")
}

// ToOpenAPI translates a decoded JSON Schema into a schema object of OpenAPI 3.0. Its $defs become components under
// prefix + name. A keyword that OpenAPI 3.0 cannot say is an error: a weaker schema would be served than is checked.
func ToOpenAPI(tree any, prefix string) (root map[string]any, components map[string]any, err error) {
	t := toOpenAPI{prefix: prefix, components: map[string]any{}}
	if object, ok := tree.(map[string]any); ok {
		for _, section := range []string{"$defs", "definitions"} {
			defs, ok := object[section].(map[string]any)
			if !ok {
				continue
			}
			for _, name := range slices.Sorted(maps.Keys(defs)) {
				t.components[prefix+name], err = t.schema(defs[name], "/"+section+"/"+name)
				if err != nil {
					return nil, nil, err
				}
			}
		}
	}
	root, err = t.schema(tree, "")
	return root, t.components, err
}

type toOpenAPI struct {
	prefix     string
	components map[string]any
}

func (t toOpenAPI) schema(tree any, at string) (map[string]any, error) {
	if allowed, ok := tree.(bool); ok {
		if allowed {
			return map[string]any{}, nil
		}
		return map[string]any{"not": map[string]any{}}, nil
	}
	object, ok := tree.(map[string]any)
	if !ok {
		return nil, fmt.Errorf("%q is not a schema", at)
	}
	out := map[string]any{}
	for _, keyword := range slices.Sorted(maps.Keys(object)) {
		if err := t.keyword(out, keyword, object[keyword], object, at); err != nil {
			return nil, err
		}
	}
	if out["type"] == "array" && out["items"] == nil {
		out["items"] = map[string]any{} // OpenAPI 3.0 wants it.
	}
	if ref, ok := out["$ref"]; ok && len(out) > 1 {
		// In OpenAPI 3.0 whatever stands beside $ref is ignored.
		delete(out, "$ref")
		also, _ := out["allOf"].([]any)
		out["allOf"] = append([]any{map[string]any{"$ref": ref}}, also...)
	}
	return out, nil
}

func (t toOpenAPI) keyword(out map[string]any, keyword string, value any, object map[string]any, at string) error {
	here := at + "/" + keyword
	switch keyword {
	case "$schema", "$comment", "$defs", "definitions":
		if at != "" && (keyword == "$defs" || keyword == "definitions") {
			return fmt.Errorf("%q: definitions belong at the top of the schema", here)
		}
		return nil
	case "$ref":
		return t.reference(out, value, here)
	case "type":
		return setType(out, value, here)
	case "const":
		if object["enum"] != nil {
			return fmt.Errorf("%q stands beside \"enum\": keep one of them", here)
		}
		out["enum"] = []any{value}
		return nil
	case "examples":
		if list, ok := value.([]any); ok && len(list) > 0 {
			out["example"] = list[0]
		}
		return nil
	case "exclusiveMinimum", "exclusiveMaximum":
		return setBound(out, keyword, value, object, here)
	case "required":
		if list, ok := value.([]any); ok && len(list) > 0 {
			out[keyword] = list
		}
		return nil
	case "items", "not", "additionalProperties":
		if _, isBool := value.(bool); isBool && keyword == "additionalProperties" {
			out[keyword] = value
			return nil
		}
		converted, err := t.schema(value, here)
		out[keyword] = converted
		return err
	case "properties":
		return t.properties(out, value, here)
	case "allOf", "anyOf", "oneOf":
		return t.list(out, keyword, value, here)
	}
	if plain(keyword) {
		out[keyword] = value
		return nil
	}
	return fmt.Errorf("%q cannot be said in OpenAPI 3.0: describe it with other keywords, or check it in the handler",
		here)
}

func (t toOpenAPI) reference(out map[string]any, value any, here string) error {
	ref, _ := value.(string)
	for _, section := range []string{"#/$defs/", "#/definitions/"} {
		if name, ok := strings.CutPrefix(ref, section); ok && name != "" && !strings.Contains(name, "/") {
			out["$ref"] = componentPrefix + t.prefix + name
			return nil
		}
	}
	return fmt.Errorf("%q is %q: refer to \"#/$defs/<name>\" only", here, ref)
}

func (t toOpenAPI) properties(out map[string]any, value any, here string) error {
	object, ok := value.(map[string]any)
	if !ok {
		return fmt.Errorf("%q is not an object", here)
	}
	properties := map[string]any{}
	for _, name := range slices.Sorted(maps.Keys(object)) {
		converted, err := t.schema(object[name], here+"/"+name)
		if err != nil {
			return err
		}
		properties[name] = converted
	}
	out["properties"] = properties
	return nil
}

func (t toOpenAPI) list(out map[string]any, keyword string, value any, here string) error {
	list, ok := value.([]any)
	if !ok {
		return fmt.Errorf("%q is not a list", here)
	}
	var converted []any
	if keyword == "allOf" {
		converted, _ = out[keyword].([]any)
	}
	for i, item := range list {
		one, err := t.schema(item, fmt.Sprintf("%s/%d", here, i))
		if err != nil {
			return err
		}
		converted = append(converted, one)
	}
	out[keyword] = converted
	return nil
}

// setType translates ["string", "null"] into nullable.
func setType(out map[string]any, value any, here string) error {
	names, ok := value.([]any)
	if !ok {
		names = []any{value}
	}
	for _, name := range names {
		switch {
		case name == "null" && len(names) > 1:
			out["nullable"] = true
		case name == "null" || out["type"] != nil:
			return fmt.Errorf("%q: OpenAPI 3.0 knows one type, with or without \"null\": use anyOf for more", here)
		default:
			out["type"] = name
		}
	}
	return nil
}

// setBound translates the exclusive bounds, which are booleans beside minimum and maximum in OpenAPI 3.0.
func setBound(out map[string]any, keyword string, value any, object map[string]any, here string) error {
	inclusive := "minimum"
	if keyword == "exclusiveMaximum" {
		inclusive = "maximum"
	}
	switch value.(type) {
	case json.Number, float64:
		if object[inclusive] != nil {
			return fmt.Errorf("%q stands beside %q: keep one of them", here, inclusive)
		}
		out[inclusive], out[keyword] = value, true
	default: // A boolean of draft 4 says the same already.
		out[keyword] = value
	}
	return nil
}

// FromOpenAPI translates a schema object of OpenAPI 3.0 and the components that it may refer to into a JSON Schema.
func FromOpenAPI(root any, components map[string]any) map[string]any {
	out := fromOpenAPI(root)
	if len(components) > 0 {
		defs := map[string]any{}
		for name, component := range components {
			defs[name] = fromOpenAPI(component)
		}
		out["$defs"] = defs
	}
	return out
}

func fromOpenAPI(tree any) map[string]any {
	object, ok := tree.(map[string]any)
	if !ok {
		return map[string]any{}
	}
	if ref, ok := object["$ref"].(string); ok {
		if name, ok := strings.CutPrefix(ref, componentPrefix); ok {
			ref = "#/$defs/" + name
		}
		return map[string]any{"$ref": ref}
	}
	out := map[string]any{}
	for keyword, value := range object {
		switch keyword {
		case "properties":
			properties := map[string]any{}
			if of, ok := value.(map[string]any); ok {
				for name, property := range of {
					properties[name] = fromOpenAPI(property)
				}
			}
			out[keyword] = properties
		case "allOf", "anyOf", "oneOf":
			list, _ := value.([]any)
			converted := make([]any, len(list))
			for i, item := range list {
				converted[i] = fromOpenAPI(item)
			}
			out[keyword] = converted
		case "items", "not":
			out[keyword] = fromOpenAPI(value)
		case "additionalProperties":
			if _, isBool := value.(bool); isBool {
				out[keyword] = value
			} else {
				out[keyword] = fromOpenAPI(value)
			}
		case "nullable", "discriminator", "example", "externalDocs", "xml", "allowEmptyValue":
			// Meaningless in JSON Schema, or handled below.
		case "exclusiveMinimum", "exclusiveMaximum":
			if _, isBool := value.(bool); !isBool {
				out[keyword] = value
			}
		default:
			out[keyword] = value
		}
	}
	bound(out, object, "exclusiveMinimum", "minimum")
	bound(out, object, "exclusiveMaximum", "maximum")
	if name, ok := object["type"].(string); ok && object["nullable"] == true {
		out["type"] = []any{name, "null"}
	}
	return out
}

func bound(out, object map[string]any, exclusive, inclusive string) {
	if object[exclusive] == true && object[inclusive] != nil {
		out[exclusive] = object[inclusive]
		delete(out, inclusive)
	}
}
