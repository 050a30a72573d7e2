package server

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/hermes-orchestrator/hermes/conversation"
	"github.com/hermes-orchestrator/hermes/tool"
	"github.com/hermes-orchestrator/hermes/tool/internal/schema"
)

// answerDescription says how the body and the schema of a response 200 belong together.
const answerDescription = `The schema is that of the member "output" of the body, which is {"status":"ok",` +
	`"output":…,"verification_steps":[…],"diagnostics":{…}}, signed in ` + tool.HeaderSignature + `.`

// describe builds the OpenAPI 3.0 document of GET /schema and checks it.
func describe(config Config) ([]byte, error) {
	document := &openapi3.T{
		OpenAPI:    "3.0.3",
		Info:       &openapi3.Info{Title: config.Name, Version: config.Version},
		Paths:      openapi3.NewPaths(),
		Components: &openapi3.Components{Schemas: openapi3.Schemas{}},
	}
	for _, o := range config.Operations {
		operation, err := describeOperation(o, document.Components.Schemas)
		if err != nil {
			return nil, err
		}
		document.Paths.Set(tool.InvokePath(o.Name), &openapi3.PathItem{Post: operation})
	}
	data, err := json.Marshal(document)
	if err != nil {
		return nil, conversation.Errorf(conversation.CodeInvalidConfig, "tool %q: /schema cannot be written: %w",
			config.Name, err)
	}
	loader := openapi3.NewLoader()
	loaded, err := loader.LoadFromData(data)
	if err == nil {
		err = loaded.Validate(loader.Context)
	}
	if err != nil {
		return nil, conversation.Errorf(conversation.CodeInvalidConfig,
			"tool %q: /schema would not be a valid OpenAPI 3.0 document: %w", config.Name, err)
	}
	return data, nil
}

func describeOperation(o Operation, components openapi3.Schemas) (*openapi3.Operation, error) {
	input, err := translate(o.Input, o.Name+".input.", components)
	if err != nil {
		return nil, conversation.Errorf(conversation.CodeInvalidConfig, "operation %q: Input: %w", o.Name, err)
	}
	output, err := translate(o.Output, o.Name+".output.", components)
	if err != nil {
		return nil, conversation.Errorf(conversation.CodeInvalidConfig, "operation %q: Output: %w", o.Name, err)
	}
	operation := &openapi3.Operation{
		OperationID: o.Name, Description: o.Description,
		Extensions: map[string]any{tool.ExtensionEffect: o.Effect, tool.ExtensionAsync: o.Async},
		Parameters: openapi3.Parameters{
			header(tool.HeaderMessageID, "Id of the call; the answer's signature covers it.", true),
			header(tool.HeaderIdempotencyKey, "Makes the effect of a write happen once.", o.Effect == tool.EffectWrite),
			header(tool.HeaderTimeoutMS, "Time limit of the call in milliseconds.", false),
		},
		RequestBody: &openapi3.RequestBodyRef{
			Value: openapi3.NewRequestBody().WithRequired(true).WithJSONSchemaRef(input),
		},
	}
	options := []openapi3.NewResponsesOption{
		openapi3.WithStatus(200, response(answerDescription, output)),
		openapi3.WithName("default",
			response("A refusal (4xx) or a failure (5xx), signed as well.", errorSchema()).Value),
	}
	if o.Async {
		options = append(options,
			openapi3.WithStatus(202, response("Accepted; the answer is delivered later.", processingSchema())))
	}
	operation.Responses = openapi3.NewResponses(options...)
	return operation, nil
}

// translate turns a JSON Schema into one of OpenAPI 3.0 and adds its definitions to the components.
func translate(data json.RawMessage, prefix string, components openapi3.Schemas) (*openapi3.SchemaRef, error) {
	tree, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("not JSON: %w", err)
	}
	root, definitions, err := schema.ToOpenAPI(tree, prefix)
	if err != nil {
		return nil, err
	}
	for name, definition := range definitions {
		if components[name], err = schemaRef(definition); err != nil {
			return nil, err
		}
	}
	return schemaRef(root)
}

func schemaRef(tree any) (*openapi3.SchemaRef, error) {
	data, err := json.Marshal(tree)
	if err != nil {
		return nil, err
	}
	ref := new(openapi3.SchemaRef)
	return ref, json.Unmarshal(data, ref)
}

func header(name, description string, required bool) *openapi3.ParameterRef {
	return &openapi3.ParameterRef{Value: openapi3.NewHeaderParameter(name).
		WithDescription(description).WithRequired(required).WithSchema(openapi3.NewStringSchema())}
}

func response(description string, of *openapi3.SchemaRef) *openapi3.ResponseRef {
	return &openapi3.ResponseRef{Value: openapi3.NewResponse().WithDescription(description).WithJSONSchemaRef(of)}
}

func errorSchema() *openapi3.SchemaRef {
	detail := openapi3.NewObjectSchema().
		WithProperty("code", openapi3.NewStringSchema()).
		WithProperty("message", openapi3.NewStringSchema()).
		WithProperty("retryable", openapi3.NewBoolSchema()).
		WithRequired([]string{"code", "message", "retryable"})
	return openapi3.NewObjectSchema().
		WithProperty("error", detail).
		WithProperty("diagnostics", openapi3.NewObjectSchema()).
		WithRequired([]string{"error"}).NewRef()
}

func processingSchema() *openapi3.SchemaRef {
	return openapi3.NewObjectSchema().
		WithProperty("status", openapi3.NewStringSchema().WithEnum(conversation.AnswerProcessing)).
		WithProperty("estimated_time", openapi3.NewStringSchema()).
		WithProperty("diagnostics", openapi3.NewObjectSchema()).
		WithRequired([]string{"status", "estimated_time", "diagnostics"}).NewRef()
}
