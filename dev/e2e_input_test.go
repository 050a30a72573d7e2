package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	commonpb "go.temporal.io/api/common/v1"
	sdkpb "go.temporal.io/api/sdk/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"

	"github.com/hermes-orchestrator/hermes/contract"
	"github.com/hermes-orchestrator/hermes/conversation"
	"github.com/hermes-orchestrator/hermes/dev/dialogue"
	"github.com/hermes-orchestrator/hermes/dev/fault"
	"github.com/hermes-orchestrator/hermes/dev/stack"
	"github.com/hermes-orchestrator/hermes/starter"
)

// question is a message that any conversation in S2 answers by repeating what is missing.
const question = "还需要什么材料"

// inMaterials begins a conversation and leads it to S2.
func inMaterials(t *testing.T, app *application) *claimant {
	t.Helper()
	user, err := begin(t.Context(), app, demoUser)
	require.NoError(t, err)
	t.Cleanup(user.Close)
	reply, err := user.say(t.Context(), conversation.UserMessage{Text: demoClaim})
	require.NoError(t, err)
	require.Equal(t, conversation.StateMaterials, reply.State, "%s", reply.Text)
	return user
}

// requireAlive checks that the conversation answers a normal message and knows of no others than those sent normally.
func (c *claimant) requireAlive(t *testing.T) {
	t.Helper()
	reply, err := c.say(t.Context(), conversation.UserMessage{Text: question})
	require.NoError(t, err)
	require.Equal(t, conversation.VerdictUsed, reply.Verdict, "%s", reply.Text)
	require.Equal(t, conversation.StateMaterials, reply.State, "%s", reply.Text)
	require.NoError(t, c.checkNothingLost(t.Context()))
}

// post sends a body as it is and returns the status and the code of the error.
func post(t *testing.T, url, contentType string, body io.Reader) (status int, code conversation.Code) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, body)
	require.NoError(t, err)
	request.Header.Set("Content-Type", contentType)
	response, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(request)
	require.NoError(t, err)
	defer response.Body.Close()
	var answer struct {
		Error conversation.Error `json:"error"`
	}
	require.NoError(t, json.NewDecoder(response.Body).Decode(&answer))
	return response.StatusCode, answer.Error.Code
}

// TestBadRequests sends what no client should to the front door of the running system.
func TestBadRequests(t *testing.T) {
	t.Parallel()
	app := open(t, assembleOptions{})
	user := inMaterials(t, app)
	messages := app.HTTP + "/v1/conversations/" + user.session + "/messages"
	long := func(bytes int) string { return `{"message_id":"m","text":"` + strings.Repeat("x", bytes) + `"}` }
	longID := strings.Repeat("m", conversation.MaxMessageIDLen+1)
	nobody := strings.Repeat("0", 64)
	const (
		invalid  = conversation.CodeInvalidArgument
		notUTF8  = conversation.CodeInvalidUTF8
		tooLarge = conversation.CodeTooLarge
		notFound = conversation.CodeNotFound
		noImage  = conversation.CodeUnsupportedMedia
	)
	conversations, files := app.HTTP+"/v1/conversations", app.HTTP+"/v1/files?name=a.png"
	for name, bad := range map[string]struct {
		url, body string
		status    int
		code      conversation.Code
	}{
		"malformed JSON":     {messages, `{"message_id":"m","text":`, 400, invalid},
		"two values":         {messages, `{"message_id":"m","text":"x"} {}`, 400, invalid},
		"no object":          {messages, `"x"`, 400, invalid},
		"number as text":     {messages, `{"message_id":"m","text":7}`, 400, invalid},
		"unknown field":      {messages, `{"message_id":"m","txt":"x"}`, 400, invalid},
		"invalid UTF-8":      {messages, "{\"message_id\":\"m\",\"text\":\"\xff\xfe\"}", 400, notUTF8},
		"half a character":   {messages, `{"message_id":"m","text":"\ud800"}`, 400, notUTF8},
		"3 MB":               {messages, long(3 << 20), 413, tooLarge},
		"text too long":      {messages, long(conversation.MaxTextBytes + 1), 413, tooLarge},
		"empty body":         {messages, ``, 400, invalid},
		"empty message":      {messages, `{"message_id":"m"}`, 400, invalid},
		"no message id":      {messages, `{"text":"x"}`, 400, invalid},
		"long message id":    {messages, `{"message_id":"` + longID + `","text":"x"}`, 400, invalid},
		"unknown zone":       {messages, `{"message_id":"m","text":"x","zone":"Mars/Olympus"}`, 400, invalid},
		"unknown locale":     {messages, `{"message_id":"m","text":"x","locale":"tlh"}`, 400, invalid},
		"no time":            {messages, `{"message_id":"m","text":"x","sent_at":"yesterday"}`, 400, invalid},
		"file never sent":    {messages, `{"message_id":"m","attachments":[{"sha256":"` + nobody + `"}]}`, 404, notFound},
		"file without hash":  {messages, `{"message_id":"m","attachments":[{"uri":"file:///etc/passwd"}]}`, 400, invalid},
		"another's session":  {messages, `{"message_id":"m","text":"x","user_id":"u-1002"}`, 0, ""},
		"unknown session":    {conversations + "/nobody/messages", `{"message_id":"m","text":"x"}`, 404, notFound},
		"session not a name": {conversations + "/a%20b/messages", `{"message_id":"m","text":"x"}`, 400, invalid},
		"unknown flow":       {conversations, `{"user_id":"u-1001","flow":"none"}`, 404, conversation.CodeUnknownFlow},
		"no user":            {conversations, `{}`, 400, invalid},
		"empty upload":       {files, ``, 400, conversation.CodeEmptyUpload},
		"text as image":      {files, `no image`, 415, noImage},
		"script as image":    {files, `<svg xmlns="http://www.w3.org/2000/svg"/>`, 415, noImage},
		"completion of none": {app.HTTP + "/v1/tasks/complete", `{}`, 400, invalid},
	} {
		t.Run(name, func(t *testing.T) {
			status, code := post(t, bad.url, "application/json", strings.NewReader(bad.body))
			if bad.status == 0 {
				require.GreaterOrEqual(t, status, 400)
				require.Less(t, status, 500)
				return
			}
			require.Equal(t, bad.status, status, "%s", code)
			require.Equal(t, bad.code, code)
		})
	}
	t.Run("oversized upload", func(t *testing.T) {
		png := "\x89PNG\r\n\x1a\n" + strings.Repeat("0", starter.MaxUploadBytes)
		status, code := post(t, app.HTTP+"/v1/files?name=a.png", "image/png", strings.NewReader(png))
		require.Equal(t, http.StatusRequestEntityTooLarge, status)
		require.Equal(t, conversation.CodeTooLarge, code)
	})
	user.requireAlive(t)
}

// TestBadMessages sends messages that only the conversation itself can refuse: each gets its verdict, none moves it.
func TestBadMessages(t *testing.T) {
	t.Parallel()
	app := open(t, assembleOptions{})
	for name, bad := range map[string]struct {
		message conversation.UserMessage
		code    conversation.Code // Empty: it is answered.
	}{
		"unknown choice":     {conversation.UserMessage{Choice: "sudo"}, conversation.CodeInvalidArgument},
		"choice of S4":       {conversation.UserMessage{Choice: conversation.ChoiceConfirm}, ""},
		"choice of S3.1":     {conversation.UserMessage{Choice: conversation.ChoiceAccept}, ""},
		"choice of a resume": {conversation.UserMessage{Choice: conversation.ChoiceResume}, ""},
		"wrong revision":     {conversation.UserMessage{Text: question, Revision: 77}, conversation.CodeConflict},
		"markup":             {conversation.UserMessage{Text: "<script>alert(1)</script> {{.facts}} ${HOME} '; --"}, ""},
		"only spaces":        {conversation.UserMessage{Text: " \t\n\u3000"}, ""},
		"control characters": {conversation.UserMessage{Text: "\x00\x01\x1b[31m\u202e"}, ""},
		"longest text":       {conversation.UserMessage{Text: strings.Repeat("报销", conversation.MaxTextBytes/6)}, ""},
		"longest figures":    {conversation.UserMessage{Text: strings.Repeat("9", conversation.MaxTextBytes)}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			user := inMaterials(t, app)
			// Past the front door, which refuses some of these as well.
			reply, err := user.converse(t.Context(), user.next(bad.message))
			require.NoError(t, err)
			require.Equal(t, conversation.StateMaterials, reply.State, "%s", reply.Text)
			if bad.code != "" {
				require.Equal(t, conversation.VerdictRefused, reply.Verdict)
				require.Equal(t, bad.code, conversation.CodeOf(reply.Error), "%s", reply.Text)
				reply, err = user.say(t.Context(), conversation.UserMessage{Text: question})
				require.NoError(t, err)
				require.Equal(t, conversation.VerdictUsed, reply.Verdict)
				return
			}
			require.Equal(t, conversation.VerdictUsed, reply.Verdict, "%s", reply.Text)
			user.requireAlive(t)
		})
	}
}

// converse sends a message by the update itself.
func (c *claimant) converse(ctx context.Context, payload any) (reply conversation.Reply, err error) {
	handle, err := c.app.Temporal.UpdateWorkflow(ctx, client.UpdateWorkflowOptions{
		WorkflowID: conversation.WorkflowID(c.session), UpdateName: conversation.UpdateConverse, Args: []any{payload},
		WaitForStage: client.WorkflowUpdateStageCompleted,
	})
	if err != nil {
		return reply, err
	}
	return reply, handle.Get(ctx, &reply)
}

// rawPayload is a payload that says that it is JSON.
func rawPayload(data string) *commonpb.Payload { return encoded("json/plain", []byte(data)...) }

func encoded(encoding string, data ...byte) *commonpb.Payload {
	return &commonpb.Payload{Metadata: map[string][]byte{"encoding": []byte(encoding)}, Data: data}
}

// signalRaw signals with payloads as they are: none, one or several.
func (c *claimant) signalRaw(ctx context.Context, name string, payloads ...*commonpb.Payload) error {
	request := &workflowservice.SignalWorkflowExecutionRequest{
		Namespace:         stack.Namespace,
		WorkflowExecution: &commonpb.WorkflowExecution{WorkflowId: conversation.WorkflowID(c.session)},
		SignalName:        name, RequestId: uuid.NewString(),
	}
	if len(payloads) > 0 {
		request.Input = &commonpb.Payloads{Payloads: payloads}
	}
	_, err := c.app.Temporal.WorkflowService().SignalWorkflowExecution(ctx, request)
	return err
}

// TestRawSignals sends what a program that has never read the documentation might signal.
func TestRawSignals(t *testing.T) {
	t.Parallel()
	app := open(t, assembleOptions{})
	tooLong := strings.Repeat("x", conversation.MaxTextBytes+1)
	payloads := map[string][]*commonpb.Payload{
		"nothing":           nil,
		"null":              {rawPayload(`null`)},
		"string":            {rawPayload(`"我要报销"`)},
		"number":            {rawPayload(`42`)},
		"list":              {rawPayload(`[{"message_id":"m","text":"x"}]`)},
		"empty object":      {rawPayload(`{}`)},
		"no JSON":           {rawPayload(`{"message_id":`)},
		"no data":           {rawPayload(``)},
		"binary":            {encoded("binary/plain", 0, 1, 0xff)},
		"invalid UTF-8":     {rawPayload("{\"message_id\":\"m\",\"text\":\"\xff\"}")},
		"no encoding":       {{Data: []byte(`{"message_id":"","text":"x"}`)}},
		"unknown encoding":  {encoded("rot13", 'u', 'v')},
		"protobuf":          {encoded("binary/protobuf", 10, 3, 'a', 'b', 'c')},
		"wrong types":       {rawPayload(`{"message_id":7,"text":{"a":1},"attachments":"x"}`)},
		"no time":           {rawPayload(`{"message_id":"m","text":"x","sent_at":"yesterday"}`)},
		"no message id":     {rawPayload(`{"text":"x"}`)},
		"too long":          {rawPayload(`{"message_id":"m","text":"` + tooLong + `"}`)},
		"deep":              {rawPayload(strings.Repeat(`[`, 20_000) + strings.Repeat(`]`, 20_000))},
		"upload not ours":   {rawPayload(`{"message_id":"m","attachments":[{"name":"x"}]}`)},
		"envelope of none":  {rawPayload(`{"message_id":"","payload":{"task":"x"},"digest":"00"}`)},
		"two, neither good": {rawPayload(`null`), rawPayload(`7`)},
	}
	signals := []string{
		conversation.SignalUserMessage, conversation.SignalComplete, conversation.SignalContinue,
		conversation.SignalErrorReport, "no_such_signal",
	}
	for name, payload := range payloads {
		t.Run(name, func(t *testing.T) {
			user := inMaterials(t, app)
			for _, signal := range signals {
				require.NoError(t, user.signalRaw(t.Context(), signal, payload...))
			}
			user.requireAlive(t)
		})
	}
	t.Run("3 MB", func(t *testing.T) {
		user := inMaterials(t, app)
		large := rawPayload(`{"message_id":"m","text":"` + strings.Repeat("x", 3<<20) + `"}`)
		require.Error(t, user.signalRaw(t.Context(), conversation.SignalUserMessage, large), "Temporal itself refuses it")
		user.requireAlive(t)
	})
	t.Run("before the first message", func(t *testing.T) {
		user, err := begin(t.Context(), app, demoUser)
		require.NoError(t, err)
		t.Cleanup(user.Close)
		for _, payload := range payloads {
			for _, signal := range signals {
				require.NoError(t, user.signalRaw(t.Context(), signal, payload...))
			}
		}
		reply, err := user.say(t.Context(), conversation.UserMessage{Text: demoClaim})
		require.NoError(t, err)
		require.Equal(t, conversation.StateMaterials, reply.State)
		user.requireAlive(t)
	})
	t.Run("counted", func(t *testing.T) {
		response, err := http.Get(app.HTTP + "/metrics")
		require.NoError(t, err)
		defer response.Body.Close()
		metrics, err := io.ReadAll(response.Body)
		require.NoError(t, err)
		for _, code := range []conversation.Code{
			conversation.CodeInvalidArgument, conversation.CodeInvalidUTF8, conversation.CodeTooLarge,
			conversation.CodeMalformedEnvelope,
		} {
			require.Regexp(t, `hermes_rejected_signals(_total)?\{[^}]*code="`+string(code)+`"`, string(metrics))
		}
	})
}

// TestRawUpdates sends what cannot be a message by the update, and updates that do not exist.
func TestRawUpdates(t *testing.T) {
	t.Parallel()
	app := open(t, assembleOptions{})
	user := inMaterials(t, app)
	for name, payload := range map[string]any{
		"string": "我要报销", "number": 42, "null": nil, "bytes": []byte{0, 0xff}, "empty": map[string]any{},
		"invalid UTF-8": converter.NewRawValue(rawPayload("{\"message_id\":\"m\",\"text\":\"\xff\"}")),
		"too long":      conversation.UserMessage{MessageID: "m", Text: strings.Repeat("x", conversation.MaxTextBytes+1)},
	} {
		t.Run(name, func(t *testing.T) {
			reply, err := user.converse(t.Context(), payload)
			require.Error(t, err, "%+v", reply)
		})
	}
	t.Run("unknown update", func(t *testing.T) {
		handle, err := app.Temporal.UpdateWorkflow(t.Context(), client.UpdateWorkflowOptions{
			WorkflowID: conversation.WorkflowID(user.session), UpdateName: "no_such_update",
			WaitForStage: client.WorkflowUpdateStageCompleted,
		})
		require.NoError(t, err)
		require.ErrorContains(t, handle.Get(t.Context(), nil), "no_such_update")
	})
	user.requireAlive(t)
}

// TestRawStarts starts conversations past the front door with inputs that cannot work: they end with a reason, and do
// not fail their workflow tasks for ever.
func TestRawStarts(t *testing.T) {
	t.Parallel()
	app := open(t, assembleOptions{})
	for name, bad := range map[string]struct {
		input any
		code  conversation.Code // Empty: whatever the SDK makes of it.
	}{
		"unknown flow": {
			conversation.ConversationInput{SessionID: "a", UserID: "u", Flow: "none"}, conversation.CodeUnknownFlow,
		},
		"no user": {conversation.ConversationInput{SessionID: "a"}, conversation.CodeInvalidArgument},
		"string":  {"报销", ""},
		"foreign state": {
			map[string]any{"session_id": "a", "user_id": "u", "carried": "x"}, conversation.CodeInternal,
		},
		"unknown rule set": {conversation.ConversationInput{SessionID: "a", UserID: "u", RuleSet: 99}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), endToEndLimit)
			defer cancel()
			run, err := app.Temporal.ExecuteWorkflow(ctx, client.StartWorkflowOptions{
				ID: conversation.WorkflowID(uuid.NewString()), TaskQueue: app.TaskQueue,
			}, conversation.WorkflowType, bad.input)
			require.NoError(t, err)
			err = run.Get(ctx, nil)
			require.Error(t, err)
			require.NoError(t, ctx.Err(), "it does not end")
			if bad.code != "" {
				require.Equal(t, bad.code, contract.FromTemporal(err).Code, "%v", err)
			}
		})
	}
}

// TestPlainSignal signals as the command line does: temporal workflow signal --input '{"message_id":"m1","text":"…"}'.
func TestPlainSignal(t *testing.T) {
	t.Parallel()
	app := open(t, assembleOptions{})
	user, err := begin(t.Context(), app, demoUser)
	require.NoError(t, err)
	t.Cleanup(user.Close)
	input := map[string]any{"message_id": "m1", "text": demoClaim}
	id := conversation.WorkflowID(user.session)
	require.NoError(t, app.Temporal.SignalWorkflow(t.Context(), id, "", conversation.SignalUserMessage, input))
	reply, err := user.heard(t.Context(), "m1")
	require.NoError(t, err)
	require.Equal(t, conversation.StateMaterials, reply.State)
	user.sent = append(user.sent, "m1")
	user.requireAlive(t)
}

// TestDuplicates sends messages again, by both ways and at the same time: each counts once.
func TestDuplicates(t *testing.T) {
	t.Parallel()
	app := open(t, assembleOptions{})
	user := inMaterials(t, app)
	ctx := t.Context()
	id := conversation.WorkflowID(user.session)
	m := user.next(conversation.UserMessage{Text: question})
	var group sync.WaitGroup
	replies := make([]conversation.Reply, 6)
	errs := make([]error, len(replies))
	for i := range replies {
		group.Go(func() {
			switch i % 3 {
			case 0:
				replies[i], errs[i] = user.door.Send(ctx, user.session, m)
			case 1: // Without the update id of the front door, by which Temporal itself finds duplicates.
				replies[i], errs[i] = user.converse(ctx, m)
			case 2:
				errs[i] = app.Temporal.SignalWorkflow(ctx, id, "", conversation.SignalUserMessage, m)
			}
		})
	}
	group.Wait()
	for i, reply := range replies {
		require.NoError(t, errs[i])
		if i%3 != 2 {
			require.Equal(t, m.MessageID, reply.MessageID)
			require.NotEqual(t, conversation.VerdictRefused, reply.Verdict)
			require.Equal(t, replies[0].Text, reply.Text)
			require.Equal(t, replies[0].Revision, reply.Revision)
		}
	}
	// Once more, when all is said.
	reply, err := user.converse(ctx, m)
	require.NoError(t, err)
	require.Equal(t, conversation.VerdictDuplicate, reply.Verdict)
	require.NoError(t, app.Temporal.SignalWorkflow(ctx, id, "", conversation.SignalUserMessage, m))
	user.requireAlive(t)
}

// TestRapidMessages sends 50 messages at the same time: each gets exactly one verdict.
func TestRapidMessages(t *testing.T) {
	t.Parallel()
	app := open(t, assembleOptions{})
	user := inMaterials(t, app)
	ctx, cancel := context.WithTimeout(t.Context(), endToEndLimit)
	defer cancel()
	const count = 50
	replies := make([]conversation.Reply, count)
	errs := make([]error, count)
	var group sync.WaitGroup
	for i := range count {
		m := conversation.UserMessage{MessageID: fmt.Sprintf("rapid-%d", i), Text: question, SentAt: demoTime}
		group.Go(func() {
			for {
				replies[i], errs[i] = user.door.Send(ctx, user.session, m)
				if conversation.CodeOf(errs[i]) != conversation.CodeUnavailable || ctx.Err() != nil {
					return
				}
			}
		})
	}
	group.Wait()
	for i, reply := range replies {
		require.NoError(t, errs[i])
		require.Equal(t, fmt.Sprintf("rapid-%d", i), reply.MessageID)
		require.Equal(t, conversation.VerdictUsed, reply.Verdict, "%s", reply.Text)
	}
	turns, err := user.transcript(ctx)
	require.NoError(t, err)
	heard, answered := map[string]int{}, map[string]int{}
	for _, turn := range turns {
		if turn.Role == "user" {
			heard[turn.MessageID]++
		} else {
			answered[turn.MessageID]++
		}
	}
	for i := range count {
		require.Equal(t, 1, heard[fmt.Sprintf("rapid-%d", i)])
		require.Equal(t, 1, answered[fmt.Sprintf("rapid-%d", i)])
	}
	view, err := user.view(ctx)
	require.NoError(t, err)
	require.Equal(t, count+1, view.Messages)
}

// TestEndedConversation talks to a conversation that has ended.
func TestEndedConversation(t *testing.T) {
	t.Parallel()
	app := open(t, assembleOptions{})
	user := inMaterials(t, app)
	reply, err := user.say(t.Context(), conversation.UserMessage{Choice: conversation.ChoiceCancel})
	require.NoError(t, err)
	require.Equal(t, conversation.OutcomeCancelled, reply.Outcome)
	id := conversation.WorkflowID(user.session)
	require.NoError(t, app.Temporal.GetWorkflow(t.Context(), id, "").Get(t.Context(), nil))

	late := conversation.UserMessage{MessageID: "late", Text: question}
	_, err = user.door.Send(t.Context(), user.session, late)
	require.Equal(t, conversation.CodeConversationEnded, conversation.CodeOf(err), "%v", err)
	require.Error(t, app.Temporal.SignalWorkflow(t.Context(), id, "", conversation.SignalUserMessage, late))
	err = user.door.Start(t.Context(), conversation.ConversationInput{SessionID: user.session, UserID: demoUser})
	require.Equal(t, conversation.CodeConversationEnded, conversation.CodeOf(err), "%v", err)
	require.NoError(t, user.checkNothingLost(t.Context()))
	view, err := user.view(t.Context())
	require.NoError(t, err)
	require.Equal(t, "S1→S2→S5", view.Path.String())
}

// TestDetailsAreText checks that a name which a user has chosen is text on the page of an operator, not Markdown.
func TestDetailsAreText(t *testing.T) {
	t.Parallel()
	app := open(t, assembleOptions{Faults: true})
	require.NoError(t, app.SetFaults([]dialogue.Fault{{Tool: "ocr_tool", Kind: fault.Down}}))
	user := inMaterials(t, app)
	attachments, err := user.files(t.Context(), "invoices.png")
	require.NoError(t, err)
	attachments[0].Name = "a|b\n# [click](http://evil.example) <img src=x> **bold**.png"
	_, err = user.say(t.Context(), conversation.UserMessage{Attachments: attachments})
	require.NoError(t, err)
	var metadata sdkpb.WorkflowMetadata
	require.NoError(t, user.ask(t.Context(), "__temporal_workflow_metadata", &metadata))
	require.Contains(t, metadata.GetCurrentDetails(),
		`| received a\|b # \[click\](http://evil.example) &lt;img src=x> \*\*bold\*\*.png |`)
}

// TestForgedCompletions answers a call that waits for its tool in that tool's place.
func TestForgedCompletions(t *testing.T) {
	t.Parallel()
	requireProgram(t, "tesseract")
	app := open(t, assembleOptions{Faults: true})
	require.NoError(t, app.SetFaults([]dialogue.Fault{
		{Tool: "ocr_tool", Kind: fault.Health, LatencyMS: 1200, SuccessRate: 0.98},
		{Tool: "ocr_tool", Kind: fault.Lost},
	}))
	user := inMaterials(t, app)
	ctx := t.Context()
	attachments, err := user.files(ctx, "invoices-sharp.png", "itinerary.png")
	require.NoError(t, err)
	reply, err := user.say(ctx, conversation.UserMessage{Attachments: attachments})
	require.NoError(t, err)
	require.True(t, reply.Interim, "%s", reply.Text)
	call := pendingCall(t, user)
	view, err := user.view(ctx)
	require.NoError(t, err)
	require.Len(t, view.Pending, 1)

	completion := conversation.Completion{
		Tool: call.Tool, Operation: call.Operation, Step: view.Pending[0], MessageID: call.MessageID, Status: http.StatusOK,
		Body:      []byte(`{"status":"ok","output":{"invoices":[{"id":"1"}],"itineraries":[],"unreadable":[]}}`),
		Signature: `ed25519; kid="k1"; sig="` + strings.Repeat("A", 86) + `"`,
	}
	about := func(rest string) json.RawMessage {
		return json.RawMessage(fmt.Sprintf(`{"message_id":%q%s}`, call.MessageID, rest))
	}
	forge := func(change func(*contract.Envelope, *conversation.Completion)) contract.Envelope {
		done := completion
		envelope := contract.Envelope{
			MessageID: "complete:" + call.MessageID, Timestamp: demoTime.UnixMilli(), Source: "tool:" + call.Tool,
			Target: "conversation:" + user.session, TraceID: reply.TraceID, CycleID: reply.CycleID,
			Payload: contract.Payload{Task: contract.TaskTaskComplete, Context: contract.Context{SessionID: user.session}},
		}
		change(&envelope, &done)
		if envelope.Payload.Context.Arguments == nil {
			envelope.Payload.Context.Arguments, err = json.Marshal(done)
			require.NoError(t, err)
		}
		if envelope.Digest == "" {
			require.NoError(t, envelope.Seal())
		}
		return envelope
	}
	for name, change := range map[string]func(*contract.Envelope, *conversation.Completion){
		"forged body":  func(*contract.Envelope, *conversation.Completion) {},
		"no signature": func(_ *contract.Envelope, c *conversation.Completion) { c.Signature = "" },
		"unknown key": func(_ *contract.Envelope, c *conversation.Completion) {
			c.Signature = strings.Replace(c.Signature, "k1", "k2", 1)
		},
		"garbage as signature": func(_ *contract.Envelope, c *conversation.Completion) { c.Signature = "yes" },
		"garbage as body":      func(_ *contract.Envelope, c *conversation.Completion) { c.Body = []byte{0, 0xff} },
		"failure forged":       func(_ *contract.Envelope, c *conversation.Completion) { c.Status = 500 },
		"refusal forged":       func(_ *contract.Envelope, c *conversation.Completion) { c.Status = 422 },
		"odd status":           func(_ *contract.Envelope, c *conversation.Completion) { c.Status = -1 },
		"another tool":         func(_ *contract.Envelope, c *conversation.Completion) { c.Tool = "org_tool" },
		"no such call":         func(_ *contract.Envelope, c *conversation.Completion) { c.MessageID = "none" },
		"wrong digest":         func(e *contract.Envelope, _ *conversation.Completion) { e.Digest = strings.Repeat("0", 64) },
		"no source":            func(e *contract.Envelope, _ *conversation.Completion) { e.Source = "" },
		"no arguments": func(e *contract.Envelope, _ *conversation.Completion) {
			e.Payload.Context.Arguments = about("")
		},
		"arguments of wrong types": func(e *contract.Envelope, _ *conversation.Completion) {
			e.Payload.Context.Arguments = about(`,"status":"ok","body":7`)
		},
	} {
		t.Run(name, func(t *testing.T) {
			id := conversation.WorkflowID(user.session)
			require.NoError(t, app.Temporal.SignalWorkflow(ctx, id, "", conversation.SignalComplete, forge(change)))
			// The same session, so that the queue is known to be empty when the answer is here.
			reply, err := user.say(ctx, conversation.UserMessage{Text: question})
			require.NoError(t, err)
			require.Equal(t, conversation.StateMaterials, reply.State)
			require.Equal(t, conversation.VerdictUsed, reply.Verdict)
			view, err := user.view(ctx)
			require.NoError(t, err)
			require.Len(t, view.Pending, 1, "the true answer may still come: %s", reply.Text)
			_, found := view.Case.Fact("invoices")
			require.False(t, found, "a forgery was used")
		})
	}
	t.Run("through the front door", func(t *testing.T) {
		url := fmt.Sprintf("%s/v1/tasks/complete?session_id=%s&trace_id=%s&tool=%s&operation=%s&step=%s&message_id=%s",
			app.HTTP, user.session, reply.TraceID, call.Tool, call.Operation, view.Pending[0], call.MessageID)
		status, code := post(t, url, "application/json", bytes.NewReader(completion.Body))
		require.Equal(t, http.StatusBadRequest, status, "neither signed nor the answer to a call")
		require.Equal(t, conversation.CodeInvalidArgument, code)
	})
	t.Run("the dispatcher gives up", func(t *testing.T) {
		report := forge(func(e *contract.Envelope, _ *conversation.Completion) {
			e.Payload.Task = contract.TaskErrorReport
			e.Payload.Context.Arguments = about(`,"code":"tool_unavailable","reason":"it does not come"`)
		})
		id := conversation.WorkflowID(user.session)
		require.NoError(t, app.Temporal.SignalWorkflow(ctx, id, "", conversation.SignalErrorReport, report))
		reply, err := user.heard(ctx, "")
		require.NoError(t, err)
		require.Equal(t, conversation.StateMaterials, reply.State)
		reply, err = user.say(ctx, conversation.UserMessage{Text: demoFigures})
		require.NoError(t, err)
		require.Equal(t, conversation.StateConfirmation, reply.State, "%s", reply.Text)
	})
}

// pendingCall is the call that the user waits for, as the history has it.
func pendingCall(t *testing.T, user *claimant) dialogue.ToolCall {
	t.Helper()
	calls, err := dialogue.ToolCalls(t.Context(), user.app.Temporal, conversation.WorkflowID(user.session))
	require.NoError(t, err)
	last := calls[len(calls)-1]
	require.Equal(t, conversation.AnswerProcessing, last.Answer.Status)
	return last
}
