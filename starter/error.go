package starter

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/hermes-orchestrator/hermes/conversation"
	hermesv1 "github.com/hermes-orchestrator/hermes/proto/hermes/v1"
)

// transport is the one table between codes and what the two transports call them.
func transport(code conversation.Code) (httpStatus int, grpcCode codes.Code) {
	switch code {
	case conversation.CodeInvalidArgument, conversation.CodeInvalidUTF8, conversation.CodeEmptyUpload,
		conversation.CodeMalformedEnvelope:
		return http.StatusBadRequest, codes.InvalidArgument
	case conversation.CodeBadSignature:
		return http.StatusUnauthorized, codes.Unauthenticated
	case conversation.CodeNotFound, conversation.CodeUnknownFlow, conversation.CodeUnknownTool:
		return http.StatusNotFound, codes.NotFound
	case conversation.CodeConflict:
		return http.StatusConflict, codes.Aborted
	case conversation.CodeDuplicate:
		return http.StatusConflict, codes.AlreadyExists
	case conversation.CodeEventNotAdmitted, conversation.CodeReceiptInvalid, conversation.CodeUnverified:
		return http.StatusConflict, codes.FailedPrecondition
	case conversation.CodeConversationEnded:
		return http.StatusGone, codes.FailedPrecondition
	case conversation.CodeTooLarge:
		return http.StatusRequestEntityTooLarge, codes.ResourceExhausted
	case conversation.CodeUnsupportedMedia:
		return http.StatusUnsupportedMediaType, codes.InvalidArgument
	case conversation.CodeInvalidFlow, conversation.CodeToolRefused:
		return http.StatusUnprocessableEntity, codes.FailedPrecondition
	case conversation.CodeToolMisbehaved:
		return http.StatusBadGateway, codes.Internal
	case conversation.CodeOutcomeUnknown:
		return http.StatusGatewayTimeout, codes.Unknown
	case conversation.CodeToolUnavailable, conversation.CodeMemoryUnavailable, conversation.CodeUnavailable:
		return http.StatusServiceUnavailable, codes.Unavailable
	case conversation.CodeNoOpenCycle, conversation.CodeMemoryFirst, conversation.CodeSingleWrite,
		conversation.CodeCycleBroken, conversation.CodeInvalidConfig, conversation.CodeInternal:
		return http.StatusInternalServerError, codes.Internal
	}
	return http.StatusInternalServerError, codes.Internal
}

// HTTPStatus returns the HTTP status of a code. A code that is not of the closed set gets 500.
func HTTPStatus(code conversation.Code) int {
	httpStatus, _ := transport(code)
	return httpStatus
}

// GRPCCode returns the gRPC code of a code. A code that is not of the closed set gets codes.Internal.
func GRPCCode(code conversation.Code) codes.Code {
	_, grpcCode := transport(code)
	return grpcCode
}

// coded returns what a client is told of err. A message without a code was not written for clients: it is replaced,
// and the log has it.
func (s *Server) coded(ctx context.Context, err error) *conversation.Error {
	if known, ok := errors.AsType[*conversation.Error](err); ok {
		return known
	}
	if code, message, ok := fromStatus(err); ok {
		return conversation.Errorf(code, "%s", message)
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return conversation.Errorf(conversation.CodeUnavailable,
			"the request ended before there was an answer: send it again")
	}
	s.cfg.Logger.ErrorContext(ctx, "error without a code", "error", err)
	return conversation.Errorf(conversation.CodeInternal, "an internal error occurred: the server's log has it")
}

// fromStatus reads the errors that grpc-gateway makes itself: they have a gRPC code and a message for clients.
func fromStatus(err error) (conversation.Code, string, bool) {
	st, ok := status.FromError(err)
	if !ok {
		return "", "", false
	}
	message := strings.ReplaceAll(st.Message(), "\u00a0", " ") // protojson writes either, on purpose.
	switch st.Code() {
	case codes.InvalidArgument:
		return conversation.CodeInvalidArgument, strings.TrimPrefix(message, "proto: "), true
	case codes.NotFound, codes.Unimplemented:
		return conversation.CodeNotFound, message, true
	default:
		return "", "", false
	}
}

// writeError answers an HTTP request with err: {"error":{"code":"…","message":"…"}}.
func (s *Server) writeError(w http.ResponseWriter, r *http.Request, err error) {
	known := s.coded(r.Context(), err)
	s.writeErrorStatus(w, r, HTTPStatus(known.Code), known)
}

func (s *Server) writeErrorStatus(w http.ResponseWriter, r *http.Request, httpStatus int, err *conversation.Error) {
	if err.Code.Retryable() {
		w.Header().Set("Retry-After", "1")
	}
	s.writeJSON(w, r, httpStatus, map[string]*conversation.Error{"error": err})
}

func (s *Server) writeJSON(w http.ResponseWriter, r *http.Request, httpStatus int, body any) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(httpStatus)
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(body); err != nil {
		s.cfg.Logger.DebugContext(r.Context(), "answer not written: the client has gone", "error", err)
	}
}

// grpcError makes the gRPC form of err, with the code as detail.
func (s *Server) grpcError(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	known := s.coded(ctx, err)
	st := status.New(GRPCCode(known.Code), known.Message)
	detailed, detailErr := st.WithDetails(&hermesv1.Error{Code: string(known.Code), Message: known.Message})
	if detailErr != nil {
		return st.Err()
	}
	return detailed.Err()
}
