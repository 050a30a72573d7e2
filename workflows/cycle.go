package workflows

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/hermes-orchestrator/hermes/contract"
	"github.com/hermes-orchestrator/hermes/conversation"
)

// cycle is one message cycle: what one user message, one late answer or one deadline sets in motion.
type cycle struct {
	ctx    workflow.Context
	ledger *contract.Ledger
	id     string
	// message is what the user sent; nil for a cycle of its own.
	message *conversation.UserMessage
	// now, zone and locale are those of the message: relative dates and texts mean them.
	now    time.Time
	zone   string
	locale string

	envelopes    int
	writes       []conversation.Write
	verification []string
	degraded     []conversation.Degraded
	reply        *conversation.Reply
}

// traceID derives the id of a trace from the first run of its conversation: 32 hex digits, the form of the W3C trace
// context, the same at each replay.
func traceID(seed string) string {
	sum := sha256.Sum256([]byte("hermes.trace/" + seed))
	return hex.EncodeToString(sum[:16])
}

// openCycle opens the next cycle; message is nil where no user asked.
func (r *run) openCycle(ctx workflow.Context, message *conversation.UserMessage) *cycle {
	r.Cycles++
	cy := &cycle{
		id: fmt.Sprintf("%s-%d", r.TraceID, r.Cycles), message: message,
		now: workflow.Now(ctx), zone: r.Zone, locale: r.Locale,
	}
	if message != nil {
		cy.now = message.SentAt
		if message.Zone != "" {
			cy.zone = message.Zone
		}
		if message.Locale != "" {
			cy.locale = message.Locale
		}
	}
	cy.ctx, cy.ledger = contract.Open(ctx, max(1, r.input.RuleSet), r.TraceID, cy.id)
	cy.ctx = contract.WithSnapshot(cy.ctx, r.snapshot(r.input.SessionID))
	return cy
}

// closeCycle writes what the cycle wants remembered and closes its ledger.
func (r *run) closeCycle(cy *cycle) {
	r.Unwritten = append(r.Unwritten, cy.writes...)
	cy.writes = nil
	r.publishAttributes(cy.ctx)
	contract.Close(cy.ctx, cy.ledger)
}

// messageID names the message that facts of this cycle stem from.
func (cy *cycle) messageID() string {
	if cy.message != nil {
		return cy.message.MessageID
	}
	return cy.id
}

// envelope makes the sealed envelope of one dispatch.
func (r *run) envelope(
	cy *cycle, target, task string, arguments any, metadata contract.Metadata,
) (contract.Envelope, error) {
	data, err := json.Marshal(arguments)
	if err != nil {
		return contract.Envelope{}, conversation.Errorf(conversation.CodeInternal, "arguments of task %q: %w", task, err)
	}
	cy.envelopes++
	e := contract.Envelope{
		MessageID: fmt.Sprintf("%s.%d", cy.id, cy.envelopes),
		Timestamp: workflow.Now(cy.ctx).UnixMilli(),
		Source:    "conversation:" + string(r.State),
		Target:    target,
		Payload: contract.Payload{Task: task, Context: contract.Context{
			UserID: r.input.UserID, SessionID: r.input.SessionID, Arguments: data,
		}},
		TraceID: r.TraceID, CycleID: cy.id, Metadata: metadata,
	}
	return e, e.Seal()
}

// local runs one local activity: work of the conversation itself, in the same workflow task. ctx is that of the
// calling coroutine, within the cycle's.
func (r *run) local(
	ctx workflow.Context, cy *cycle, activity, target string, arguments, result any,
	options ...workflow.LocalActivityOptions,
) error {
	o := workflow.LocalActivityOptions{ScheduleToCloseTimeout: 15 * time.Second, StartToCloseTimeout: 5 * time.Second}
	if len(options) > 0 {
		o = options[0]
	}
	o.Summary = activity
	if o.RetryPolicy == nil {
		o.RetryPolicy = &temporal.RetryPolicy{InitialInterval: 100 * time.Millisecond, MaximumInterval: 2 * time.Second}
	}
	task := activity
	if activity == conversation.ActivityRecall {
		task = contract.TaskQueryContext
	}
	e, err := r.envelope(cy, target, task, arguments, contract.Metadata{TimeoutMS: o.StartToCloseTimeout.Milliseconds()})
	if err != nil {
		return err
	}
	return workflow.ExecuteLocalActivity(workflow.WithLocalActivityOptions(ctx, o), activity, e).Get(ctx, result)
}

// accept makes the compare-and-swap that must precede every change of state (SPEC C7).
func (r *run) accept(ctx workflow.Context, cy *cycle, writer string) bool {
	var accepted conversation.Accepted
	err := r.local(ctx, cy, conversation.ActivityAccept, "memory:session",
		conversation.AcceptRequest{State: r.State, Expected: r.Revision, Writer: writer}, &accepted)
	switch {
	case err != nil:
		coded := contract.FromTemporal(err)
		cy.reply = r.refused(cy.message, conversation.Errorf(conversation.CodeUnavailable,
			"the session store does not answer (%s): nothing was changed, send the message again", coded.Message))
		return false
	case accepted.Conflict:
		cy.reply = r.refused(cy.message, conversation.Errorf(conversation.CodeConflict,
			"message %q was first: look at the present state (revision %d) and decide again",
			accepted.Winner, accepted.Revision))
		r.Revision = max(r.Revision, accepted.Revision)
		return false
	}
	r.Revision = accepted.Revision
	return true
}

// recall asks memory for the context (SPEC P2). An empty answer is an answer; a tier that is down is named in it.
func (r *run) recall(ctx workflow.Context, cy *cycle) {
	var recollection conversation.Recollection
	request := conversation.RecallRequest{Flow: r.Flow, WithUnfinished: r.State == conversation.StateIntent}
	if err := r.local(ctx, cy, conversation.ActivityRecall, contract.ComponentMemory, request, &recollection); err != nil {
		coded := contract.FromTemporal(err)
		cy.degraded = appendDegraded(cy.degraded,
			conversation.Degraded{Component: contract.ComponentMemory, Strategy: "absent", Reason: coded.Message})
		return
	}
	for _, d := range recollection.Degraded {
		cy.degraded = appendDegraded(cy.degraded, d)
	}
	r.Preferences = recollection.Preferences
	// Only what was known before this conversation is a reminder; its own warnings are shown where they arise.
	if !r.Reminded && r.Flow.ID != "" {
		r.Reminders, r.Reminded = recollection.Warnings, true
	}
	if !r.Offered && r.Offer == nil {
		for i := range recollection.Unfinished {
			u := recollection.Unfinished[i]
			if u.SessionID != r.input.SessionID {
				r.Offer = &u
				break
			}
		}
	}
}

// transition moves the conversation. The snapshot of where it leaves is made first and travels with all that follows
// (SPEC C4). An event that the state does not admit changes nothing and is an error of the caller.
func (r *run) transition(cy *cycle, event conversation.Event, reason string) {
	t, err := conversation.Next(r.State, event)
	if err != nil {
		r.logger.Error("transition refused", "error", err, "trace_id", r.TraceID, "cycle_id", cy.id)
		return
	}
	cy.ctx = contract.WithSnapshot(cy.ctx, r.snapshot(r.input.SessionID))
	now := workflow.Now(cy.ctx)
	r.State, r.EnteredAt, r.Outcome = t.To, now, t.Outcome
	r.Path = append(r.Path, conversation.Step{State: t.To, At: now, Event: event, Reason: conversation.Clip(reason, 120)})
	r.Warned = false
	r.Receipt = nil
	r.wait(now)
	r.logger.Info("state entered", "state", string(t.To), "event", string(event), "path", r.Path.String(),
		"trace_id", r.TraceID, "cycle_id", cy.id)
	if t.To == conversation.StateEnd {
		r.Deadline = time.Time{}
		for _, p := range r.Pending {
			r.unread(p.Files) // Nobody will read them here: whoever goes on must.
		}
		r.Pending = nil
		r.keepUnfinished(cy, now)
		r.Case.Symbols = nil // Short-term memory dies with the conversation (SPEC M1).
	}
}

// unread makes files count as not inspected again.
func (r *run) unread(files []string) {
	for i := range r.Case.Materials {
		if slices.Contains(files, r.Case.Materials[i].Attachment.SHA256) {
			r.Case.Materials[i].Inspected = false
		}
	}
}

// uninspectedFiles are the hashes of uploads that no tool has read and none is reading.
func (r *run) uninspectedFiles() []string {
	var files []string
	for _, m := range r.Case.Materials {
		if !m.Inspected {
			files = append(files, m.Attachment.SHA256)
		}
	}
	return files
}

// keepUnfinished stores the context of a conversation that ends without commitment, so that the next one can go on.
func (r *run) keepUnfinished(cy *cycle, now time.Time) {
	if r.Flow.ID == "" || r.Case.Intent == "" {
		return
	}
	if r.Outcome == conversation.OutcomeCommitted {
		cy.writes = append(cy.writes, conversation.Write{Kind: conversation.WriteFinished, Name: r.input.SessionID})
		return
	}
	kept := r.Case.Clone()
	kept.Symbols, kept.Verification, kept.Degraded = nil, nil, nil // Short-term memory dies with the conversation (M1).
	unfinished := &conversation.Unfinished{
		SessionID: r.input.SessionID, Flow: r.Flow, Outcome: r.Outcome, Summary: r.Summary, At: now, Case: kept,
		OpenKey: r.OpenKey,
	}
	cy.writes = append(cy.writes, conversation.Write{Kind: conversation.WriteUnfinished, Unfinished: unfinished})
}

func appendDegraded(list []conversation.Degraded, d conversation.Degraded) []conversation.Degraded {
	for _, have := range list {
		if have.Component == d.Component && have.Strategy == d.Strategy {
			return list
		}
	}
	return append(list, d)
}

// view is the answer to the query case.
func (r *run) view() conversation.CaseView {
	v := conversation.CaseView{
		State: r.State, Outcome: r.Outcome, TraceID: r.TraceID, Revision: r.Revision, Flow: r.Flow,
		Path: r.Path, Case: r.Case, Tools: r.Tools, Messages: len(r.Messages),
	}
	for _, p := range r.Pending {
		v.Pending = append(v.Pending, p.Step)
	}
	return v
}
