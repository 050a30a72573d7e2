package main

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/hermes-orchestrator/hermes/conversation"
	"github.com/hermes-orchestrator/hermes/dev/dialogue"
	"github.com/hermes-orchestrator/hermes/dev/fault"
	"github.com/hermes-orchestrator/hermes/dev/stack"
	"github.com/hermes-orchestrator/hermes/dev/webcheck"
)

// TestWebShowsConversation checks that an operator reads in Temporal Web what a conversation is about: where it stands
// and how it came there, which tools were called, and what the user is waiting for.
func TestWebShowsConversation(t *testing.T) {
	t.Parallel()
	webcheck.Require(t)
	app := open(t, assembleOptions{Own: stackOptions{UI: true}, Faults: true})
	// Without the image reader the dialogue needs no program, and shows a call that failed as well.
	require.NoError(t, app.SetFaults([]dialogue.Fault{{Tool: "ocr_tool", Kind: fault.Down}}))
	user := confirmable(t, app)
	id := conversation.WorkflowID(user.session)
	described, err := app.Temporal.DescribeWorkflowExecution(t.Context(), id, "")
	require.NoError(t, err)
	run := described.GetWorkflowExecutionInfo().GetExecution().GetRunId()
	view, err := user.view(t.Context())
	require.NoError(t, err)

	pages := map[string][]string{
		stack.PageTimeline: {id, conversation.WorkflowType, "org_tool.lookup", "rule_engine_tool.check"},
		stack.PageHistory: {
			id, conversation.WorkflowType, conversation.ActivityInvoke, "org_tool.lookup", "finance_tool.budget",
			"ocr_tool.read", "trip_tool.verify", "rule_engine_tool.check",
		},
		stack.PageSearchAttributes: {
			conversation.AttributeState, "S4", conversation.AttributeFlow, "expense",
			conversation.AttributePath, view.Path.String(), conversation.AttributeTrace, view.TraceID,
		},
		stack.PageUserMetadata: {
			"**State** S4", "**Flow** expense", "**Path** " + view.Path.String(), view.TraceID,
			"| state | entered | event | reason |", "all checks done",
		},
	}
	for page, shown := range pages {
		t.Run(page, func(t *testing.T) {
			url := app.Stack.WorkflowURL(id, run, page)
			image := filepath.Join(artifacts(t), "temporal-web-"+page+".png")
			require.NoError(t, webcheck.Screenshot(t.Context(), url, image, shown...))
			t.Log(image)
		})
	}
	t.Run("list", func(t *testing.T) {
		url := fmt.Sprintf("%s/namespaces/%s/workflows?query=%s", app.Stack.UIURL(), stack.Namespace,
			`HermesState%3D%22S4%22`)
		image := filepath.Join(artifacts(t), "temporal-web-list.png")
		require.NoError(t, webcheck.Screenshot(t.Context(), url, image, id, conversation.WorkflowType))
		t.Log(image)
	})
	t.Run("no user id", func(t *testing.T) {
		for page := range pages {
			html, err := webcheck.DOM(t.Context(), app.Stack.WorkflowURL(id, run, page), id)
			require.NoError(t, err)
			if page == stack.PageSearchAttributes || page == stack.PageUserMetadata {
				require.NotContains(t, html, demoUser, "page %s", page)
			}
		}
	})
}

// confirmable leads a conversation of the demo's user to S4 by figures: the image reader must be down.
func confirmable(t *testing.T, app *application) *claimant {
	t.Helper()
	user, err := begin(t.Context(), app, demoUser)
	require.NoError(t, err)
	t.Cleanup(user.Close)
	_, err = user.say(t.Context(), conversation.UserMessage{Text: demoClaim})
	require.NoError(t, err)
	attachments, err := user.files(t.Context(), "invoices.png", "itinerary.png")
	require.NoError(t, err)
	_, err = user.say(t.Context(), conversation.UserMessage{Attachments: attachments})
	require.NoError(t, err)
	reply, err := user.say(t.Context(), conversation.UserMessage{Text: demoFigures})
	require.NoError(t, err)
	require.Equal(t, conversation.StateConfirmation, reply.State, "%s", reply.Text)
	return user
}

// artifacts is where images stay for a person to look at: the directory of `go test -artifacts`, else a temporary one.
func artifacts(t *testing.T) string {
	t.Helper()
	dir := t.ArtifactDir()
	require.NoError(t, os.MkdirAll(dir, 0o750))
	return dir
}
