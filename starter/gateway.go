package starter

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"unicode/utf8"

	"github.com/grpc-ecosystem/grpc-gateway/v2/runtime"
	"google.golang.org/protobuf/encoding/protojson"

	"github.com/hermes-orchestrator/hermes/conversation"
	hermesv1 "github.com/hermes-orchestrator/hermes/proto/hermes/v1"
)

// newGateway returns the HTTP/JSON form of the service's unary calls (proto/hermes/v1/http.yaml). It calls the service
// in this process: no second connection, and errors keep their codes.
func (s *Server) newGateway() (http.Handler, error) {
	marshaler := &runtime.JSONPb{
		// snake_case, as in the payloads of the workflow, so that one vocabulary serves both.
		MarshalOptions: protojson.MarshalOptions{UseProtoNames: true},
		// A misspelt field is an error: dropping it would drop what the client meant.
		UnmarshalOptions: protojson.UnmarshalOptions{DiscardUnknown: false},
	}
	mux := runtime.NewServeMux(
		runtime.WithMarshalerOption(runtime.MIMEWildcard, marshaler),
		runtime.WithErrorHandler(func(
			_ context.Context, _ *runtime.ServeMux, _ runtime.Marshaler, w http.ResponseWriter, r *http.Request, err error,
		) {
			s.writeError(w, r, err)
		}),
		runtime.WithRoutingErrorHandler(func(
			_ context.Context, _ *runtime.ServeMux, _ runtime.Marshaler, w http.ResponseWriter, r *http.Request, status int,
		) {
			s.noRoute(w, r, status)
		}),
		runtime.WithIncomingHeaderMatcher(func(string) (string, bool) { return "", false }),
		runtime.WithDisablePathLengthFallback(),
	)
	if err := hermesv1.RegisterConversationServiceHandlerServer(context.Background(), mux, s.service); err != nil {
		return nil, conversation.Errorf(conversation.CodeInternal, "gateway: %w", err)
	}
	return s.checkQuery(s.checkJSON(mux)), nil
}

// noRoute answers a request that nothing serves.
func (s *Server) noRoute(w http.ResponseWriter, r *http.Request, status int) {
	code := conversation.CodeNotFound
	if status == http.StatusMethodNotAllowed || status == http.StatusBadRequest {
		code = conversation.CodeInvalidArgument
	}
	path := strings.ToValidUTF8(conversation.Clip(r.URL.Path, maxNameLen), "\uFFFD")
	s.writeErrorStatus(w, r, status, conversation.Errorf(code, "%s %q is not served here: docs/api.md lists what is",
		r.Method, path))
}

// checkJSON refuses a body that is too large, not UTF-8 or not JSON before anything decodes it: a decoder would
// replace what is not UTF-8, and stop reading after the first value.
func (s *Server) checkJSON(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Body == nil || r.Body == http.NoBody {
			next.ServeHTTP(w, r)
			return
		}
		readBodyWithin(w, bodyTimeout)
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, MaxJSONBytes))
		readBodyWithin(w, 0)
		var tooLarge *http.MaxBytesError
		switch {
		case errors.As(err, &tooLarge):
			err = conversation.Errorf(conversation.CodeTooLarge,
				"the body has more than %d bytes: upload long texts as a file", MaxJSONBytes)
		case err != nil:
			err = conversation.Errorf(conversation.CodeInvalidArgument, "the body broke off: %w: send it again", err)
		default:
			err = checkBody(body)
		}
		if err != nil {
			s.writeError(w, r, err)
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		next.ServeHTTP(w, r)
	})
}

// checkQuery refuses unknown query parameters of the one call that has any: a misspelt one would be ignored. (The
// gateway's own hook for this, runtime.SetQueryParameterParser, is a variable of its package: it would change every
// other gateway of the process, and Temporal Web is one.)
func (s *Server) checkQuery(next http.Handler) http.Handler {
	known := (&hermesv1.ListEventsRequest{}).ProtoReflect().Descriptor().Fields()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasSuffix(r.URL.Path, "/events/list") {
			next.ServeHTTP(w, r)
			return
		}
		for name, texts := range r.URL.Query() {
			// The decoder takes a path of fields as well, and the name of a field as in Go's JSON.
			if known.ByTextName(name) == nil {
				s.writeError(w, r, conversation.Errorf(conversation.CodeInvalidArgument,
					"query parameter %q is not known", name))
				return
			}
			for _, text := range texts {
				if !utf8.ValidString(text) {
					s.writeError(w, r, conversation.Errorf(conversation.CodeInvalidUTF8,
						"query parameter %q is not valid UTF-8", name))
					return
				}
			}
		}
		next.ServeHTTP(w, r)
	})
}
