package dialogue

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/api/temporalproto"
	"go.temporal.io/sdk/client"

	"github.com/hermes-orchestrator/hermes/conversation"
)

// Record writes the history of every run of the given conversations to dir, as JSON that the replayer reads:
// <name>.json, or <name>-2.json and so on where there are several.
func Record(ctx context.Context, c client.Client, dir, name string, sessions []string) error {
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return conversation.Errorf(conversation.CodeUnavailable, "record histories: %w", err)
	}
	n := 0
	for _, session := range sessions {
		runs, err := runsOf(ctx, c, conversation.WorkflowID(session))
		if err != nil {
			return err
		}
		for _, events := range runs {
			n++
			file := name
			if n > 1 {
				file = fmt.Sprintf("%s-%d", name, n)
			}
			data, err := temporalproto.CustomJSONMarshalOptions{Indent: " "}.Marshal(&historypb.History{Events: events})
			if err != nil {
				return conversation.Errorf(conversation.CodeInternal, "record history of %q: %w", session, err)
			}
			if err := os.WriteFile(filepath.Join(dir, file+".json"), data, 0o600); err != nil {
				return conversation.Errorf(conversation.CodeUnavailable, "record history of %q: %w", session, err)
			}
		}
	}
	return nil
}

// runsOf returns the histories of all runs of a workflow, oldest first.
func runsOf(ctx context.Context, c client.Client, workflowID string) ([][]*historypb.HistoryEvent, error) {
	var runs [][]*historypb.HistoryEvent
	for run := ""; ; {
		events, err := historyOf(ctx, c, workflowID, run)
		if err != nil {
			return nil, err
		}
		runs = append([][]*historypb.HistoryEvent{events}, runs...)
		if len(events) == 0 {
			return runs, nil
		}
		if run = events[0].GetWorkflowExecutionStartedEventAttributes().GetContinuedExecutionRunId(); run == "" {
			return runs, nil
		}
	}
}
