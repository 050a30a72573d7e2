package tool

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/hermes-orchestrator/hermes/tool/internal/schema"
)

const (
	// schemaMaxAge is how long a /schema is used before it is fetched again.
	schemaMaxAge = 5 * time.Minute
	// schemaRetry is how soon it is fetched again when that did not work, or when an answer did not fit: the tool may
	// just have been replaced by a newer version.
	schemaRetry   = 10 * time.Second
	schemaTimeout = 5 * time.Second
)

// published is what a tool says of itself in /schema.
type published struct {
	operations map[string]publishedOperation
	at         time.Time
	// retryAt bounds how often a failing refresh is tried.
	retryAt time.Time
}

// publishedOperation has either an output schema or a problem, which concerns this operation alone.
type publishedOperation struct {
	output  *schema.Schema
	problem error
}

// parsePublished reads the OpenAPI document of a tool and compiles the output schemas of the wanted operations.
func parsePublished(data []byte, wanted map[string]Operation) (map[string]publishedOperation, error) {
	loader := openapi3.NewLoader() // External references are refused by default.
	document, err := loader.LoadFromData(data)
	if err != nil {
		return nil, fmt.Errorf("it is not an OpenAPI 3.0 document: %w", err)
	}
	if !document.IsOpenAPI30() {
		return nil, fmt.Errorf("it is OpenAPI %q, not 3.0", document.OpenAPI)
	}
	if err := document.Validate(loader.Context); err != nil {
		return nil, fmt.Errorf("it is not a valid OpenAPI 3.0 document: %w", err)
	}
	components, err := componentTree(document)
	if err != nil {
		return nil, err
	}
	operations := make(map[string]publishedOperation, len(wanted))
	for name, want := range wanted {
		output, err := publishedOutput(document, name, want.Effect, components)
		operations[name] = publishedOperation{output: output, problem: err}
	}
	return operations, nil
}

func componentTree(document *openapi3.T) (map[string]any, error) {
	if document.Components == nil || len(document.Components.Schemas) == 0 {
		return nil, nil
	}
	tree, err := treeOf(document.Components.Schemas)
	if err != nil {
		return nil, err
	}
	components, _ := tree.(map[string]any)
	return components, nil
}

// publishedOutput compiles the schema of an operation's output.
func publishedOutput(document *openapi3.T, name, effect string, components map[string]any) (*schema.Schema, error) {
	path := document.Paths.Value(InvokePath(name))
	if path == nil || path.Post == nil {
		return nil, fmt.Errorf("there is no POST %s", InvokePath(name))
	}
	// A tool that says "write" where the manifest says "read" would be called without approval.
	if says, _ := path.Post.Extensions[ExtensionEffect].(string); says != effect {
		return nil, fmt.Errorf("POST %s: %s is %q, the manifest says %q", InvokePath(name), ExtensionEffect, says,
			effect)
	}
	response := path.Post.Responses.Status(http.StatusOK)
	if response == nil || response.Value == nil {
		return nil, fmt.Errorf("POST %s describes no response 200", InvokePath(name))
	}
	media := response.Value.Content.Get("application/json")
	if media == nil || media.Schema == nil {
		return nil, fmt.Errorf("POST %s: response 200 has no schema for application/json", InvokePath(name))
	}
	tree, err := treeOf(media.Schema)
	if err != nil {
		return nil, err
	}
	compiled, err := schema.CompileTree(schema.FromOpenAPI(tree, components))
	if err != nil {
		return nil, fmt.Errorf("POST %s: response 200: %w", InvokePath(name), err)
	}
	return compiled, nil
}

// treeOf is the JSON tree of a part of the document.
func treeOf(part any) (any, error) {
	data, err := json.Marshal(part)
	if err != nil {
		return nil, fmt.Errorf("its schemas cannot be read: %w", err)
	}
	return jsonschema.UnmarshalJSON(bytes.NewReader(data))
}

// published returns what the tool at an endpoint says of itself, not older than maxAge if it can be had; an older one
// serves while the tool does not give a new one.
func (c *Client) published(ctx context.Context, at endpoint, maxAge time.Duration) (*published, error) {
	key := at.manifest.Name + " " + at.manifest.URL
	known, fresh := c.cachedSchema(key, maxAge)
	if fresh {
		return known, nil
	}
	flight := c.flights.DoChan("schema "+key, func() (any, error) {
		// Another flight may have landed since the cache was looked at.
		if known, fresh := c.cachedSchema(key, maxAge); fresh {
			return known, nil
		}
		fresh, err := c.askSchema(at.manifest)
		c.mu.Lock()
		defer c.mu.Unlock()
		if err != nil && c.schemas[key] != nil {
			old := *c.schemas[key]
			old.retryAt = c.now().Add(schemaRetry)
			c.schemas[key] = &old
			c.logger.Warn("schema of a tool could not be refreshed, the known one serves", "tool", at.manifest.Name,
				"error", err)
			return &old, nil
		}
		if err == nil {
			c.schemas[key] = fresh
		}
		return fresh, err
	})
	select {
	case result := <-flight:
		fresh, _ := result.Val.(*published)
		return fresh, result.Err
	case <-ctx.Done():
		if known != nil {
			return known, nil
		}
		return nil, ctx.Err()
	}
}

// cachedSchema is what is known of a tool, if anything, and whether that is fresh enough to be used unasked.
func (c *Client) cachedSchema(key string, maxAge time.Duration) (known *published, fresh bool) {
	now := c.now()
	c.mu.Lock()
	defer c.mu.Unlock()
	known = c.schemas[key]
	return known, known != nil && (now.Sub(known.at) <= maxAge || now.Before(known.retryAt))
}

// knownSchema is the output schema of an operation if it has been fetched already.
func (c *Client) knownSchema(at endpoint) *schema.Schema {
	c.mu.Lock()
	defer c.mu.Unlock()
	if known := c.schemas[at.manifest.Name+" "+at.manifest.URL]; known != nil {
		return known.operations[at.operation].output
	}
	return nil
}

func (c *Client) askSchema(manifest Manifest) (*published, error) {
	at := c.now()
	ctx, cancel := context.WithTimeout(c.lifetime, schemaTimeout)
	defer cancel()
	status, body, err := c.get(ctx, manifest.URL+"/schema")
	if err != nil {
		return nil, err
	}
	if status != http.StatusOK {
		return nil, fmt.Errorf("GET /schema answers with status %d", status)
	}
	operations, err := parsePublished(body, manifest.Operations)
	if err != nil {
		return nil, &schemaError{err}
	}
	return &published{operations: operations, at: at}, nil
}

// schemaError is a /schema that was served and cannot be used: asking again will not help soon.
type schemaError struct{ cause error }

func (e *schemaError) Error() string { return "GET /schema: " + e.cause.Error() }
func (e *schemaError) Unwrap() error { return e.cause }
