package dialogue

import (
	"context"
	"fmt"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/client"

	"github.com/hermes-orchestrator/hermes/conversation"
)

// ToolCalls reads the tool calls of a conversation back from its histories, the runs before a continue-as-new
// included, in the order in which they were dispatched.
func ToolCalls(ctx context.Context, c client.Client, workflowID string) ([]ToolCall, error) {
	var calls []ToolCall
	run := ""
	for {
		var previous string
		var ofRun []ToolCall
		iterator := c.GetWorkflowHistory(ctx, workflowID, run, false, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
		for iterator.HasNext() {
			event, err := iterator.Next()
			if err != nil {
				return nil, fmt.Errorf("history of %q: %w", workflowID, err)
			}
			if started := event.GetWorkflowExecutionStartedEventAttributes(); started != nil {
				previous = started.GetContinuedExecutionRunId()
			}
			if event.GetEventType() != eventTypeScheduled {
				continue
			}
			scheduled := event.GetActivityTaskScheduledEventAttributes()
			if scheduled.GetActivityType().GetName() != conversation.ActivityInvoke || len(scheduled.GetInput().GetPayloads()) != 1 {
				continue
			}
			if call, ok := readToolCall(scheduled.GetInput().GetPayloads()[0].GetData()); ok {
				ofRun = append(ofRun, call)
			}
		}
		calls = append(ofRun, calls...)
		if previous == "" {
			return calls, nil
		}
		run = previous
	}
}
