package starter_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"

	"github.com/hermes-orchestrator/hermes/conversation"
	"github.com/hermes-orchestrator/hermes/starter"
)

// TestTransportTable is the table a client programs against: a new code must be decided here, too.
func TestTransportTable(t *testing.T) {
	t.Parallel()
	table := map[conversation.Code]struct {
		http int
		grpc codes.Code
	}{
		conversation.CodeInvalidArgument:   {400, codes.InvalidArgument},
		conversation.CodeInvalidUTF8:       {400, codes.InvalidArgument},
		conversation.CodeTooLarge:          {413, codes.ResourceExhausted},
		conversation.CodeUnsupportedMedia:  {415, codes.InvalidArgument},
		conversation.CodeEmptyUpload:       {400, codes.InvalidArgument},
		conversation.CodeNotFound:          {404, codes.NotFound},
		conversation.CodeUnknownFlow:       {404, codes.NotFound},
		conversation.CodeInvalidFlow:       {422, codes.FailedPrecondition},
		conversation.CodeInvalidConfig:     {500, codes.Internal},
		conversation.CodeConflict:          {409, codes.Aborted},
		conversation.CodeDuplicate:         {409, codes.AlreadyExists},
		conversation.CodeConversationEnded: {410, codes.FailedPrecondition},
		conversation.CodeEventNotAdmitted:  {409, codes.FailedPrecondition},
		conversation.CodeMalformedEnvelope: {400, codes.InvalidArgument},
		conversation.CodeNoOpenCycle:       {500, codes.Internal},
		conversation.CodeMemoryFirst:       {500, codes.Internal},
		conversation.CodeSingleWrite:       {500, codes.Internal},
		conversation.CodeCycleBroken:       {500, codes.Internal},
		conversation.CodeUnknownTool:       {404, codes.NotFound},
		conversation.CodeToolUnavailable:   {503, codes.Unavailable},
		conversation.CodeToolRefused:       {422, codes.FailedPrecondition},
		conversation.CodeToolMisbehaved:    {502, codes.Internal},
		conversation.CodeBadSignature:      {401, codes.Unauthenticated},
		conversation.CodeOutcomeUnknown:    {504, codes.Unknown},
		conversation.CodeReceiptInvalid:    {409, codes.FailedPrecondition},
		conversation.CodeUnverified:        {409, codes.FailedPrecondition},
		conversation.CodeMemoryUnavailable: {503, codes.Unavailable},
		conversation.CodeUnavailable:       {503, codes.Unavailable},
		conversation.CodeInternal:          {500, codes.Internal},
	}
	for _, code := range conversation.Codes() {
		want, ok := table[code]
		require.True(t, ok, "%q has no row", code)
		require.Equal(t, want.http, starter.HTTPStatus(code), code)
		require.Equal(t, want.grpc, starter.GRPCCode(code), code)
		if code.Retryable() {
			require.Equal(t, http.StatusServiceUnavailable, starter.HTTPStatus(code), code)
		}
	}
	require.Len(t, table, len(conversation.Codes()))
	require.Equal(t, http.StatusInternalServerError, starter.HTTPStatus("of another build"))
}
