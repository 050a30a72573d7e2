package server

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"github.com/hermes-orchestrator/hermes/conversation"
	"github.com/hermes-orchestrator/hermes/tool"
)

// serveInvoke checks a call, and carries it out now or accepts it for later.
func (s *Server) serveInvoke(w http.ResponseWriter, r *http.Request, name string) {
	operation, ok := s.operations[name]
	if !ok {
		s.refuse(w, r, fail(http.StatusNotFound, CodeNotFound, false, "operation %q: this tool does not have it",
			conversation.Clip(name, 80)))
		return
	}
	call, timeout, refused := s.read(w, r, operation)
	if refused != nil {
		s.refuse(w, r, refused)
		return
	}
	if callback := callbackOf(r); callback != "" && operation.Async {
		status, body := s.accept(operation, call, callback, timeout)
		if status == http.StatusAccepted {
			w.Header().Set("Preference-Applied", tool.PreferAsync)
		}
		s.write(w, r, status, body)
		return
	}
	ctx := r.Context()
	if timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, timeout)
		defer cancel()
	}
	status, body := s.run(ctx, operation, call)
	s.write(w, r, status, body)
}

// read makes a Call of a request whose arguments fit the schema. A timeout of zero means none.
func (s *Server) read(w http.ResponseWriter, r *http.Request, operation compiled) (*Call, time.Duration, *failure) {
	header := r.Header.Get
	if header(tool.HeaderMessageID) == "" {
		return nil, 0, fail(http.StatusBadRequest, CodeInvalidArgument, false,
			"header %s is missing: the answer's signature covers it", tool.HeaderMessageID)
	}
	if operation.Effect == tool.EffectWrite && header(tool.HeaderIdempotencyKey) == "" {
		return nil, 0, fail(http.StatusBadRequest, CodeInvalidArgument, false,
			"header %s is missing: a write operation happens once per key", tool.HeaderIdempotencyKey)
	}
	var timeout time.Duration
	if text := header(tool.HeaderTimeoutMS); text != "" {
		ms, err := strconv.ParseInt(text, 10, 32)
		if err != nil || ms <= 0 {
			return nil, 0, fail(http.StatusBadRequest, CodeInvalidArgument, false,
				"header %s %q is not a number of milliseconds from 1", tool.HeaderTimeoutMS,
				conversation.Clip(text, 40))
		}
		timeout = time.Duration(ms) * time.Millisecond
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, tool.MaxAnswerBytes))
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		return nil, 0, fail(http.StatusRequestEntityTooLarge, CodeTooLarge, false,
			"the arguments have more than %d bytes", tool.MaxAnswerBytes)
	case err != nil:
		return nil, 0, fail(http.StatusBadRequest, CodeInvalidArgument, true, "the arguments ended early")
	case !bytes.HasPrefix(bytes.TrimLeft(body, " \t\r\n"), []byte("{")):
		return nil, 0, fail(http.StatusBadRequest, CodeInvalidArgument, false, "the arguments are not a JSON object")
	}
	if err := operation.input.Validate(body); err != nil {
		return nil, 0, fail(http.StatusBadRequest, CodeInvalidArgument, false,
			"the arguments do not fit the schema of operation %q: %v", operation.Name, err)
	}
	return &Call{
		Operation: operation.Name, MessageID: header(tool.HeaderMessageID), TraceID: header(tool.HeaderTraceID),
		CycleID: header(tool.HeaderCycleID), SessionID: header(tool.HeaderSessionID),
		IdempotencyKey: header(tool.HeaderIdempotencyKey), Arguments: body,
		snapshot: header(tool.HeaderSnapshot), files: header(tool.HeaderFiles), client: s.config.HTTP, now: s.config.Now,
	}, timeout, nil
}

// callbackOf is where a late answer is wanted, or empty if it is not.
func callbackOf(r *http.Request) string {
	wanted := false
	for _, value := range r.Header.Values(tool.HeaderPrefer) {
		for preference := range strings.SplitSeq(value, ",") {
			name, _, _ := strings.Cut(preference, ";")
			wanted = wanted || strings.EqualFold(strings.TrimSpace(name), tool.PreferAsync)
		}
	}
	u, err := url.Parse(r.Header.Get(tool.HeaderCallback))
	if !wanted || err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" {
		return ""
	}
	return u.String()
}

// run carries out a call and returns status and body of the answer.
func (s *Server) run(ctx context.Context, operation compiled, call *Call) (int, []byte) {
	meter := startMeter(s.config.Now)
	result, err := s.handle(ctx, operation, call)
	var output json.RawMessage
	if err == nil {
		output, err = s.output(operation, call, result)
	}
	took := meter.stop(call)
	status, body := http.StatusOK, []byte(nil)
	if err == nil {
		body, err = answerBody(output, result, took)
	}
	if err != nil {
		f := s.failure(ctx, operation, call, err)
		status, body = f.status, failureBody(f, took)
	}
	// A caller who went away says nothing about the tool.
	if !errors.Is(ctx.Err(), context.Canceled) {
		s.stats.add(operation.Name, took.time, call.items(operation.Batch), status >= http.StatusInternalServerError)
	}
	s.logger.InfoContext(ctx, "call answered", "operation", operation.Name, "message_id", call.MessageID,
		"trace_id", call.TraceID, "status", status, "ms", took.time.Milliseconds())
	return status, body
}

// errPanic is a handler that panicked; the log has what it said.
var errPanic = errors.New("panic in the operation")

func (s *Server) handle(ctx context.Context, operation compiled, call *Call) (result *Result, err error) {
	defer func() {
		if recovered := recover(); recovered != nil {
			s.logger.ErrorContext(ctx, "operation panicked", "operation", operation.Name, "message_id", call.MessageID,
				"panic", recovered, "stack", string(debug.Stack()))
			result, err = nil, errPanic
		}
	}()
	return operation.Handle(ctx, call)
}

// output marshals what a handler returned and checks it against the schema that /schema promises.
func (s *Server) output(operation compiled, call *Call, result *Result) (json.RawMessage, error) {
	if result == nil {
		return nil, errors.New("the operation returned neither a result nor an error")
	}
	if result.Confidence < 0 || result.Confidence > 1 || result.Confidence != result.Confidence {
		return nil, errors.New("the operation returned a confidence that is not between 0 and 1")
	}
	output, err := marshal(result.Output)
	if err != nil {
		return nil, err
	}
	if err := operation.output.Validate(output); err != nil {
		s.logger.Error("output does not fit the schema", "operation", operation.Name, "message_id", call.MessageID,
			"error", err)
		return nil, fail(http.StatusInternalServerError, CodeInternal, false,
			"the output of operation %q does not fit its schema: %v", operation.Name, err)
	}
	return output, nil
}

// failure is what the caller is told of err. Only what an operation says with Fail leaves the tool.
func (s *Server) failure(ctx context.Context, operation compiled, call *Call, err error) *failure {
	if f, ok := failureOf(err); ok {
		return f
	}
	s.logger.ErrorContext(ctx, "operation ended with an error", "operation", operation.Name, "message_id",
		call.MessageID, "error", err)
	if ctx.Err() != nil {
		return fail(http.StatusGatewayTimeout, CodeTimeout, true,
			"operation %q did not end within the time limit of the call", operation.Name)
	}
	return fail(http.StatusInternalServerError, CodeInternal, true, "operation %q ended with an error inside the tool",
		operation.Name)
}

func answerBody(output json.RawMessage, result *Result, took measured) ([]byte, error) {
	diagnostics := took.diagnostics()
	if result.Confidence > 0 {
		diagnostics.ConfidenceScore = result.Confidence
	}
	body, err := marshal(tool.AnswerBody{
		Status: conversation.AnswerOK, Output: output, VerificationSteps: result.VerificationSteps,
		Diagnostics: &diagnostics,
	})
	if err == nil && len(body) > tool.MaxAnswerBytes {
		return nil, fail(http.StatusInternalServerError, CodeInternal, false,
			"the answer has %d bytes, at most %d are allowed", len(body), tool.MaxAnswerBytes)
	}
	return body, err
}

func failureBody(f *failure, took measured) []byte {
	diagnostics := took.diagnostics()
	body, err := marshal(tool.ErrorBody{Error: f.detail, Diagnostics: &diagnostics})
	if err != nil { // Strings and figures always can be written.
		return []byte(`{"error":{"code":"internal","message":"","retryable":true}}`)
	}
	return body
}

// marshal writes JSON as people read it: no escapes for <, > and &.
func marshal(v any) ([]byte, error) {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(out.Bytes(), []byte("\n")), nil
}
