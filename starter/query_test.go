package starter_test

import (
	"net/url"
	"testing"

	"github.com/grpc-ecosystem/grpc-gateway/v2/runtime"
	"github.com/grpc-ecosystem/grpc-gateway/v2/utilities"
	"github.com/stretchr/testify/require"
	"go.temporal.io/api/workflowservice/v1"

	"github.com/hermes-orchestrator/hermes/conversation"
)

func TestUnknownQueryParameters(t *testing.T) {
	t.Parallel()
	b := setup(t)
	const path = "/v1/conversations/s1/events/list?"
	b.get(t, path+"since=3").refused(t, conversation.CodeInvalidArgument)
	b.get(t, path+"after.x=3").refused(t, conversation.CodeInvalidArgument)
	b.get(t, path+"page_token=%ff").refused(t, conversation.CodeInvalidArgument)
	b.get(t, path+"session_id=%ff").refused(t, conversation.CodeInvalidUTF8)
}

// TestOtherGatewaysAreLeftAlone checks that a front door does not change how other gateways of the process read their
// query parameters: Temporal Web, which runs in the same process on a laptop, names fields of fields.
func TestOtherGatewaysAreLeftAlone(t *testing.T) {
	t.Parallel()
	setup(t)
	var request workflowservice.DescribeWorkflowExecutionRequest
	values := url.Values{"execution.runId": {"run"}, "unknown": {"x"}}
	require.NoError(t, runtime.PopulateQueryParameters(&request, values, utilities.NewDoubleArray(nil)))
	require.Equal(t, "run", request.GetExecution().GetRunId())
}
