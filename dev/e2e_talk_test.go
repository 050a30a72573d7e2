package main

import (
	"context"
	"errors"
	"fmt"
	"mime"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/hermes-orchestrator/hermes/conversation"
	"github.com/hermes-orchestrator/hermes/dev/dialogue"
	"github.com/hermes-orchestrator/hermes/dev/webcheck"
)

// endToEndLimit bounds one conversation of a test. It is a guard against hanging, not an expectation.
const endToEndLimit = 2 * time.Minute

// exampleDir is the example, seen from this package.
var exampleDir = filepath.Join("..", "examples", "expense")

// requireProgram skips the test without the program, and fails it where every program must be installed.
func requireProgram(t *testing.T, program string) {
	t.Helper()
	_, err := exec.LookPath(program)
	if err == nil {
		return
	}
	if os.Getenv(webcheck.EnvCI) == "1" {
		t.Fatalf("%s=1, but: %v", webcheck.EnvCI, err)
	}
	t.Skipf("SKIPPED, NOT CHECKED: what needs %s: %v", program, err)
}

// shareStack starts a Temporal server that the applications of one test share.
func shareStack(t *testing.T) *sharedStack {
	t.Helper()
	shared, err := startStack(t.Context(), stackOptions{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, shared.Close()) })
	return shared
}

// open assembles an application that ends with the test.
func open(t *testing.T, options assembleOptions) *application {
	t.Helper()
	options.Example = exampleDir
	app, err := assemble(t.Context(), options)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, app.Close()) })
	return app
}

// claimant is a user with one conversation. It is not safe for concurrent use.
type claimant struct {
	app     *application
	door    *dialogue.Door
	events  *dialogue.Events
	session string
	at      time.Time
	sent    []string // Ids of the messages, in order.
}

// begin starts a conversation of user and listens to its events. Close ends the listening.
func begin(ctx context.Context, app *application, user string) (*claimant, error) {
	c := &claimant{app: app, door: dialogue.NewDoor(app.HTTP), session: uuid.NewString(), at: demoTime}
	input := conversation.ConversationInput{SessionID: c.session, UserID: user, Locale: conversation.LocaleChinese}
	if err := c.door.Start(ctx, input); err != nil {
		c.door.Close()
		return nil, err
	}
	events, err := c.door.Listen(c.session)
	c.events = events
	return c, err
}

// Close ends listening; the conversation stays.
func (c *claimant) Close() {
	c.events.Close()
	c.door.Close()
}

// next gives a message its id and time.
func (c *claimant) next(m conversation.UserMessage) conversation.UserMessage {
	m.MessageID, m.SentAt = uuid.NewString(), c.at
	c.at = c.at.Add(time.Second)
	c.sent = append(c.sent, m.MessageID)
	return m
}

// say sends a message through the front door. Like any client, it sends it again under its id for as long as the front
// door says that it cannot know what became of it.
func (c *claimant) say(ctx context.Context, m conversation.UserMessage) (conversation.Reply, error) {
	m = c.next(m)
	for {
		reply, err := c.door.Send(ctx, c.session, m)
		if conversation.CodeOf(err) != conversation.CodeUnavailable || ctx.Err() != nil {
			return reply, err
		}
	}
}

// signal sends a message as a service that only signals: when it returns, Temporal has it.
func (c *claimant) signal(ctx context.Context, m conversation.UserMessage) (id string, err error) {
	m = c.next(m)
	workflow := conversation.WorkflowID(c.session)
	return m.MessageID, c.app.Temporal.SignalWorkflow(ctx, workflow, "", conversation.SignalUserMessage, m)
}

// heard waits for the published reply to a message; "" is a reply that answers none.
func (c *claimant) heard(ctx context.Context, messageID string) (conversation.Reply, error) {
	return c.events.Next(ctx, func(r conversation.Reply) bool { return r.MessageID == messageID })
}

// settled waits for what follows an interim reply.
func (c *claimant) settled(ctx context.Context, reply conversation.Reply) (conversation.Reply, error) {
	if !reply.Interim {
		return reply, nil
	}
	return c.heard(ctx, "")
}

// files uploads files of the example.
func (c *claimant) files(ctx context.Context, names ...string) ([]conversation.Attachment, error) {
	var attachments []conversation.Attachment
	for _, name := range names {
		data, err := os.ReadFile(filepath.Join(exampleDir, "files", name))
		if err != nil {
			return nil, err
		}
		attachment, err := c.door.Upload(ctx, name, mime.TypeByExtension(filepath.Ext(name)), data)
		if err != nil {
			return nil, err
		}
		attachments = append(attachments, attachment)
	}
	return attachments, nil
}

// ask reads a query of the conversation into value.
func (c *claimant) ask(ctx context.Context, query string, value any) error {
	answer, err := c.app.Temporal.QueryWorkflow(ctx, conversation.WorkflowID(c.session), "", query)
	if err != nil {
		return fmt.Errorf("query %s: %w", query, err)
	}
	return answer.Get(value)
}

// view reads the query case.
func (c *claimant) view(ctx context.Context) (view conversation.CaseView, err error) {
	return view, c.ask(ctx, conversation.QueryCase, &view)
}

// transcript reads the query transcript.
func (c *claimant) transcript(ctx context.Context) (turns []conversation.Turn, err error) {
	return turns, c.ask(ctx, conversation.QueryTranscript, &turns)
}

// checkNothingLost checks that each message that was sent stands in the transcript once, in order, and was answered.
func (c *claimant) checkNothingLost(ctx context.Context) error {
	turns, err := c.transcript(ctx)
	if err != nil {
		return err
	}
	var heard []string
	answered := map[string]int{}
	for _, turn := range turns {
		if turn.Role == "user" {
			heard = append(heard, turn.MessageID)
		} else {
			answered[turn.MessageID]++
		}
	}
	if fmt.Sprint(heard) != fmt.Sprint(c.sent) {
		return fmt.Errorf("messages %v were sent, the conversation has %v", c.sent, heard)
	}
	var errs []error
	for _, id := range c.sent {
		if answered[id] != 1 {
			errs = append(errs, fmt.Errorf("message %s was answered %d times", id, answered[id]))
		}
	}
	return errors.Join(errs...)
}
