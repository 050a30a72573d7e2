package tool

import (
	"context"
	"encoding/json"
	"time"

	"github.com/hermes-orchestrator/hermes/conversation"
)

// Fallback returns what stands in for a call that cannot be asked or has failed for good (SPEC T3). The answer says so:
// Degraded holds the strategy, the given reason and, for a cached answer, when it was good. It carries no proof, so
// nothing can be written to long-term memory on its account.
//
// Errors: CodeUnknownTool; CodeInvalidArgument; CodeToolUnavailable if there is no fallback, or no cached answer that
// is not stale; CodeBadSignature and CodeToolMisbehaved as for Invoke.
func (c *Client) Fallback(ctx context.Context, req Request, reason string) (conversation.Answer, error) {
	manifest, operation, err := c.registry.Lookup(req.Call.Tool, req.Call.Operation)
	if err != nil {
		return conversation.Answer{}, err
	}
	var answer conversation.Answer
	degraded := conversation.Degraded{
		Component: "tool:" + req.Call.Tool, Strategy: operation.Fallback.Strategy, Reason: reason,
	}
	if err = req.check(operation); err == nil {
		answer, err = c.standIn(ctx, req, endpoint{manifest: manifest, operation: req.Call.Operation}, operation,
			&degraded)
	}
	c.metrics.fallback(req.Call.Tool, req.Call.Operation, operation.Fallback.Strategy, err)
	c.report(ctx, req, endpoint{manifest: manifest}, err)
	if err != nil {
		return conversation.Answer{}, err
	}
	answer.Proof, answer.Degraded = nil, &degraded
	return answer, nil
}

func (c *Client) standIn(
	ctx context.Context, req Request, primary endpoint, operation Operation, degraded *conversation.Degraded,
) (conversation.Answer, error) {
	strategy := operation.Fallback.Strategy
	// The registry refuses these already; that a write looks done which is not must not depend on one check.
	if operation.Effect == EffectWrite && strategy != FallbackProxy {
		strategy = FallbackNone
	}
	switch strategy {
	case FallbackCache:
		answer, at, err := c.recall(ctx, req, primary.manifest, operation)
		degraded.AsOf = at.UTC().Format(time.RFC3339)
		return answer, err
	case FallbackMock:
		return c.mock(req, primary, operation)
	case FallbackProxy:
		proxy, ok := c.registry.proxy(primary.manifest, operation)
		if !ok {
			break
		}
		answer, _, err := c.call(ctx, endpoint{manifest: proxy, operation: req.Call.Operation}, req, false)
		return answer, err
	}
	return conversation.Answer{}, notSent(conversation.CodeToolUnavailable, nil,
		"tool %q, operation %q has no fallback", req.Call.Tool, req.Call.Operation)
}

// recall returns the last good answer. It is verified like one that has just arrived: whoever can write to the cache
// still cannot make up an answer.
func (c *Client) recall(
	ctx context.Context, req Request, primary Manifest, operation Operation,
) (conversation.Answer, time.Time, error) {
	var none conversation.Answer
	key, err := cacheKey(req)
	if err != nil {
		return none, time.Time{}, err
	}
	data, at, found, err := c.cache.Get(ctx, key)
	switch age := c.now().Sub(at); {
	case err != nil:
		return none, at, conversation.Errorf(conversation.CodeToolUnavailable,
			"tool %q, operation %q: the cache of answers does not answer: %w", req.Call.Tool, req.Call.Operation, err)
	case !found:
		return none, at, conversation.Errorf(conversation.CodeToolUnavailable,
			"tool %q, operation %q: there is no earlier answer to this question", req.Call.Tool, req.Call.Operation)
	case age >= operation.Fallback.StaleAfter:
		return none, at, conversation.Errorf(conversation.CodeToolUnavailable,
			"tool %q, operation %q: the last good answer is %s old, it may be used for %s", req.Call.Tool,
			req.Call.Operation, age.Round(time.Second), operation.Fallback.StaleAfter)
	}
	var e evidence
	if err := json.Unmarshal(data, &e); err != nil || (e.Tool != primary.Name && e.Tool != primary.Alternate) {
		return none, at, conversation.Errorf(conversation.CodeToolUnavailable,
			"tool %q, operation %q: the kept answer cannot be read", req.Call.Tool, req.Call.Operation)
	}
	manifest, _, err := c.registry.Lookup(e.Tool, req.Call.Operation)
	if err != nil {
		return none, at, err
	}
	a := arrived{
		to: endpoint{manifest: manifest, operation: req.Call.Operation}, step: req.Call.Step, messageID: e.MessageID,
		status: e.Status, signatures: []string{e.Signature}, body: e.Body,
	}
	if _, err := manifest.Verify(a.signatures, a.messageID, a.status, a.body); err != nil {
		return none, at, a.errorf(conversation.CodeBadSignature, "the kept answer: %v", messageOf(err))
	}
	answer, err := a.parse()
	answer.MessageID = req.MessageID
	return answer, at, err
}

// mock returns the pre-set answer. Whether it complies is checked where the tool's schema is known; asking a tool that
// is down for it would help nobody.
func (c *Client) mock(req Request, primary endpoint, operation Operation) (conversation.Answer, error) {
	if known := c.knownSchema(primary); known != nil {
		if err := known.Validate(operation.Fallback.Answer); err != nil {
			return conversation.Answer{}, conversation.Errorf(conversation.CodeInvalidConfig,
				"tool %q, operation %q: the mock answer of its manifest does not fit its schema: %w", req.Call.Tool,
				req.Call.Operation, err)
		}
	}
	return conversation.Answer{
		Step: req.Call.Step, Tool: req.Call.Tool, Operation: req.Call.Operation, MessageID: req.MessageID,
		Status: conversation.AnswerOK, Output: operation.Fallback.Answer,
	}, nil
}
