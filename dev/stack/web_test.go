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

	for page, shown := range map[string][]string{
		stack.PageHistory:          {"conversation/web", "a talk for a test", "answer S3.1"},
		stack.PageUserMetadata:     {"a talk for a test", "**Last words**: S3.1"},
		stack.PageSearchAttributes: {conversation.AttributeState, "S3.1"},
	} {
		t.Run(page, func(t *testing.T) {
			t.Parallel()
			_, err := webcheck.DOM(t.Context(), s.WorkflowURL(run.GetID(), run.GetRunID(), page), shown...)
			require.NoError(t, err)
		})
	}
	t.Run("image", func(t *testing.T) {
		t.Parallel()
		path := filepath.Join(t.TempDir(), "workflow.png")
		url := s.WorkflowURL(run.GetID(), run.GetRunID(), stack.PageHistory)
		require.NoError(t, webcheck.Screenshot(t.Context(), url, path, "answer S3.1"))
		info, err := os.Stat(path)
		require.NoError(t, err)
		require.Greater(t, info.Size(), int64(20_000), "an empty page is smaller")
	})
}
