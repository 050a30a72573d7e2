package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"github.com/hermes-orchestrator/hermes/conversation"
	"github.com/hermes-orchestrator/hermes/dev/dialogue"
)

// demoCommand plays the acceptance dialogue on the embedded stack with real image files.
func demoCommand() *cobra.Command {
	var files, example string
	command := &cobra.Command{
		Use:   "demo expense",
		Short: "play the travel-expense dialogue and print transcript, tool calls, ledger and path",
		Args:  cobra.ExactArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			if args[0] != "expense" {
				return conversation.Errorf(conversation.CodeUnknownFlow, "demo %q: there is a demo of \"expense\"", args[0])
			}
			return demo(command.Context(), command.OutOrStdout(), example, files)
		},
	}
	command.Flags().StringVar(&files, "files", "",
		"folder with the images to send (defaults to the example's invoices and itinerary)")
	command.Flags().StringVar(&example, "example", filepath.Join("examples", "expense"), "folder of the example")
	return command
}

// The user's side of the dialogue: what a person would say, depending only on what Hermes asks.
const (
	demoClaim   = "我要报上个月去深圳的差旅费"
	demoAccept  = "不用，就这三张"
	demoFigures = "一共8240元，3张发票，行程5月12日到15日"
	demoConfirm = "确认"
	demoUser    = "u-1001"
	demoTurns   = 8
)

var demoTime = time.Date(2024, 6, 3, 10, 0, 0, 0, time.FixedZone("CST", 8*3600))

func demo(ctx context.Context, out io.Writer, example, files string) error {
	images, err := demoImages(example, files)
	if err != nil {
		return err
	}
	app, err := assemble(ctx, assembleOptions{Example: example})
	if err != nil {
		return err
	}
	defer func() { _ = app.Close() }()
	door := dialogue.NewDoor(app.HTTP)
	defer door.Close()

	session := uuid.NewString()
	input := conversation.ConversationInput{
		SessionID: session, UserID: demoUser, Locale: conversation.LocaleChinese, Zone: "Asia/Shanghai",
	}
	if err := door.Start(ctx, input); err != nil {
		return err
	}
	events, err := door.Listen(session)
	if err != nil {
		return err
	}
	defer events.Close()
	d := &demonstration{door: door, events: events, session: session, at: demoTime}
	if err := d.play(ctx, images); err != nil {
		return err
	}
	return d.report(ctx, out, app)
}

func demoImages(example, files string) ([]string, error) {
	if files == "" {
		folder := filepath.Join(example, "files")
		return []string{filepath.Join(folder, "invoices.png"), filepath.Join(folder, "itinerary.png")}, nil
	}
	entries, err := os.ReadDir(files)
	if err != nil {
		return nil, conversation.Errorf(conversation.CodeNotFound, "--files: %w", err)
	}
	var images []string
	for _, entry := range entries {
		switch strings.ToLower(filepath.Ext(entry.Name())) {
		case ".png", ".jpg", ".jpeg":
			images = append(images, filepath.Join(files, entry.Name()))
		}
	}
	if len(images) == 0 {
		return nil, conversation.Errorf(conversation.CodeNotFound, "--files %q: no .png or .jpg file in it", files)
	}
	sort.Strings(images)
	return images, nil
}

type demonstration struct {
	door    *dialogue.Door
	events  *dialogue.Events
	session string
	at      time.Time
	said    int
}

// play answers whatever Hermes asks until the conversation ends.
func (d *demonstration) play(ctx context.Context, images []string) error {
	ctx, cancel := context.WithTimeout(ctx, 3*time.Minute)
	defer cancel()
	reply, err := d.send(ctx, conversation.UserMessage{Text: demoClaim})
	if err != nil {
		return err
	}
	var attachments []conversation.Attachment
	for _, path := range images {
		data, err := os.ReadFile(path)
		if err != nil {
			return conversation.Errorf(conversation.CodeNotFound, "image: %w", err)
		}
		a, err := d.door.Upload(ctx, filepath.Base(path), mime.TypeByExtension(strings.ToLower(filepath.Ext(path))), data)
		if err != nil {
			return err
		}
		attachments = append(attachments, a)
	}
	if reply.State == conversation.StateMaterials {
		if reply, err = d.send(ctx, conversation.UserMessage{Attachments: attachments}); err != nil {
			return err
		}
	}
	asked := map[string]bool{}
	for range demoTurns {
		if reply.State == conversation.StateEnd {
			return nil
		}
		message, answer := d.answer(reply, asked)
		if !answer {
			return nil
		}
		if reply, err = d.send(ctx, message); err != nil {
			return err
		}
	}
	return nil
}

// answer is what a person would say to the reply; a question that is asked again gets the offered choice.
func (d *demonstration) answer(reply conversation.Reply, asked map[string]bool) (conversation.UserMessage, bool) {
	again := asked[reply.Text]
	asked[reply.Text] = true
	has := func(id string) bool {
		return slices.ContainsFunc(reply.Options, func(o conversation.Option) bool { return o.ID == id })
	}
	switch {
	case reply.State == conversation.StateReview && !again:
		return conversation.UserMessage{Text: demoAccept}, true
	case reply.State == conversation.StateReview && has(conversation.ChoiceAccept):
		return conversation.UserMessage{Choice: conversation.ChoiceAccept}, true
	case reply.State == conversation.StateConfirmation && has(conversation.ChoiceConfirm):
		return conversation.UserMessage{Text: demoConfirm}, !again
	case reply.State == conversation.StateMaterials && !again:
		return conversation.UserMessage{Text: demoFigures}, true
	}
	return conversation.UserMessage{}, false
}

// send says something and returns the reply, or the late one if that was only interim.
func (d *demonstration) send(ctx context.Context, m conversation.UserMessage) (conversation.Reply, error) {
	d.said++
	m.MessageID = fmt.Sprintf("demo-%d", d.said)
	m.SentAt = d.at
	d.at = d.at.Add(10 * time.Second)
	reply, err := d.door.Send(ctx, d.session, m)
	if err != nil || !reply.Interim {
		return reply, err
	}
	return d.events.Next(ctx, func(r conversation.Reply) bool { return r.MessageID == "" })
}

// report prints what the running conversation, Temporal's history and the ledger have to say.
func (d *demonstration) report(ctx context.Context, out io.Writer, app *application) error {
	temporal := app.Temporal
	id := conversation.WorkflowID(d.session)
	var turns []conversation.Turn
	var view conversation.CaseView
	for name, into := range map[string]any{conversation.QueryTranscript: &turns, conversation.QueryCase: &view} {
		value, err := temporal.QueryWorkflow(ctx, id, "", name)
		if err != nil {
			return fmt.Errorf("query %s: %w", name, err)
		}
		if err := value.Get(into); err != nil {
			return fmt.Errorf("query %s: %w", name, err)
		}
	}
	fmt.Fprintln(out, "Transcript")
	for _, turn := range turns {
		printTurn(out, turn)
	}
	calls, err := dialogue.ToolCalls(ctx, temporal, id)
	if err != nil {
		return err
	}
	fmt.Fprintln(out, "\nTool calls (from Temporal's history)")
	for _, call := range calls {
		printCall(out, call)
	}
	debits, err := app.Debits(ctx)
	if err != nil {
		return err
	}
	fmt.Fprintln(out, "\nLedger")
	for _, line := range debits {
		fmt.Fprintf(out, "  %s\n", line)
	}
	fmt.Fprintf(out, "\nOutcome %s, debits in the ledger: %d, trace %s\n", view.Outcome, len(debits), view.TraceID)
	fmt.Fprintln(out, view.Path.String())
	if view.Outcome != conversation.OutcomeCommitted || len(debits) != 1 {
		return conversation.Errorf(conversation.CodeInternal,
			"demo: outcome %q with %d debits, expected committed with 1", view.Outcome, len(debits))
	}
	return nil
}

func printTurn(out io.Writer, turn conversation.Turn) {
	text := turn.Text
	if len(turn.Files) > 0 {
		text = strings.TrimSpace(text + " [" + strings.Join(turn.Files, ", ") + "]")
	}
	if turn.Role == "user" {
		fmt.Fprintf(out, "  user    %s\n", text)
		return
	}
	var labels []string
	for _, option := range turn.Options {
		labels = append(labels, "["+option.Label+"]")
	}
	text = strings.ReplaceAll(text, "\n", "\n               ")
	line := fmt.Sprintf("  hermes  %-5s %s %s", turn.State, text, strings.Join(labels, "/"))
	fmt.Fprintln(out, strings.TrimRight(line, " "))
}

func printCall(out io.Writer, call dialogue.ToolCall) {
	status := "failed"
	var steps []string
	var output json.RawMessage
	if call.Answer != nil {
		status, steps, output = call.Answer.Status, call.Answer.Verification, call.Answer.Output
		if call.Answer.Degraded != nil {
			status = "degraded (" + call.Answer.Degraded.Strategy + ")"
		}
	}
	if call.Later != nil {
		status += ", then ok by task_complete"
		steps, output = call.Later.Verification, call.Later.Output
	}
	name := call.Tool + "." + call.Operation
	if call.Fallback {
		name += " fallback"
	}
	fmt.Fprintf(out, "  %-24s %s\n", name, status)
	if len(output) > 0 {
		fmt.Fprintf(out, "      → %s\n", conversation.Clip(string(output), 160))
	}
	for _, step := range steps {
		fmt.Fprintf(out, "      ✓ %s\n", step)
	}
}
