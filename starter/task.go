package starter

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"unicode/utf8"

	"go.temporal.io/api/serviceerror"

	"github.com/hermes-orchestrator/hermes/contract"
	"github.com/hermes-orchestrator/hermes/conversation"
	hermesv1 "github.com/hermes-orchestrator/hermes/proto/hermes/v1"
	"github.com/hermes-orchestrator/hermes/tool"
)

// maxSignatureLen bounds a signature header; an Ed25519 one has about 120 characters.
const maxSignatureLen = 1024

// serveComplete is POST /v1/tasks/complete?session_id=…&trace_id=…&tool=…&operation=…&step=…&message_id=…: the signed
// answer of a tool that accepted a call and answers later. The tool does not make the query up: it posts to the URL
// that it was given in X-Hermes-Callback. The body stays as it is, byte for byte: it is signed.
func (s *Server) serveComplete(w http.ResponseWriter, r *http.Request) {
	req, err := completionRequest(w, r)
	if err == nil {
		_, err = s.service.CompleteTask(r.Context(), req)
	}
	if err != nil {
		s.writeError(w, r, err)
		return
	}
	s.writeJSON(w, r, http.StatusAccepted, map[string]string{"status": "accepted"})
}

func completionRequest(w http.ResponseWriter, r *http.Request) (*hermesv1.CompleteTaskRequest, error) {
	r.Body = http.MaxBytesReader(w, r.Body, MaxCompletionBytes)
	readBodyWithin(w, bodyTimeout)
	defer readBodyWithin(w, 0)
	// The client of the tool protocol made the URL, so it reads it, too.
	callback, err := tool.ReadCallback(r)
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		return nil, completionTooLarge()
	case err != nil:
		return nil, err
	}
	done := &callback.Completion
	return &hermesv1.CompleteTaskRequest{
		SessionId: callback.SessionID, TraceId: callback.TraceID, CycleId: r.URL.Query().Get("cycle_id"),
		Tool: done.Tool, Operation: done.Operation, Step: done.Step, MessageId: done.MessageID,
		Status: clamp(int64(done.Status)), Body: done.Body, Signature: done.Signature,
	}, nil
}

func completionTooLarge() error {
	return conversation.Errorf(conversation.CodeTooLarge,
		"the answer has more than %d bytes: keep what is large in the tool, and answer with what the flow needs",
		MaxCompletionBytes)
}

// CompleteTask hands the answer to the conversation in a sealed envelope (signal task_complete). Whether the signature
// verifies is decided there, where the registered keys are; what is decided here is only whether there is one.
//
// Delivering the same answer twice is safe: the envelope's id is made from the call's.
func (s *service) CompleteTask(
	ctx context.Context, req *hermesv1.CompleteTaskRequest,
) (*hermesv1.CompleteTaskResponse, error) {
	if req.GetCycleId() == "" {
		// Each envelope belongs to a cycle; where the callback does not say which, the call itself stands for it.
		req.CycleId = req.GetMessageId()
	}
	if err := checkCompletion(req); err != nil {
		return nil, err
	}
	envelope, err := s.completionEnvelope(req)
	if err != nil {
		return nil, err
	}
	workflowID := conversation.WorkflowID(req.GetSessionId())
	err = s.cfg.Temporal.SignalWorkflow(ctx, workflowID, "", conversation.SignalComplete, envelope)
	if _, ok := errors.AsType[*serviceerror.NotFound](err); ok {
		return nil, conversation.Errorf(conversation.CodeNotFound,
			"session %q has no open conversation: the answer of tool %q is not waited for any more, do not send it again",
			req.GetSessionId(), req.GetTool())
	}
	if err != nil {
		return nil, s.temporalError(ctx, "task_complete", req.GetSessionId(), err)
	}
	return &hermesv1.CompleteTaskResponse{}, nil
}

func checkCompletion(req *hermesv1.CompleteTaskRequest) error {
	if err := checkSession(req.GetSessionId()); err != nil {
		return err
	}
	for _, field := range []struct{ name, value string }{
		{"trace_id", req.GetTraceId()},
		{"cycle_id", req.GetCycleId()},
		{"tool", req.GetTool()},
		{"operation", req.GetOperation()},
		{"step", req.GetStep()},
		{"message_id", req.GetMessageId()},
	} {
		switch {
		case field.value == "":
			return conversation.Errorf(conversation.CodeInvalidArgument,
				"%s is missing: post to the URL of X-Hermes-Callback as it is", field.name)
		case len(field.value) > maxNameLen:
			return conversation.Errorf(conversation.CodeInvalidArgument,
				"%s has %d bytes, at most %d are allowed", field.name, len(field.value), maxNameLen)
		case !utf8.ValidString(field.value):
			return conversation.Errorf(conversation.CodeInvalidUTF8, "%s is not valid UTF-8", field.name)
		}
	}
	status := req.GetStatus()
	switch {
	case status != 0 && (status < 200 || status > 599):
		return conversation.Errorf(conversation.CodeInvalidArgument, "status %d is not that of an HTTP answer", status)
	case req.GetSignature() == "" || len(req.GetSignature()) > maxSignatureLen:
		return conversation.Errorf(conversation.CodeBadSignature,
			"the answer of tool %q has no usable %s: sign it", req.GetTool(), tool.HeaderSignature)
	case len(req.GetBody()) > MaxCompletionBytes:
		return completionTooLarge()
	}
	return nil
}

func (s *Server) completionEnvelope(req *hermesv1.CompleteTaskRequest) (contract.Envelope, error) {
	status := int(req.GetStatus())
	if status == 0 {
		status = http.StatusOK
	}
	var arguments bytes.Buffer
	encoder := json.NewEncoder(&arguments)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(conversation.Completion{
		Tool: req.GetTool(), Operation: req.GetOperation(), Step: req.GetStep(), MessageID: req.GetMessageId(),
		Status: status, Body: req.GetBody(), Signature: req.GetSignature(),
	}); err != nil {
		return contract.Envelope{}, conversation.Errorf(conversation.CodeInvalidArgument, "task_complete: %w", err)
	}
	envelope := contract.Envelope{
		MessageID: "complete:" + req.GetMessageId(),
		Timestamp: s.cfg.Now().UnixMilli(),
		Source:    "tool:" + req.GetTool(),
		Target:    "conversation:" + req.GetSessionId(),
		TraceID:   req.GetTraceId(),
		CycleID:   req.GetCycleId(),
		Payload: contract.Payload{
			Task:    contract.TaskTaskComplete,
			Context: contract.Context{SessionID: req.GetSessionId(), Arguments: arguments.Bytes()},
		},
		Metadata: contract.Metadata{Step: req.GetStep()},
	}
	return envelope, envelope.Seal()
}
