package workflows

import (
	"encoding/json"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/hermes-orchestrator/hermes/contract"
	"github.com/hermes-orchestrator/hermes/conversation"
)

// reply renders from the snapshot alone, publishes, and keeps the reply for whoever asked. options replace those of
// the rendering where the choices are not the flow's.
func (r *run) reply(cy *cycle, request conversation.ReplyRequest, options ...conversation.Option) {
	r.Sequence++
	r.Asked, r.AskedOf = request.Kind, request.About
	request.Flow, request.Zone, request.Sequence = r.Flow, cy.zone, r.Sequence
	request.Snapshot = r.snapshot(r.input.SessionID)
	request.Reminders, r.Reminders = r.Reminders, nil
	reply := request.Reply
	reply.Verdict, reply.Locale, reply.State, reply.Outcome = conversation.VerdictUsed, cy.locale, r.State, r.Outcome
	reply.Path, reply.Revision, reply.TraceID, reply.CycleID = r.Path.String(), r.Revision, r.TraceID, cy.id
	reply.Options = options
	reply.VerificationSteps = cy.verification
	reply.Degraded = append(append([]conversation.Degraded(nil), r.Case.Degraded...), cy.degraded...)
	if cy.message != nil {
		reply.MessageID = cy.message.MessageID
	}
	request.Reply = reply
	var rendered conversation.Rendered
	if err := r.local(cy.ctx, cy, conversation.ActivityReply, contract.ComponentReply, request, &rendered); err != nil {
		coded := contract.FromTemporal(err)
		r.logger.Error("reply not rendered", "kind", string(request.Kind), "error", coded, "trace_id", r.TraceID)
		reply.Text, reply.Error = coded.Message, coded
		// What was not shown was not asked, and cannot be confirmed.
		r.Asked, r.AskedOf, r.Receipt = "", "", nil
		cy.reply = &reply
		return
	}
	reply.Text = rendered.Text
	if len(reply.Options) == 0 {
		reply.Options = rendered.Options
	}
	cy.reply = &reply
	r.turn(conversation.Turn{
		At: workflow.Now(cy.ctx), Role: "hermes", MessageID: reply.MessageID, Text: reply.Text, State: r.State,
		Options: reply.Options,
	})
}

// processing says that a slow tool is at work; its result comes as a reply of its own.
func (r *run) processing(cy *cycle, estimated string) {
	r.reply(cy, conversation.ReplyRequest{
		Kind: conversation.ReplyProcessing, Missing: r.Missing,
		Reply: conversation.Reply{Interim: true, Status: conversation.AnswerProcessing, EstimatedTime: estimated},
	})
}

// flush remembers what cycles left to write. A tier that is down keeps it for the next time: nothing is lost and
// nobody waits for it.
func (r *run) flush(ctx workflow.Context) {
	if len(r.Unwritten) == 0 || r.State == conversation.StateEnd {
		return
	}
	r.remember(ctx, workflow.ActivityOptions{
		StartToCloseTimeout: 5 * time.Second, ScheduleToCloseTimeout: 10 * time.Second,
		RetryPolicy: &temporal.RetryPolicy{InitialInterval: 200 * time.Millisecond, MaximumAttempts: 3},
	})
}

// flushAll is the last chance: it tries for a day before it gives up, and says so.
func (r *run) flushAll(ctx workflow.Context) {
	if len(r.Unwritten) == 0 {
		return
	}
	r.remember(ctx, workflow.ActivityOptions{
		StartToCloseTimeout: 10 * time.Second, ScheduleToCloseTimeout: 24 * time.Hour,
		RetryPolicy: &temporal.RetryPolicy{InitialInterval: 200 * time.Millisecond, MaximumInterval: time.Minute},
	})
	if len(r.Unwritten) > 0 {
		r.logger.Error("memory not written", "writes", len(r.Unwritten), "trace_id", r.TraceID)
	}
}

func (r *run) remember(ctx workflow.Context, options workflow.ActivityOptions) {
	cy := r.openCycle(ctx, nil)
	options.Summary = "remember"
	e, err := r.envelope(cy, contract.ComponentLongterm, contract.TaskRemember,
		conversation.RememberRequest{Writes: r.Unwritten},
		contract.Metadata{TimeoutMS: options.StartToCloseTimeout.Milliseconds(), Effect: contract.EffectWrite})
	var remembered conversation.Remembered
	if err == nil {
		activityCtx := workflow.WithActivityOptions(cy.ctx, options)
		err = workflow.ExecuteActivity(activityCtx, conversation.ActivityRemember, e).Get(cy.ctx, &remembered)
	}
	if err == nil {
		r.Unwritten = nil
	}
	for _, d := range remembered.Degraded {
		r.logger.Error("write refused by memory", "component", d.Component, "reason", d.Reason, "trace_id", r.TraceID)
	}
	contract.Close(cy.ctx, cy.ledger)
}

// said is how a message stands in the transcript.
func said(m *conversation.UserMessage) string {
	if m.Text == "" && m.Choice != "" {
		return "[" + m.Choice + "]"
	}
	return m.Text
}

func fileNames(m *conversation.UserMessage) []string {
	var names []string
	for _, a := range m.Attachments {
		names = append(names, a.Name)
	}
	return names
}

// completionOf is the message id of the call that an envelope of an outside component is about.
func completionOf(e *contract.Envelope) string {
	var about struct {
		MessageID string `json:"message_id"`
	}
	if err := json.Unmarshal(e.Payload.Context.Arguments, &about); err != nil {
		return ""
	}
	return about.MessageID
}

func decode(data json.RawMessage, into any) error {
	if err := json.Unmarshal(data, into); err != nil {
		return conversation.Errorf(conversation.CodeMalformedEnvelope, "arguments: %w", err)
	}
	return nil
}
