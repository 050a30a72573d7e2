package schema_test

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/hermes-orchestrator/hermes/tool/internal/schema"
)

func tree(t require.TestingT, data []byte) any {
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	require.NoError(t, err)
	return value
}

// roundTrip compiles what is left of a JSON Schema after OpenAPI 3.0, as kin-openapi reads and writes it.
func roundTrip(t require.TestingT, data []byte) *schema.Schema {
	root, definitions, err := schema.ToOpenAPI(tree(t, data), "op.")
	require.NoError(t, err)
	var back any
	for _, part := range []struct {
		from any
		to   any
		out  *any
	}{{root, new(openapi3.SchemaRef), &back}} {
		written, err := json.Marshal(part.from)
		require.NoError(t, err)
		require.NoError(t, json.Unmarshal(written, part.to))
		written, err = json.Marshal(part.to)
		require.NoError(t, err)
		*part.out = tree(t, written)
	}
	compiled, err := schema.CompileTree(schema.FromOpenAPI(back, definitions))
	require.NoError(t, err)
	return compiled
}

func TestRoundTripKeepsTheMeaning(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ schema, good, bad string }{
		"types": {
			`{"type":"object","properties":{"a":{"type":"integer"}},"required":["a"]}`,
			`{"a":1}`,
			`{"a":"x"}`,
		},
		"nullable":       {`{"type":["string","null"],"minLength":2}`, `null`, `"x"`},
		"nullable, list": {`{"type":["null","array"],"items":{"type":"string"}}`, `null`, `[1]`},
		"nullable enum":  {`{"type":["string","null"],"enum":["a",null]}`, `null`, `"b"`},
		"const":          {`{"const":"x"}`, `"x"`, `"y"`},
		"exclusive":      {`{"type":"number","exclusiveMinimum":0,"exclusiveMaximum":1}`, `0.5`, `0`},
		"inclusive":      {`{"type":"number","minimum":0,"maximum":1}`, `1`, `1.01`},
		"pattern":        {`{"type":"string","pattern":"^[0-9]+\\.[0-9]{2}$"}`, `"3200.00"`, `"3200.0"`},
		"format":         {`{"type":"string","format":"date"}`, `"2024-05-12"`, `"12.5.2024"`},
		"closed":         {`{"type":"object","additionalProperties":false}`, `{}`, `{"a":1}`},
		"map":            {`{"type":"object","additionalProperties":{"type":"string"}}`, `{"a":"x"}`, `{"a":1}`},
		"array, items": {
			`{"type":"array","items":{"type":"string"},"minItems":1,"maxItems":2,"uniqueItems":true}`,
			`["a"]`,
			`["a","a"]`,
		},
		"array, anything": {`{"type":"array"}`, `[1,"a"]`, `{}`},
		"allOf":           {`{"allOf":[{"type":"string"},{"maxLength":1}]}`, `"a"`, `"ab"`},
		"anyOf":           {`{"anyOf":[{"type":"string"},{"type":"integer"}]}`, `1`, `true`},
		"oneOf":           {`{"oneOf":[{"type":"integer"},{"type":"integer","minimum":5}]}`, `1`, `6`},
		"not":             {`{"not":{"type":"string"}}`, `1`, `"a"`},
		"definition":      {`{"$ref":"#/$defs/money","$defs":{"money":{"type":"string"}}}`, `"a"`, `1`},
		"with siblings": {
			`{"$ref":"#/definitions/money","maxLength":1,"allOf":[{"minLength":1}],"definitions":{"money":{"type":"string"}}}`,
			`"a"`,
			`"ab"`,
		},
		"recursive": {
			`{"$ref":"#/$defs/n","$defs":{"n":{"type":"object","properties":{"n":{"$ref":"#/$defs/n"}},"additionalProperties":false}}}`,
			`{"n":{"n":{}}}`,
			`{"n":{"m":{}}}`,
		},
		"never": {`{"type":"object","properties":{"a":false}}`, `{}`, `{"a":1}`},
		"named like rules": {
			`{"type":"object","properties":{"nullable":{"type":"string"},"example":{"const":1}},"required":[]}`,
			`{"nullable":"x","example":1}`,
			`{"nullable":null}`,
		},
		"comments": {
			`{"$schema":"https://json-schema.org/draft/2020-12/schema","$comment":"c","examples":["a"],"title":"t","type":"string","x-unit":"s"}`,
			`"a"`,
			`1`,
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			original, err := schema.Compile([]byte(tt.schema))
			require.NoError(t, err)
			translated := roundTrip(t, []byte(tt.schema))
			for _, s := range []*schema.Schema{original, translated} {
				require.NoError(t, s.Validate([]byte(tt.good)))
				require.Error(t, s.Validate([]byte(tt.bad)))
			}
		})
	}
}

// drawSchema draws a schema of the keywords that both languages share, two levels deep at most.
func drawSchema(t *rapid.T, depth int) map[string]any {
	kinds := []string{"string", "integer", "number", "boolean"}
	if depth > 0 {
		kinds = append(kinds, "object", "array")
	}
	kind := rapid.SampledFrom(kinds).Draw(t, "type")
	s := map[string]any{"type": kind}
	if rapid.Bool().Draw(t, "nullable") {
		s["type"] = []any{kind, "null"}
	}
	switch kind {
	case "string":
		s["minLength"] = rapid.IntRange(0, 2).Draw(t, "minLength")
	case "integer", "number":
		s[rapid.SampledFrom([]string{"minimum", "exclusiveMinimum", "maximum", "exclusiveMaximum"}).Draw(t, "bound")] = rapid.IntRange(-2, 2).
			Draw(t, "value")
	case "array":
		s["items"] = drawSchema(t, depth-1)
	case "object":
		s["properties"] = map[string]any{"a": drawSchema(t, depth-1), "b": drawSchema(t, depth-1)}
		s["additionalProperties"] = rapid.Bool().Draw(t, "open")
		if rapid.Bool().Draw(t, "required") {
			s["required"] = []any{"a"}
		}
	}
	return s
}

func drawValue(t *rapid.T, depth int) any {
	kinds := []string{"null", "string", "integer", "number", "boolean"}
	if depth > 0 {
		kinds = append(kinds, "object", "array")
	}
	switch rapid.SampledFrom(kinds).Draw(t, "kind") {
	case "string":
		return rapid.StringMatching(`[ab]{0,3}`).Draw(t, "string")
	case "integer":
		return rapid.IntRange(-3, 3).Draw(t, "integer")
	case "number":
		return float64(rapid.IntRange(-6, 6).Draw(t, "number")) / 2
	case "boolean":
		return rapid.Bool().Draw(t, "boolean")
	case "array":
		list := []any{}
		for range rapid.IntRange(0, 2).Draw(t, "length") {
			list = append(list, drawValue(t, depth-1))
		}
		return list
	case "object":
		object := map[string]any{}
		for _, key := range rapid.SliceOfDistinct(rapid.SampledFrom([]string{"a", "b", "c"}), rapid.ID[string]).Draw(t, "keys") {
			object[key] = drawValue(t, depth-1)
		}
		return object
	}
	return nil
}

func TestRoundTripAgreesOnEveryValue(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		data, err := json.Marshal(drawSchema(t, 2))
		require.NoError(t, err)
		original, err := schema.Compile(data)
		require.NoError(t, err)
		translated := roundTrip(t, data)
		for range 10 {
			value, err := json.Marshal(drawValue(t, 2))
			require.NoError(t, err)
			require.Equal(t, original.Validate(value) == nil, translated.Validate(value) == nil, "schema %s, value %s",
				data, value)
		}
	})
}

func TestToOpenAPIRefuses(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{"if":{"type":"string"}}`:                      `"/if" cannot be said`,
		`{"properties":{"a":{"patternProperties":{}}}}`: `"/properties/a/patternProperties" cannot be said`,
		`{"items":{"prefixItems":[]}}`:                  `"/items/prefixItems" cannot be said`,
		`{"type":["string","integer"]}`:                 `"/type": OpenAPI 3.0 knows one type`,
		`{"type":"null"}`:                               `"/type": OpenAPI 3.0 knows one type`,
		`{"const":1,"enum":[1]}`:                        `"/const" stands beside "enum"`,
		`{"minimum":1,"exclusiveMinimum":1}`:            `"/exclusiveMinimum" stands beside "minimum"`,
		`{"$ref":"other.json"}`:                         `"/$ref" is "other.json"`,
		`{"$ref":"#/properties/a"}`:                     `refer to "#/$defs/<name>" only`,
		`{"properties":{"a":{"$defs":{"b":{}}}}}`:       `definitions belong at the top`,
		`{"$defs":{"a":{"if":true}}}`:                   `"/$defs/a/if" cannot be said`,
		`{"properties":[]}`:                             `"/properties" is not an object`,
		`{"anyOf":{}}`:                                  `"/anyOf" is not a list`,
		`{"anyOf":[1]}`:                                 `"/anyOf/0" is not a schema`,
	} {
		_, _, err := schema.ToOpenAPI(tree(t, []byte(text)), "op.")
		require.ErrorContains(t, err, want, text)
	}
}

func TestCompileRefuses(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		``, `{`, `1`, `{"type":"text"}`, `{"$ref":"file:///etc/passwd"}`, `{"$ref":"http://127.0.0.1:1/x"}`, `{"$ref":"#/nowhere"}`, `{"pattern":"("}`,
	} {
		_, err := schema.Compile([]byte(text))
		require.Error(t, err, text)
	}
}

func TestErrorsHoldNoValues(t *testing.T) {
	t.Parallel()
	s, err := schema.Compile([]byte(`{"type":"object","properties":{
		"a":{"enum":["x"]},"b":{"format":"date"},"c":{"pattern":"^x$"},"d":{"const":1},"e":{"minimum":5},
		"f":{"anyOf":[{"const":"y"},{"const":"z"}]}}}`))
	require.NoError(t, err)
	err = s.Validate([]byte(`{"a":"secret","b":"secret","c":"secret","d":"secret","e":1234,"f":"secret"}`))
	require.ErrorContains(t, err, "and 3 more")
	require.NotContains(t, err.Error(), "secret")
	require.NotContains(t, err.Error(), "1234")
	require.EqualError(t, s.Validate([]byte(`[]`)), `"/" got array, want object`)
	require.EqualError(t, s.Validate([]byte(`{} {}`)), "it is not one JSON value")
}

func FuzzToOpenAPI(f *testing.F) {
	f.Add([]byte(`{"type":["string","null"],"$defs":{"a":{"$ref":"#/$defs/a"}}}`), []byte(`"a"`))
	f.Add([]byte(`{"properties":{"a":{"exclusiveMinimum":1}},"allOf":[true,false]}`), []byte(`{"a":1}`))
	f.Fuzz(func(t *testing.T, data, value []byte) {
		original, err := schema.Compile(data)
		if err != nil {
			return
		}
		root, definitions, err := schema.ToOpenAPI(tree(t, data), "op.")
		if err != nil {
			return
		}
		translated, err := schema.CompileTree(schema.FromOpenAPI(root, definitions))
		if err != nil {
			return
		}
		require.Equal(t, original.Validate(value) == nil, translated.Validate(value) == nil)
	})
}
