package tool

import (
	"context"
	"encoding/json"
	"time"
)

// asyncAfter is the expected time above which a call that can be answered later is.
const asyncAfter = time.Second

// Capability is what planning needs to know of an operation at this moment.
type Capability struct {
	Effect      string // EffectRead or EffectWrite.
	TimeoutMS   int64  // Of one attempt.
	MaxAttempts int32
	BackoffMS   int64
	// Fallback says that Client.Fallback has something for this operation.
	Fallback bool
	// Async says that the call is expected to take more than 1 s and can be answered later.
	Async bool
	// Unhealthy is the reason why neither the tool nor its alternate should be asked now, or empty.
	Unhealthy string
}

// Capability reads a health snapshot, at most 2 s old, of the tool and where needed of its alternate (SPEC T1), and
// says how the operation is to be called with these arguments. The only error is CodeUnknownTool: a tool that does not
// answer is Unhealthy.
func (c *Client) Capability(
	ctx context.Context, tool, operation string, arguments json.RawMessage,
) (Capability, error) {
	manifest, o, err := c.registry.Lookup(tool, operation)
	if err != nil {
		return Capability{}, err
	}
	capability := Capability{
		Effect: o.Effect, TimeoutMS: o.Timeout.Milliseconds(), MaxAttempts: o.MaxAttempts,
		BackoffMS: o.Backoff.Milliseconds(), Fallback: o.Fallback.Strategy != FallbackNone,
	}
	health, err := c.Health(ctx, tool)
	if err != nil {
		capability.Unhealthy = "its health could not be asked in time"
		return capability, nil //nolint:nilerr // That it cannot be asked is the answer.
	}
	capability.Unhealthy = health.Unhealthy(manifest.LatencyLimit)
	if alternate, ok := c.alternate(endpoint{manifest: manifest, operation: operation}, o); ok &&
		capability.Unhealthy != "" {
		other, err := c.Health(ctx, alternate.manifest.Name)
		if err == nil && other.Unhealthy(alternate.manifest.LatencyLimit) == "" {
			capability.Unhealthy, health = "", other
		}
	}
	expected := health.Latency() * time.Duration(batchLength(o, arguments))
	capability.Async = o.Async && c.callbackURL != "" && capability.Unhealthy == "" && expected > asyncAfter
	return capability, nil
}

// batchLength is how many items the call is about: the length of the argument that the manifest names, otherwise one.
func batchLength(o Operation, arguments json.RawMessage) int {
	if o.Batch == "" {
		return 1
	}
	var named map[string]json.RawMessage
	if json.Unmarshal(arguments, &named) != nil {
		return 1
	}
	var items []json.RawMessage
	if json.Unmarshal(named[o.Batch], &items) != nil {
		return 1
	}
	return len(items)
}
