package dialogue

import (
	"context"
	"errors"
	"fmt"
	"mime"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/google/uuid"
	"go.temporal.io/sdk/client"

	"github.com/hermes-orchestrator/hermes/conversation"
)

// World is the running system that a script talks to. Each script has one of its own, so that faults, budgets and
// memories of one script do not reach another.
type World struct {
	Door     *Door
	Temporal client.Client
	// TaskQueue of the world's worker, for what the front door does not offer.
	TaskQueue string
	// SetFaults replaces what goes wrong with the tools.
	SetFaults func([]Fault) error
	// Relations reads the verified relations that the user may see.
	Relations func(ctx context.Context, user string) ([]conversation.Relation, error)
}

// Result is the verdict on one script.
type Result struct {
	Script   *Script
	Failures []string
	Skipped  string // Why, if it was.
	Sessions []string
	Took     time.Duration
}

// stepLimit bounds the wait for one reply. It is a guard against hanging, not an expectation.
const stepLimit = 90 * time.Second

// Run plays the script and checks every expectation. It returns an error only where the script could not be played.
func Run(ctx context.Context, s *Script, w World) (Result, error) {
	started := time.Now()
	p := &player{script: s, world: w, at: s.At, result: Result{Script: s}}
	if p.at.IsZero() {
		p.at = time.Now()
	}
	err := p.play(ctx)
	p.result.Took = time.Since(started)
	return p.result, err
}

type player struct {
	script *Script
	world  World
	result Result

	at      time.Time
	session string
	events  *Events
	faults  []Fault
	last    conversation.Reply
}

func (p *player) play(ctx context.Context) error {
	defer func() {
		if p.events != nil {
			p.events.Close()
		}
	}()
	p.faults = p.script.Faults
	if err := p.world.SetFaults(p.faults); err != nil {
		return err
	}
	for i, step := range p.script.Steps {
		if err := p.step(ctx, i, step); err != nil {
			return fmt.Errorf("steps[%d]: %w", i, err)
		}
	}
	return p.end(ctx)
}

func (p *player) step(ctx context.Context, i int, step Step) error {
	ctx, cancel := context.WithTimeout(ctx, stepLimit)
	defer cancel()
	if p.session == "" || step.NewConversation {
		if err := p.begin(ctx); err != nil {
			return err
		}
	}
	if step.ClearFaults {
		p.faults = nil
	}
	if step.ClearFaults || len(step.Faults) > 0 {
		p.faults = append(p.faults, step.Faults...)
		if err := p.world.SetFaults(p.faults); err != nil {
			return err
		}
	}
	reply, err := p.act(ctx, step)
	if err != nil {
		var coded *conversation.Error
		if !errors.As(err, &coded) {
			return err
		}
		reply = conversation.Reply{
			Verdict: conversation.VerdictRefused, Error: coded, Text: coded.Message,
			State: p.last.State, Path: p.last.Path,
		}
	}
	p.last = reply
	p.check(ctx, i, step.Expect, reply)
	return nil
}

// begin starts the next conversation of the user and listens to its events.
func (p *player) begin(ctx context.Context) error {
	limits, err := p.script.limits()
	if err != nil {
		return err
	}
	if p.events != nil {
		p.events.Close()
	}
	p.session = uuid.NewString()
	p.result.Sessions = append(p.result.Sessions, p.session)
	input := conversation.ConversationInput{
		SessionID: p.session, UserID: p.script.User, Flow: p.script.Flow, Locale: p.script.Locale, Zone: p.script.Zone,
		Limits: limits, MaxMessages: p.script.MaxMessages,
	}
	if err := p.start(ctx, input); err != nil {
		return err
	}
	p.events, err = p.world.Door.Listen(p.session)
	return err
}

// start goes through the front door; a bound of messages, which it does not offer, is given to Temporal directly, as a
// service that starts conversations itself would.
func (p *player) start(ctx context.Context, input conversation.ConversationInput) error {
	if input.MaxMessages == 0 {
		return p.world.Door.Start(ctx, input)
	}
	options := client.StartWorkflowOptions{ID: conversation.WorkflowID(input.SessionID), TaskQueue: p.world.TaskQueue}
	_, err := p.world.Temporal.ExecuteWorkflow(ctx, options, conversation.WorkflowType, input)
	return err
}

func (p *player) act(ctx context.Context, step Step) (conversation.Reply, error) {
	if step.Wait {
		return p.events.Next(ctx, func(r conversation.Reply) bool { return r.MessageID == "" })
	}
	m := conversation.UserMessage{
		MessageID: step.MessageID, Text: step.Say, Choice: step.Choose, SentAt: p.at, Revision: step.Revision,
	}
	if m.MessageID == "" {
		m.MessageID = uuid.NewString()
	}
	p.at = p.at.Add(time.Second)
	for _, file := range step.Files {
		path := filepath.Join(filepath.Dir(p.script.file), file)
		attachment, err := p.upload(ctx, path)
		if err != nil {
			return conversation.Reply{}, err
		}
		m.Attachments = append(m.Attachments, attachment)
	}
	if step.By == "signal" {
		if err := p.world.Temporal.SignalWorkflow(ctx, conversation.WorkflowID(p.session), "",
			conversation.SignalUserMessage, m); err != nil {
			return conversation.Reply{}, err
		}
		return p.events.Next(ctx, func(r conversation.Reply) bool { return r.MessageID == m.MessageID })
	}
	return p.world.Door.Send(ctx, p.session, m)
}

func (p *player) upload(ctx context.Context, path string) (conversation.Attachment, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return conversation.Attachment{}, fmt.Errorf("file of the script: %w", err)
	}
	mediaType := mime.TypeByExtension(strings.ToLower(filepath.Ext(path)))
	return p.world.Door.Upload(ctx, filepath.Base(path), mediaType, data)
}
