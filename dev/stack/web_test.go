package stack_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/hermes-orchestrator/hermes/conversation"
	"github.com/hermes-orchestrator/hermes/dev/stack"
	"github.com/hermes-orchestrator/hermes/dev/webcheck"
)

// TestWebShowsWorkflow checks that an operator can read in a browser what a workflow says of itself.
func TestWebShowsWorkflow(t *testing.T) {
	t.Parallel()
	webcheck.Require(t)
	s := start(t, stack.Options{Temporal: true, UI: true})
	c, _ := connect(t, s)
	run := begin(t, c, "conversation/web")
	say(t, c, run.GetID(), "S3.1")

	dom, err := webcheck.DOM(t.Context(), s.WorkflowURL(run.GetID(), run.GetRunID()))
	require.NoError(t, err)
	for what, text := range map[string]string{
		"workflow id":           "conversation/web",
		"summary":               "a talk for a test",
		"current details":       "Last words",
		"activity summary":      "answer S3.1",
		"search attribute name": conversation.AttributeState,
		"its value":             "S3.1",
	} {
		require.Contains(t, dom, text, what)
	}

	t.Run("image", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "workflow.png")
		require.NoError(t, webcheck.Screenshot(t.Context(), s.WorkflowURL(run.GetID(), run.GetRunID()), path))
		info, err := os.Stat(path)
		require.NoError(t, err)
		require.Greater(t, info.Size(), int64(20_000), "an empty page is smaller")
	})
}
