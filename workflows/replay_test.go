package workflows_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/hermes-orchestrator/hermes/contract"
	"github.com/hermes-orchestrator/hermes/conversation"
	"github.com/hermes-orchestrator/hermes/workflows"
)

// The corpus: histories recorded by
//
//	go run ./dev test examples/expense/dialogues --record workflows/testdata/histories
//
// A history is named after its dialogue. Names that begin with "broken-" must fail to replay: they prove that the
// replayer would notice. Record again only what a change of behaviour makes new; what is in the corpus stays.
const corpus = "testdata/histories"

func replayer(t *testing.T) worker.WorkflowReplayer {
	t.Helper()
	plugin, err := contract.NewPlugin()
	require.NoError(t, err)
	r, err := worker.NewWorkflowReplayerWithOptions(worker.WorkflowReplayerOptions{Plugins: []worker.Plugin{plugin}})
	require.NoError(t, err)
	r.RegisterWorkflowWithOptions(workflows.Conversation, workflow.RegisterOptions{Name: conversation.WorkflowType})
	return r
}

func TestReplayCorpus(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(filepath.Join(corpus, "*.json"))
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".json")
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := replayer(t).ReplayWorkflowHistoryFromJSONFile(nil, file)
			if strings.HasPrefix(name, "broken-") {
				require.ErrorContains(t, err, "TMPRL1100")
				return
			}
			require.NoError(t, err)
		})
	}
}
