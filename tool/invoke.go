package tool

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"strconv"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/hermes-orchestrator/hermes/conversation"
)

// evidence is a signed answer byte for byte: what a cache keeps, so that it can be verified again.
type evidence struct {
	Tool      string `json:"tool"`
	MessageID string `json:"message_id"`
	Status    int    `json:"status"`
	Signature string `json:"signature"`
	Body      []byte `json:"body"`
}

// call sends one request and judges the answer.
func (c *Client) call(
	ctx context.Context, to endpoint, req Request, async bool,
) (conversation.Answer, evidence, error) {
	name := fmt.Sprintf("tool %q, operation %q", to.manifest.Name, to.operation)
	ctx, cancel := context.WithTimeout(ctx, req.timeout(to.manifest.Operations[to.operation]))
	defer cancel()

	// The schema comes first: a write whose answer could not be checked would leave its outcome unknown.
	says, err := c.published(ctx, to, schemaMaxAge)
	if err != nil {
		code := conversation.CodeToolUnavailable
		if _, ok := errors.AsType[*schemaError](err); ok {
			code = conversation.CodeToolMisbehaved
		}
		return conversation.Answer{}, evidence{}, notSent(code, err, "%s: its schema cannot be had: %s", name,
			reasonOf(err))
	}
	if problem := says.operations[to.operation].problem; problem != nil {
		return conversation.Answer{}, evidence{}, notSent(conversation.CodeToolMisbehaved, problem,
			"%s: GET /schema: %s", name, problem)
	}

	async = async && c.callbackURL != ""
	request, wrote, err := c.request(ctx, to, req, async)
	if err != nil {
		return conversation.Answer{}, evidence{}, notSent(conversation.CodeInvalidArgument, err,
			"%s: the request cannot be made", name)
	}
	status, header, body, err := c.send(request, MaxAnswerBytes)
	switch {
	case errors.Is(err, errTooLarge) && !(status >= 500 && len(header.Values(HeaderSignature)) == 0):
		return conversation.Answer{}, evidence{}, conversation.Errorf(conversation.CodeToolMisbehaved,
			"%s: the answer has more than %d bytes", name, MaxAnswerBytes)
	case err != nil && !errors.Is(err, errTooLarge):
		if !wrote.Load() {
			return conversation.Answer{}, evidence{}, notSent(conversation.CodeToolUnavailable, err, "%s: %s", name,
				networkReason(err))
		}
		return conversation.Answer{}, evidence{}, conversation.Errorf(conversation.CodeToolUnavailable, "%s: %w", name,
			&concealed{text: networkReason(err), causes: []error{err}})
	}
	a := arrived{
		to: to, step: req.Call.Step, messageID: req.MessageID, status: status,
		signatures: header.Values(HeaderSignature), body: body, mayProcess: async,
	}
	return c.judge(ctx, a)
}

func (c *Client) request(
	ctx context.Context, to endpoint, req Request, async bool,
) (*http.Request, *atomic.Bool, error) {
	wrote := new(atomic.Bool)
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{WroteHeaders: func() { wrote.Store(true) }})
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, to.manifest.URL+InvokePath(to.operation),
		bytes.NewReader(req.arguments()))
	if err != nil {
		return nil, nil, err
	}
	set := func(name, value string) {
		if value != "" {
			request.Header.Set(name, value)
		}
	}
	set("Content-Type", "application/json")
	set("Accept", "application/json")
	set("User-Agent", "hermes")
	set(HeaderMessageID, req.MessageID)
	set(HeaderTraceID, req.TraceID)
	set(HeaderCycleID, req.CycleID)
	set(HeaderSessionID, req.SessionID)
	set(HeaderIdempotencyKey, req.idempotencyKey())
	set(HeaderSnapshot, req.Snapshot)
	set(HeaderFiles, c.filesURL)
	if deadline, ok := ctx.Deadline(); ok {
		set(HeaderTimeoutMS, strconv.FormatInt(max(1, time.Until(deadline).Milliseconds()), 10))
	}
	if async {
		set(HeaderPrefer, PreferAsync)
		set(HeaderCallback, callbackURL(c.callbackURL, to, req))
	}
	return request, wrote, nil
}

// errTooLarge comes with status and header of an answer whose body is over its limit.
var errTooLarge = errors.New("the answer is too large")

func (c *Client) send(request *http.Request, limit int64) (int, http.Header, []byte, error) {
	response, err := c.http.Do(request)
	if err != nil {
		return 0, nil, nil, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, limit+1))
	if err == nil && int64(len(body)) > limit {
		err = errTooLarge
	}
	return response.StatusCode, response.Header, body, err
}

func (c *Client) get(ctx context.Context, url string) (int, []byte, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return 0, nil, err
	}
	request.Header.Set("Accept", "application/json")
	request.Header.Set("User-Agent", "hermes")
	status, _, body, err := c.send(request, MaxDocumentBytes)
	return status, body, err
}

// reasonOf is the text of an error about /schema, without internal addresses.
func reasonOf(err error) string {
	if unusable, ok := errors.AsType[*schemaError](err); ok {
		return unusable.Error()
	}
	return networkReason(err)
}

// networkReason says what happened on the way to a tool, without internal addresses.
func networkReason(err error) string {
	var (
		dns     *net.DNSError
		timeout net.Error
	)
	switch {
	case errors.Is(err, context.Canceled):
		return "the call was cancelled"
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &timeout) && timeout.Timeout():
		return "no answer within the time limit"
	case errors.As(err, &dns):
		return "the host name does not resolve"
	case errors.Is(err, syscall.ECONNREFUSED):
		return "the connection was refused"
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return "the connection broke before the answer was complete"
	case errors.Is(err, errTooLarge):
		return "the answer is too large"
	}
	return "the connection does not work"
}
