package tool

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"github.com/hermes-orchestrator/hermes/conversation"
)

// Statuses of a Health.
const (
	StatusOK       = "ok"
	StatusDegraded = "degraded" // Slower or less reliable than it should be; figures decide whether it is asked.
	StatusDown     = "down"
)

// MinSuccessRate is the share of successful calls under which a tool counts as unhealthy (SPEC T1).
const MinSuccessRate = 0.95

const (
	healthTimeout = 2 * time.Second
	healthMaxAge  = 2 * time.Second
)

// Health is the structured heartbeat of a tool (SPEC T1): the body of GET /health.
type Health struct {
	Status string `json:"status"`
	// LatencyMS is the usual time of one call, for a batch operation of one item, in milliseconds.
	LatencyMS float64 `json:"latency_ms"`
	// SuccessRate is the share of recent calls that succeeded, 0–1. Calls that the tool refused (4xx) do not count.
	SuccessRate float64 `json:"success_rate"`
	// QuotaRemaining is how many calls are left; nil if there is no quota.
	QuotaRemaining *int64 `json:"quota_remaining,omitempty"`
	Detail         string `json:"detail,omitempty"`
	// At is when the client asked. It is not part of the body.
	At time.Time `json:"-"`
}

// Latency is LatencyMS as a duration.
func (h Health) Latency() time.Duration {
	return time.Duration(h.LatencyMS * float64(time.Millisecond))
}

// Unhealthy says in words why the tool should not be asked now, or nothing if it may be.
func (h Health) Unhealthy(latencyLimit time.Duration) string {
	detail := ""
	if h.Detail != "" {
		detail = " (" + conversation.Clip(h.Detail, 200) + ")"
	}
	switch {
	case h.Status == StatusDown:
		return "status is down" + detail
	case h.QuotaRemaining != nil && *h.QuotaRemaining <= 0:
		return "quota is used up" + detail
	case h.Latency() > latencyLimit:
		return fmt.Sprintf("latency %s is over %s%s", h.Latency().Round(time.Millisecond), latencyLimit, detail)
	case h.SuccessRate < MinSuccessRate:
		return fmt.Sprintf("success rate %.1f%% is under %.0f%%%s", 100*h.SuccessRate, 100*MinSuccessRate, detail)
	}
	return ""
}

// parseHealth reads the body of /health. A heartbeat that lacks a figure is no heartbeat.
func parseHealth(data []byte) (Health, string) {
	var body struct {
		Status         string   `json:"status"`
		LatencyMS      *float64 `json:"latency_ms"`
		SuccessRate    *float64 `json:"success_rate"`
		QuotaRemaining *int64   `json:"quota_remaining"`
		Detail         string   `json:"detail"`
	}
	if err := json.Unmarshal(data, &body); err != nil {
		return Health{}, "GET /health is not a JSON object of the protocol"
	}
	switch {
	case body.Status != StatusOK && body.Status != StatusDegraded && body.Status != StatusDown:
		return Health{}, fmt.Sprintf("GET /health has status %q, not ok, degraded or down",
			conversation.Clip(body.Status, 40))
	case body.LatencyMS == nil || *body.LatencyMS < 0 || *body.LatencyMS > float64(24*time.Hour/time.Millisecond):
		return Health{}, "GET /health has no usable latency_ms"
	case body.SuccessRate == nil || *body.SuccessRate < 0 || *body.SuccessRate > 1:
		return Health{}, "GET /health has no success_rate between 0 and 1"
	}
	return Health{
		Status: body.Status, LatencyMS: *body.LatencyMS, SuccessRate: *body.SuccessRate,
		QuotaRemaining: body.QuotaRemaining, Detail: body.Detail,
	}, ""
}

// Health returns the heartbeat of a tool, at most 2 s old; callers at the same time share one request. A tool that does
// not answer within 2 s, or with something else, is StatusDown with the reason as Detail, which is not an error: errors
// are CodeUnknownTool, and CodeToolUnavailable when ctx ends first.
func (c *Client) Health(ctx context.Context, tool string) (Health, error) {
	manifest, err := c.registry.manifest(tool)
	if err != nil {
		return Health{}, err
	}
	if h, ok := c.cachedHealth(tool); ok {
		return h, nil
	}
	flight := c.flights.DoChan("health "+tool, func() (any, error) {
		// Another flight may have landed since the cache was looked at.
		if h, ok := c.cachedHealth(tool); ok {
			return h, nil
		}
		h := c.askHealth(manifest)
		c.mu.Lock()
		defer c.mu.Unlock()
		c.health[tool] = h
		return h, nil
	})
	select {
	case result := <-flight:
		h, _ := result.Val.(Health)
		return h, nil
	case <-ctx.Done():
		return Health{}, conversation.Errorf(conversation.CodeToolUnavailable, "health of tool %q: %w", tool, ctx.Err())
	}
}

func (c *Client) cachedHealth(tool string) (Health, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	h, ok := c.health[tool]
	age := c.now().Sub(h.At)
	return h, ok && age >= 0 && age <= healthMaxAge
}

// askHealth belongs to no caller, so that one who gives up does not fail the others.
func (c *Client) askHealth(manifest Manifest) Health {
	at := c.now()
	ctx, cancel := context.WithTimeout(c.lifetime, healthTimeout)
	defer cancel()
	status, body, err := c.get(ctx, manifest.URL+"/health")
	var h Health
	var reason string
	switch {
	case err != nil:
		reason = "GET /health: " + networkReason(err)
		c.logger.WarnContext(ctx, "tool does not answer its health check", "tool", manifest.Name, "error", err)
	case status != http.StatusOK:
		reason = fmt.Sprintf("GET /health answers with status %d", status)
	default:
		h, reason = parseHealth(body)
	}
	if reason != "" {
		h = Health{Status: StatusDown, Detail: reason}
	}
	h.At = at
	return h
}
