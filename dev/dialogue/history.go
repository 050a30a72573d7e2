package dialogue

import (
	"context"
	"encoding/json"
	"fmt"

	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/sdk/client"

	"github.com/hermes-orchestrator/hermes/contract"
	"github.com/hermes-orchestrator/hermes/conversation"
)

// ToolCall is one tool call as Temporal's history has it.
type ToolCall struct {
	Tool      string
	Operation string
	Arguments json.RawMessage
	MessageID string
	// Key is the Idempotency-Key that the tool was given.
	Key string
	// Fallback is set for the call of a fallback, which is not a call of the tool itself.
	Fallback bool
	// Answer is the recorded answer; nil for a call that failed or is under way.
	Answer *conversation.Answer
	// Later is the answer of a tool that accepted the call first (task_complete).
	Later *LaterAnswer
}

// LaterAnswer is the body of a task_complete, as the tool signed it.
type LaterAnswer struct {
	Output       json.RawMessage `json:"output"`
	Verification []string        `json:"verification_steps"`
}

// ToolCalls reads the tool calls of a conversation back from its histories, the runs before a continue-as-new
// included, in the order in which they were dispatched.
func ToolCalls(ctx context.Context, c client.Client, workflowID string) ([]ToolCall, error) {
	runs, err := runsOf(ctx, c, workflowID)
	if err != nil {
		return nil, err
	}
	var calls []ToolCall
	for _, events := range runs {
		calls = append(calls, readRun(events)...)
	}
	return attachLater(calls), nil
}

func historyOf(ctx context.Context, c client.Client, workflowID, run string) ([]*historypb.HistoryEvent, error) {
	var events []*historypb.HistoryEvent
	iterator := c.GetWorkflowHistory(ctx, workflowID, run, false, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	for iterator.HasNext() {
		event, err := iterator.Next()
		if err != nil {
			return nil, fmt.Errorf("history of %q: %w", workflowID, err)
		}
		events = append(events, event)
	}
	return events, nil
}

// readRun reads the calls of one run. A completion that came by signal is a call without a
// tool until attachLater has joined it to the call that it answers.
func readRun(events []*historypb.HistoryEvent) []ToolCall {
	var calls []ToolCall
	scheduled := map[int64]int{}
	for _, event := range events {
		if a := event.GetActivityTaskScheduledEventAttributes(); a != nil {
			name := a.GetActivityType().GetName()
			isCall := name == conversation.ActivityInvoke || name == conversation.ActivityFallback
			if payloads := a.GetInput().GetPayloads(); isCall && len(payloads) == 1 {
				if call, ok := readCall(payloads[0].GetData()); ok {
					call.Fallback = name == conversation.ActivityFallback
					scheduled[event.GetEventId()] = len(calls)
					calls = append(calls, call)
				}
			}
		}
		if a := event.GetActivityTaskCompletedEventAttributes(); a != nil {
			index, known := scheduled[a.GetScheduledEventId()]
			if payloads := a.GetResult().GetPayloads(); known && len(payloads) == 1 {
				var answer conversation.Answer
				if json.Unmarshal(payloads[0].GetData(), &answer) == nil {
					calls[index].Answer = &answer
				}
			}
		}
		a := event.GetWorkflowExecutionSignaledEventAttributes()
		if a.GetSignalName() == conversation.SignalComplete && len(a.GetInput().GetPayloads()) == 1 {
			if call, ok := readCompletion(a.GetInput().GetPayloads()[0].GetData()); ok {
				calls = append(calls, call)
			}
		}
	}
	return calls
}

func readCall(payload []byte) (ToolCall, bool) {
	var e contract.Envelope
	if json.Unmarshal(payload, &e) != nil {
		return ToolCall{}, false
	}
	var call conversation.ToolCall
	if json.Unmarshal(e.Payload.Context.Arguments, &call) != nil {
		return ToolCall{}, false
	}
	return ToolCall{
		Tool: call.Tool, Operation: call.Operation, Arguments: call.Arguments, MessageID: e.MessageID,
		Key: e.Metadata.IdempotencyKey,
	}, true
}

func readCompletion(payload []byte) (ToolCall, bool) {
	var e contract.Envelope
	var completion conversation.Completion
	var later LaterAnswer
	if json.Unmarshal(payload, &e) != nil || json.Unmarshal(e.Payload.Context.Arguments, &completion) != nil ||
		json.Unmarshal(completion.Body, &later) != nil {
		return ToolCall{}, false
	}
	return ToolCall{MessageID: completion.MessageID, Later: &later}, true
}

// attachLater joins each completion to the call that it answers. One that answers none was a forgery or came too late.
func attachLater(calls []ToolCall) []ToolCall {
	var joined []ToolCall
	for _, c := range calls {
		if c.Tool != "" {
			joined = append(joined, c)
			continue
		}
		for i := range joined {
			if joined[i].MessageID == c.MessageID && joined[i].Later == nil {
				joined[i].Later = c.Later
				break
			}
		}
	}
	return joined
}
