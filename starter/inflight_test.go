package starter_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"

	"github.com/hermes-orchestrator/hermes/conversation"
	"github.com/hermes-orchestrator/hermes/starter"
)

// gate is a cluster whose updates are under way until it is opened.
type gate struct {
	*cluster

	entered chan string // Workflow ids of updates that have come.
	open    chan struct{}
}

func (g *gate) UpdateWorkflow(
	ctx context.Context, options client.UpdateWorkflowOptions,
) (client.WorkflowUpdateHandle, error) {
	g.entered <- options.WorkflowID
	select {
	case <-g.open:
	case <-ctx.Done():
	}
	return handle{reply: reply{reply: conversation.Reply{MessageID: options.UpdateID}}}, nil
}

// TestRapidMessages sends more messages of a session at the same time than Temporal admits: it gets a few at a time,
// each message is answered, and no other session waits.
func TestRapidMessages(t *testing.T) {
	t.Parallel()
	const count, atOnce = 30, 4
	g := &gate{cluster: newCluster(), entered: make(chan string, count+1), open: make(chan struct{})}
	b := setup(t, func(cfg *starter.Config) { cfg.Temporal = g })
	var group sync.WaitGroup
	send := func(session string, i int) {
		group.Go(func() {
			url := b.url + "/v1/conversations/" + session + "/messages"
			body := strings.NewReader(fmt.Sprintf(`{"message_id":"m-%d","text":"x"}`, i))
			response, err := http.Post(url, "application/json", body)
			if err == nil {
				err = response.Body.Close()
			}
			if err != nil || response.StatusCode != http.StatusOK {
				t.Errorf("message %d: %v, %v", i, response, err)
			}
		})
	}
	for i := range count {
		send("busy", i)
	}
	for range atOnce {
		require.Equal(t, conversation.WorkflowID("busy"), <-g.entered)
	}
	send("other", count)
	require.Equal(t, conversation.WorkflowID("other"), <-g.entered, "a fifth one of the busy session")
	close(g.open)
	group.Wait()
	require.Len(t, g.entered, count-atOnce)
}
