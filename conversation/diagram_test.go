package conversation_test

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/hermes-orchestrator/hermes/conversation"
)

var update = flag.Bool("update", false, "write the diagram of docs/state-machine.md anew")

const (
	document = "../docs/state-machine.md"
	fence    = "```"
)

// TestDiagram keeps docs/state-machine.md true: its diagram is what Next says. After a change of Next run
// go test ./conversation -run TestDiagram -update.
func TestDiagram(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile(document)
	require.NoError(t, err)
	before, rest, found := strings.Cut(string(data), fence+"mermaid\n")
	require.True(t, found, "%s has no mermaid block", document)
	_, after, found := strings.Cut(rest, fence+"\n")
	require.True(t, found)
	want := before + fence + "mermaid\n" + diagram() + fence + "\n" + after
	if *update {
		require.NoError(t, os.WriteFile(document, []byte(want), 0o600))
		return
	}
	require.Equal(t, want, string(data), "run: go test ./conversation -run TestDiagram -update")
}

func diagram() string {
	node := func(s conversation.State) string { return strings.ReplaceAll(string(s), ".", "_") }
	var b strings.Builder
	b.WriteString("stateDiagram-v2\n    direction TB\n")
	for _, s := range conversation.States() {
		fmt.Fprintf(&b, "    state \"%s %s\" as %s\n", s, titles[s], node(s))
	}
	fmt.Fprintf(&b, "    [*] --> %s\n", node(conversation.StateIntent))
	for _, from := range conversation.States() {
		for _, to := range conversation.States() {
			var events []string
			for _, event := range conversation.Events() {
				transition, err := conversation.Next(from, event)
				if err != nil || transition.To != to {
					continue
				}
				label := string(event)
				if transition.Outcome != "" && string(transition.Outcome) != label {
					label += " (" + string(transition.Outcome) + ")"
				}
				events = append(events, label)
			}
			if len(events) > 0 {
				fmt.Fprintf(&b, "    %s --> %s : %s\n", node(from), node(to), strings.Join(events, "<br/>"))
			}
		}
	}
	fmt.Fprintf(&b, "    %s --> [*]\n", node(conversation.StateEnd))
	return b.String()
}

var titles = map[conversation.State]string{
	conversation.StateIntent: "intent", conversation.StateMaterials: "materials", conversation.StateValidation: "validation",
	conversation.StateReview: "manual review", conversation.StateConfirmation: "confirmation", conversation.StateEnd: "end",
}
