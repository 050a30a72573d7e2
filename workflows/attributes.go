package workflows

import (
	"fmt"
	"strings"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/hermes-orchestrator/hermes/conversation"
)

var (
	attributeState = temporal.NewSearchAttributeKeyKeyword(conversation.AttributeState)
	attributeFlow  = temporal.NewSearchAttributeKeyKeyword(conversation.AttributeFlow)
	attributeUser  = temporal.NewSearchAttributeKeyKeyword(conversation.AttributeUser)
	attributeTrace = temporal.NewSearchAttributeKeyKeyword(conversation.AttributeTrace)
	attributePath  = temporal.NewSearchAttributeKeyKeyword(conversation.AttributePath)
)

type attributes struct{ state, flow, user, trace, path string }

// publishAttributes writes the search attributes that have changed, and what Temporal Web shows of a conversation. It
// is called once a cycle: attributes are history events, the details are not.
func (r *run) publishAttributes(ctx workflow.Context) {
	now := attributes{
		state: string(r.State), flow: r.Flow.ID, user: r.UserHash, trace: r.TraceID,
		path: tail(r.Path.String(), 200),
	}
	if now != r.published {
		updates := []temporal.SearchAttributeUpdate{attributeState.ValueSet(now.state), attributePath.ValueSet(now.path)}
		if now.flow != r.published.flow {
			updates = append(updates, attributeFlow.ValueSet(now.flow))
		}
		if now.user != r.published.user {
			updates = append(updates, attributeUser.ValueSet(now.user))
		}
		if now.trace != r.published.trace {
			updates = append(updates, attributeTrace.ValueSet(now.trace))
		}
		if err := workflow.UpsertTypedSearchAttributes(ctx, updates...); err != nil {
			r.logger.Error("search attributes not written", "error", err, "trace_id", r.TraceID)
		}
		r.published = now
	}
	workflow.SetCurrentDetails(ctx, r.details())
}

// details is the Markdown that an operator reads in Temporal Web.
func (r *run) details() string {
	var b strings.Builder
	fmt.Fprintf(&b, "**State** %s", r.State)
	if r.Outcome != "" {
		fmt.Fprintf(&b, " (%s)", r.Outcome)
	}
	fmt.Fprintf(&b, "  \n**Flow** %s  \n**Path** %s  \n**Trace** `%s`  \n**Summary** %s\n",
		orDash(r.Flow.ID), r.Path, r.TraceID, literal(orDash(r.Summary)))
	if len(r.Path) > 0 {
		b.WriteString("\n| state | entered | event | reason |\n|---|---|---|---|\n")
		for _, step := range r.Path[max(0, len(r.Path)-20):] {
			fmt.Fprintf(&b, "| %s | %s | %s | %s |\n",
				step.State, step.At.UTC().Format("2006-01-02 15:04:05"), orDash(string(step.Event)), literal(orDash(step.Reason)))
		}
	}
	return b.String()
}

// literal keeps text that users have a part in (names of files) from being Markdown.
func literal(text string) string {
	return strings.NewReplacer("\r", " ", "\n", " ", "&", "&amp;", "<", "&lt;", `\`, `\\`, "|", `\|`, "[", `\[`, "]", `\]`,
		"`", "\\`", "*", `\*`, "~", `\~`).Replace(text)
}

func orDash(text string) string {
	if text == "" {
		return "–"
	}
	return text
}

// tail keeps the end of a path within n bytes, cut at an arrow.
func tail(path string, n int) string {
	for len(path) > n {
		_, rest, found := strings.Cut(path, "→")
		if !found {
			return path[:0]
		}
		path = rest
	}
	return path
}
