package tool

import (
	"context"
	"encoding/base64"
	"io"
	"net/http"
	"net/url"
	"strconv"

	"github.com/hermes-orchestrator/hermes/conversation"
)

// Query of a callback URL: what the receiver must know and the tool need not.
const (
	queryTool      = "tool"
	queryOperation = "operation"
	queryStep      = "step"
	querySession   = "session_id"
	queryTrace     = "trace_id"
	queryMessage   = "message_id"
)

// callbackURL tells the tool where to deliver, and the receiver whose answer it is.
func callbackURL(base string, to endpoint, req Request) string {
	q := url.Values{}
	q.Set(queryTool, to.manifest.Name)
	q.Set(queryOperation, to.operation)
	q.Set(queryStep, req.Call.Step)
	q.Set(querySession, req.SessionID)
	q.Set(queryTrace, req.TraceID)
	q.Set(queryMessage, req.MessageID)
	return base + "?" + q.Encode()
}

// Callback is a tool's delivery of the answer to a call that it had accepted, and whose call it was.
type Callback struct {
	SessionID  string
	TraceID    string
	Completion conversation.Completion
}

// ReadCallback reads what a tool POSTs to the callback URL that Client.Invoke gave it. Nothing of it is verified yet:
// that is done by VerifyCompletion, in the conversation that waits for it. Answer the tool with 2xx once the completion
// has been handed on, otherwise it delivers again. Errors: CodeInvalidArgument, CodeTooLarge.
func ReadCallback(r *http.Request) (Callback, error) {
	q := r.URL.Query()
	callback := Callback{
		SessionID: q.Get(querySession), TraceID: q.Get(queryTrace),
		Completion: conversation.Completion{
			Tool: q.Get(queryTool), Operation: q.Get(queryOperation), Step: q.Get(queryStep),
			MessageID: r.Header.Get(HeaderMessageID), Status: http.StatusOK, Signature: r.Header.Get(HeaderSignature),
		},
	}
	done := &callback.Completion
	if text := r.Header.Get(HeaderStatus); text != "" {
		status, err := strconv.Atoi(text)
		if err != nil || status < 200 || status > 599 {
			return Callback{}, conversation.Errorf(conversation.CodeInvalidArgument, "%s %q is not an HTTP status",
				HeaderStatus, conversation.Clip(text, 40))
		}
		done.Status = status
	}
	switch {
	case callback.SessionID == "" || done.Tool == "" || done.Operation == "":
		return Callback{}, conversation.Errorf(conversation.CodeInvalidArgument,
			"the callback has no %s, %s or %s: POST to the URL of %s unchanged", querySession, queryTool,
			queryOperation, HeaderCallback)
	case done.MessageID == "" || done.MessageID != q.Get(queryMessage):
		return Callback{}, conversation.Errorf(conversation.CodeInvalidArgument,
			"%s %q is not the message id of the call (%q)", HeaderMessageID, conversation.Clip(done.MessageID, 80),
			conversation.Clip(q.Get(queryMessage), 80))
	case done.Signature == "" || len(r.Header.Values(HeaderSignature)) != 1:
		return Callback{}, conversation.Errorf(conversation.CodeInvalidArgument, "%s is needed exactly once",
			HeaderSignature)
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, MaxAnswerBytes+1))
	if err != nil {
		return Callback{}, conversation.Errorf(conversation.CodeInvalidArgument,
			"the body of the callback of tool %q ended early: %w", conversation.Clip(done.Tool, 80), err)
	}
	if len(body) > MaxAnswerBytes {
		return Callback{}, conversation.Errorf(conversation.CodeTooLarge,
			"the body of the callback of tool %q has more than %d bytes", conversation.Clip(done.Tool, 80),
			MaxAnswerBytes)
	}
	done.Body = body
	return callback, nil
}

// VerifyCompletion verifies the late answer of a tool exactly like Invoke an immediate one: signature, protocol, the
// tool's own schema. A Status of zero means 200. Errors are those of Invoke; a completion of 4xx or 5xx is the tool's
// signed word that it could not finish.
func (c *Client) VerifyCompletion(completion conversation.Completion) (conversation.Answer, error) {
	manifest, _, err := c.registry.Lookup(completion.Tool, completion.Operation)
	if err != nil {
		return conversation.Answer{}, err
	}
	// The schema is at hand, as the call needed it; it is asked for again only in a process that is new.
	ctx, cancel := context.WithTimeout(c.lifetime, schemaTimeout)
	defer cancel()
	a := arrived{
		to:   endpoint{manifest: manifest, operation: completion.Operation},
		step: completion.Step, messageID: completion.MessageID, status: completion.Status, body: completion.Body,
	}
	if completion.Signature != "" {
		a.signatures = []string{completion.Signature}
	}
	if a.status == 0 {
		a.status = http.StatusOK
	}
	var answer conversation.Answer
	if len(a.signatures) == 0 {
		// No proxy stands between a tool and its callback: what is not signed is not the tool's.
		err = a.errorf(conversation.CodeBadSignature, "the completion is not signed")
	} else {
		answer, _, err = c.judge(ctx, a)
	}
	c.report(ctx, Request{
		Call: conversation.ToolCall{
			Tool:      completion.Tool,
			Operation: completion.Operation,
		}, MessageID: completion.MessageID,
	}, a.to, err)
	return answer, err
}

// CheckProof verifies once more, with the keys registered now, that a tool gave the answer that a proof stands for
// (SPEC M3). Errors: CodeUnknownTool, CodeBadSignature.
func (c *Client) CheckProof(proof conversation.Proof) error {
	manifest, err := c.registry.manifest(proof.Tool)
	if err != nil {
		return err
	}
	if proof.Status != http.StatusOK {
		return badSignature("tool %q: a proof is of status %d, not %d", proof.Tool, http.StatusOK, proof.Status)
	}
	s := Signature{KeyID: proof.KeyID}
	decoded, err := base64.RawURLEncoding.Strict().DecodeString(proof.Signature)
	if err != nil || len(decoded) != len(s.Bytes) {
		return badSignature("tool %q: the signature of the proof is not the base64url of %d bytes", proof.Tool,
			len(s.Bytes))
	}
	copy(s.Bytes[:], decoded)
	return manifest.verify(s, proof.MessageID, proof.Status, proof.Digest)
}
