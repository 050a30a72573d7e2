package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"

	"github.com/hermes-orchestrator/hermes/conversation"
	"github.com/hermes-orchestrator/hermes/memory"
	"github.com/hermes-orchestrator/hermes/memory/blob"
	"github.com/hermes-orchestrator/hermes/memory/redis"
	"github.com/hermes-orchestrator/hermes/starter"
)

// bundle is a starter over real stores, whose conversations are answered by answer. A conversation on a real cluster is
// tested in dev/.
type bundle struct {
	client.Client // Nil: what the commands should not need is an error here.

	url    string
	events *memory.Events
	answer func(conversation.UserMessage) (conversation.Reply, error)
	view   conversation.CaseView
	sent   []conversation.UserMessage
}

func setup(t *testing.T, answer func(conversation.UserMessage) (conversation.Reply, error)) *bundle {
	t.Helper()
	files, err := blob.Open(t.Context(), blob.Config{URL: "mem://"})
	require.NoError(t, err)
	store, err := redis.Open(redis.Config{Addr: miniredis.RunT(t).Addr()})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, store.Close()) })
	b := &bundle{events: memory.NewEvents(store, memory.EventsConfig{}), answer: answer}
	server, err := starter.New(starter.Config{
		Temporal: b, Files: files, Events: b.events, HashUser: func(string) string { return "h" },
		Logger: slog.New(slog.DiscardHandler), Heartbeat: 20 * time.Millisecond,
	})
	require.NoError(t, err)
	web := httptest.NewServer(server.Handler())
	t.Cleanup(web.Close)
	t.Cleanup(server.Close)
	b.url = web.URL
	return b
}

func (b *bundle) ExecuteWorkflow(
	context.Context, client.StartWorkflowOptions, any, ...any,
) (client.WorkflowRun, error) {
	return run{}, nil
}

func (b *bundle) DescribeWorkflowExecution(
	context.Context, string, string,
) (*workflowservice.DescribeWorkflowExecutionResponse, error) {
	return &workflowservice.DescribeWorkflowExecutionResponse{WorkflowExecutionInfo: &workflowpb.WorkflowExecutionInfo{
		Status: enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING,
	}}, nil
}

func (b *bundle) UpdateWorkflow(
	_ context.Context, u client.UpdateWorkflowOptions,
) (client.WorkflowUpdateHandle, error) {
	message, ok := u.Args[0].(conversation.UserMessage)
	if !ok {
		return nil, errors.ErrUnsupported
	}
	b.sent = append(b.sent, message)
	reply, err := b.answer(message)
	reply.MessageID = message.MessageID
	return handle{reply: reply, err: err}, nil
}

func (b *bundle) QueryWorkflow(context.Context, string, string, string, ...any) (converter.EncodedValue, error) {
	payloads, err := converter.GetDefaultDataConverter().ToPayloads(b.view)
	return client.NewValue(payloads), err
}

type run struct{ client.WorkflowRun }

func (run) GetRunID() string { return "run-1" }

type handle struct {
	client.WorkflowUpdateHandle

	reply conversation.Reply
	err   error
}

func (h handle) Get(_ context.Context, into any) error {
	if into, ok := into.(*conversation.Reply); ok {
		*into = h.reply
	}
	return h.err
}

// hermes runs the command line, and returns what it printed.
func (b *bundle) hermes(t *testing.T, input string, args ...string) (string, error) {
	t.Helper()
	env := map[string]string{"HERMES_SERVER": b.url, "USER": "tester"}
	root := newRoot(func(name string) string { return env[name] })
	var out bytes.Buffer
	root.SetArgs(args)
	root.SetIn(strings.NewReader(input))
	root.SetOut(&out)
	root.SetErr(&out)
	err := root.ExecuteContext(t.Context())
	return out.String(), err
}

func TestChat(t *testing.T) {
	t.Parallel()
	image := filepath.Join(t.TempDir(), "发票 1.png")
	require.NoError(t, os.WriteFile(image, []byte("\x89PNG\r\n\x1a\n…"), 0o600))
	var b *bundle
	b = setup(t, func(m conversation.UserMessage) (conversation.Reply, error) {
		switch {
		case len(m.Attachments) > 0:
			// The result comes later, by itself.
			data, err := json.Marshal(conversation.Reply{
				CycleID: "c9", Text: "确认提交？", State: conversation.StateConfirmation, Path: "S1→S2→S3→S4",
				Options: []conversation.Option{{ID: "modify", Label: "修改"}, {ID: "confirm", Label: "确认"}},
			})
			require.NoError(t, err)
			require.NoError(t, b.events.Publish(t.Context(), "s1", 1, data))
			return conversation.Reply{Text: "处理中", Interim: true, EstimatedTime: "30s", Path: "S1→S2"}, nil
		case m.Choice == "confirm":
			return conversation.Reply{
				Text: "已提交\x1b[2J", State: conversation.StateEnd, Outcome: conversation.OutcomeCommitted,
				Path: "S1→S2→S3→S4→S5", VerificationSteps: []string{"已核对"},
				Degraded: []conversation.Degraded{{Component: "tool:x", Strategy: "cache", Reason: "慢", AsOf: "14:22"}},
			}, nil
		}
		return conversation.Reply{Text: "请上传", State: conversation.StateMaterials, Path: "S1→S2"}, nil
	})
	out, err := b.hermes(t, "我要报销\n\n/file "+image+"\n2\nnever sent\n", "chat", "--session", "s1")
	require.NoError(t, err, out)
	require.Equal(t, `session s1
Hermes: 请上传
  S1→S2
Hermes: 处理中
  … about 30s
  S1→S2
Hermes: 确认提交？
  [1] 修改
  [2] 确认
  S1→S2→S3→S4
Hermes: 已提交[2J
  ! tool:x (cache): 慢, as of 14:22
  ✓ 已核对
  S1→S2→S3→S4→S5 (committed)
`, out)
	require.Len(t, b.sent, 3)
	require.Equal(t, "发票 1.png", b.sent[1].Attachments[0].Name)
	require.Equal(t, "confirm", b.sent[2].Choice)
}

func TestChatRefusals(t *testing.T) {
	t.Parallel()
	b := setup(t, func(conversation.UserMessage) (conversation.Reply, error) {
		code := string(conversation.CodeConflict)
		return conversation.Reply{}, temporal.NewNonRetryableApplicationError("somebody was first", code, nil)
	})
	out, err := b.hermes(t, "hi\n\xd6\xd0\n/file\n/file nowhere.png\n/help\n/quit\nhi\n", "chat")
	require.ErrorContains(t, err, "4 messages were refused")
	require.Contains(t, out, "error: conflict: somebody was first")
	require.Contains(t, out, "error: invalid_utf8")
	require.Contains(t, out, "/file needs")
	require.Contains(t, out, "nowhere.png")
	require.Len(t, b.sent, 1)
}

func TestServerIsNotThere(t *testing.T) {
	t.Parallel()
	for server, code := range map[string]conversation.Code{
		"http://127.0.0.1:1": conversation.CodeUnavailable, "localhost": conversation.CodeInvalidArgument,
	} {
		_, err := (&bundle{url: server}).hermes(t, "", "chat")
		require.Equal(t, code, conversation.CodeOf(err))
		require.ErrorContains(t, err, "--server")
	}
	other := httptest.NewServer(nil)
	defer other.Close()
	_, err := (&bundle{url: other.URL}).hermes(t, "", "path", "s1")
	require.ErrorContains(t, err, "is --server a Hermes starter?")
}

func TestPath(t *testing.T) {
	t.Parallel()
	b := setup(t, nil)
	b.view.Path = conversation.Path{
		{State: conversation.StateIntent, At: time.Unix(0, 0)},
		{State: conversation.StateMaterials, Event: conversation.EventIntentRecognized},
	}
	out, err := b.hermes(t, "", "path", "s1")
	require.NoError(t, err)
	require.Equal(t, "S1→S2\n", out)
	out, err = b.hermes(t, "", "path", "--steps", "s1")
	require.NoError(t, err)
	require.Contains(t, out, "intent_recognized")
}

func TestFlowValidate(t *testing.T) {
	t.Parallel()
	b := &bundle{}
	good := filepath.Join("..", "..", "examples", "expense", "flow.yaml")
	out, err := b.hermes(t, "", "flow", "validate", good)
	require.NoError(t, err, out)
	require.Contains(t, out, good+": ok: flow ")

	bad := filepath.Join(t.TempDir(), "bad.yaml")
	require.NoError(t, os.WriteFile(bad, []byte("flow: x\nstates: [S6]\n"), 0o600))
	out, err = b.hermes(t, "", "flow", "validate", good, bad, bad+".not")
	require.Equal(t, conversation.CodeInvalidFlow, conversation.CodeOf(err))
	require.ErrorContains(t, err, "2 of 3")
	require.Contains(t, out, bad+":2:")
}

func TestEndOfInputLeavesTheConversationOpen(t *testing.T) {
	t.Parallel()
	b := setup(t, func(conversation.UserMessage) (conversation.Reply, error) {
		return conversation.Reply{Text: "ok"}, nil
	})
	out, err := b.hermes(t, "no line feed", "chat")
	require.NoError(t, err)
	require.Contains(t, out, "Hermes: ok")
	require.False(t, isTerminal(io.MultiReader()))
}
