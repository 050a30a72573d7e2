package workflows

import (
	"slices"
	"time"

	"go.temporal.io/sdk/workflow"

	"github.com/hermes-orchestrator/hermes/contract"
	"github.com/hermes-orchestrator/hermes/conversation"
)

// process handles one item of the inbox. Every user message ends with a verdict and a reply.
func (r *run) process(ctx workflow.Context, item inboxItem) {
	if item.envelope != nil {
		r.processEnvelope(ctx, item)
		return
	}
	r.handled++
	m := item.message
	delete(r.refusals, m.MessageID)
	switch {
	case r.recordOf(m.MessageID) != nil:
		return // Its first copy has been answered; converse repeats that answer.
	case r.State == conversation.StateEnd:
		r.answer(ctx, item, r.refused(m, conversation.Errorf(conversation.CodeConversationEnded,
			"the conversation has ended (%s): begin a new one", r.Outcome)))
		return
	case m.Revision != 0 && m.Revision != r.Revision:
		r.answer(ctx, item, r.refused(m, conversation.Errorf(conversation.CodeConflict,
			"you saw revision %d, the present one is %d (state %s): look again and decide",
			m.Revision, r.Revision, r.State)))
		return
	}
	r.turn(conversation.Turn{
		At: m.SentAt, Role: "user", MessageID: m.MessageID, Text: said(m), State: r.State,
		Files: fileNames(m),
	})
	cy := r.openCycle(ctx, m)
	var accepted bool
	var u conversation.Understanding
	var failure *conversation.Error
	// These three only read or guard; together they cost the time of the slowest. Nothing of what they find is used
	// before the compare-and-swap has succeeded.
	together(cy.ctx,
		func(ctx workflow.Context) { accepted = r.accept(ctx, cy, m.MessageID) },
		func(ctx workflow.Context) { r.recall(ctx, cy) },
		func(ctx workflow.Context) { u, failure = r.understand(ctx, cy) })
	switch {
	case !accepted: // The refusal is the reply.
	case failure != nil:
		cy.reply = r.refused(m, failure)
	default:
		r.respond(cy, u)
	}
	r.closeCycle(cy)
	if cy.reply == nil { // Unreachable as long as every branch replies; a user must never wait for nothing.
		cy.reply = r.refused(m, conversation.Errorf(conversation.CodeInternal, "no reply was made in state %q", r.State))
	}
	r.answer(ctx, item, cy.reply)
	r.flush(ctx)
}

// answer settles a message. A refusal is published, too: whoever only signalled waits for an event.
func (r *run) answer(ctx workflow.Context, item inboxItem, reply *conversation.Reply) {
	r.settle(item, reply)
	if reply.Verdict != conversation.VerdictRefused {
		return
	}
	cy := r.openCycle(ctx, item.message)
	r.Sequence++
	request := conversation.ReplyRequest{
		Kind: conversation.ReplyRefused, Zone: cy.zone, Sequence: r.Sequence, Reply: *reply,
		Snapshot: r.snapshot(r.input.SessionID),
	}
	var rendered conversation.Rendered
	err := r.local(cy.ctx, cy, conversation.ActivityReply, contract.ComponentReply, request, &rendered,
		workflow.LocalActivityOptions{ScheduleToCloseTimeout: 5 * time.Second, StartToCloseTimeout: 3 * time.Second})
	if err != nil {
		r.logger.Warn("refusal not published", "error", err, "trace_id", r.TraceID)
	}
	contract.Close(cy.ctx, cy.ledger)
}

// settle records the verdict of a message. One that was refused for a passing reason was not used: it is answered, and
// may be sent again under its id.
func (r *run) settle(item inboxItem, reply *conversation.Reply) {
	if item.message == nil {
		return
	}
	if reply.Verdict == conversation.VerdictRefused && reply.Error != nil && reply.Error.Code.Retryable() {
		r.refusals[item.message.MessageID] = reply
		return
	}
	r.record(messageRecord{MessageID: item.message.MessageID, Verdict: reply.Verdict, Reply: reply})
}

// refused is the reply to a message that was not used.
func (r *run) refused(m *conversation.UserMessage, err *conversation.Error) *conversation.Reply {
	reply := &conversation.Reply{
		Verdict: conversation.VerdictRefused, Text: err.Message, Locale: r.Locale, State: r.State, Outcome: r.Outcome,
		Path: r.Path.String(), Revision: r.Revision, TraceID: r.TraceID, Error: err,
	}
	if m != nil {
		reply.MessageID = m.MessageID
	}
	return reply
}

// together runs functions in coroutines of their own and waits for all.
func together(ctx workflow.Context, functions ...func(workflow.Context)) {
	group := workflow.NewWaitGroup(ctx)
	for _, function := range functions {
		group.Add(1)
		workflow.Go(ctx, func(ctx workflow.Context) {
			defer group.Done()
			function(ctx)
		})
	}
	group.Wait(ctx)
}

// understand asks what the message means in the present state.
func (r *run) understand(ctx workflow.Context, cy *cycle) (conversation.Understanding, *conversation.Error) {
	m := *cy.message
	m.Locale, m.Zone = cy.locale, cy.zone
	request := conversation.UnderstandRequest{
		Flow: r.Flow, Flows: r.Flows, State: r.State, Message: m, Case: r.Case, Asked: r.Asked, AskedOf: r.AskedOf,
	}
	var u conversation.Understanding
	err := r.local(ctx, cy, conversation.ActivityUnderstand, contract.ComponentDispatcher, request, &u)
	return u, contract.FromTemporal(err)
}

// respond lets the state handle what the message means.
func (r *run) respond(cy *cycle, u conversation.Understanding) {
	m := cy.message
	r.Tokens += u.Tokens
	if u.Locale != "" && cy.message.Locale == "" {
		r.Locale, cy.locale = u.Locale, u.Locale
	}
	if len(r.Case.Materials)+len(m.Attachments) > conversation.MaxMaterials {
		cy.reply = r.refused(m, conversation.Errorf(conversation.CodeTooLarge,
			"the conversation has %d files, at most %d are allowed", len(r.Case.Materials), conversation.MaxMaterials))
		return
	}
	for _, a := range m.Attachments {
		r.attach(m.MessageID, a)
	}
	// A new word of the user counts as activity: the wait begins anew.
	r.Warned = false
	r.wait(workflow.Now(cy.ctx))

	if u.Event == conversation.EventCancel && r.State != conversation.StateEnd {
		r.transition(cy, conversation.EventCancel, "the user cancelled")
		r.reply(cy, conversation.ReplyRequest{Kind: conversation.ReplyCancelled})
		return
	}
	if len(u.Ambiguous) > 0 {
		r.reply(cy, conversation.ReplyRequest{Kind: conversation.ReplyAmbiguous}, u.Ambiguous...)
		return
	}
	switch r.State {
	case conversation.StateIntent:
		r.inIntent(cy, u)
	case conversation.StateMaterials:
		r.inMaterials(cy, u)
	case conversation.StateReview:
		r.inReview(cy, u)
	case conversation.StateConfirmation:
		r.inConfirmation(cy, u)
	case conversation.StateValidation: // It does not wait for users; a plan that failed may have left it here.
		r.validateNow(cy)
	case conversation.StateEnd: // Answered before.
	}
}

// attach adds an upload once, also when its message is sent again.
func (r *run) attach(messageID string, a conversation.Attachment) {
	have := slices.ContainsFunc(r.Case.Materials, func(m conversation.Material) bool {
		return m.MessageID == messageID && m.Attachment.SHA256 == a.SHA256
	})
	if !have {
		r.Case.Materials = append(r.Case.Materials, conversation.Material{Attachment: a, MessageID: messageID})
	}
}

// declare takes over what the user said. A verified fact is not displaced by a word, unless the user was asked for it.
func (r *run) declare(facts []conversation.Fact) (changed bool) {
	for _, f := range facts {
		have, exists := r.Case.Fact(f.Name)
		if exists && have.Status == conversation.FactVerified && r.Asked != conversation.ReplyManual {
			continue
		}
		if !exists || string(have.Value) != string(f.Value) {
			changed = true
		}
		r.Case.SetFact(f)
	}
	return changed
}

// processEnvelope handles what a component outside has to say.
func (r *run) processEnvelope(ctx workflow.Context, item inboxItem) {
	e := item.envelope
	index := slices.IndexFunc(r.Pending, func(p pendingCall) bool { return p.MessageID == completionOf(e) })
	if index < 0 || r.State == conversation.StateEnd {
		r.reject(ctx, item.signal, conversation.Errorf(conversation.CodeNotFound,
			"%s from %q: no call %q is waiting for it", item.signal, e.Source, completionOf(e)))
		return
	}
	if item.signal == conversation.SignalContinue {
		return // The component of a pending call may be scheduled again in any later cycle anyway (P3 counts per cycle).
	}
	if item.signal == conversation.SignalComplete {
		var completion conversation.Completion
		if err := decode(e.Payload.Context.Arguments, &completion); err != nil {
			r.reject(ctx, item.signal, err)
			return
		}
		r.complete(ctx, index, completion)
		return
	}
	var failure contract.Failure
	if err := decode(e.Payload.Context.Arguments, &failure); err != nil {
		failure = contract.Failure{Code: conversation.CodeToolUnavailable, Reason: "the tool reported an error"}
	}
	r.taskFailed(ctx, index, failure.Code, failure.Reason)
}

// lateRetry is when an answer that has arrived is tried again after the session store did not answer.
const lateRetry = 30 * time.Second

// complete takes in the answer that a slow tool gave at last. The call stays pending until that has succeeded.
func (r *run) complete(ctx workflow.Context, index int, completion conversation.Completion) {
	p := r.Pending[index]
	// The call is named by what was pending, not by what the answer claims to be.
	completion.Tool, completion.Operation = p.Tool, p.Operation
	completion.Step, completion.MessageID = p.Step, p.MessageID
	cy := r.openCycle(ctx, nil)
	var answer conversation.Answer
	if err := r.local(cy.ctx, cy, conversation.ActivityComplete, "tool:"+p.Tool, completion, &answer); err != nil {
		r.closeCycle(cy)
		coded := contract.FromTemporal(err)
		if coded.Code == conversation.CodeBadSignature || coded.Code == conversation.CodeToolMisbehaved {
			// Anyone can send a forgery. It is discarded; the true answer may still come.
			r.reject(ctx, conversation.SignalComplete, coded)
			return
		}
		r.taskFailed(ctx, index, coded.Code, coded.Message)
		return
	}
	if !r.accept(cy.ctx, cy, cy.id) {
		r.Pending[index].Late, r.Pending[index].Deadline = &completion, workflow.Now(ctx).Add(lateRetry)
		r.closeCycle(cy)
		return
	}
	r.Pending = slices.Delete(r.Pending, index, index+1)
	r.recall(cy.ctx, cy)
	cy.verification = append(cy.verification, answer.Verification...)
	r.trace(conversation.ToolTrace{Tool: p.Tool, Operation: p.Operation, Status: "completed"})
	request := r.planRequest(cy, p.Phase)
	request.Answers, request.Late = []conversation.Answer{answer}, true
	r.goOn(cy, request)
	r.closeCycle(cy)
	r.flush(ctx)
}

// taskFailed goes on without the answer of a slow tool. Its uploads count as unread again.
func (r *run) taskFailed(ctx workflow.Context, index int, code conversation.Code, reason string) {
	p := r.Pending[index]
	cy := r.openCycle(ctx, nil)
	defer r.closeCycle(cy)
	if !r.accept(cy.ctx, cy, cy.id) {
		r.Pending[index].Deadline = workflow.Now(ctx).Add(lateRetry)
		return
	}
	r.Pending = slices.Delete(r.Pending, index, index+1)
	r.recall(cy.ctx, cy)
	r.trace(conversation.ToolTrace{Tool: p.Tool, Operation: p.Operation, Status: string(code)})
	r.unread(p.Files)
	request := r.planRequest(cy, p.Phase)
	request.Failed = []conversation.FailedStep{{Step: p.Step, Tool: p.Tool, Code: code, Reason: reason}}
	r.goOn(cy, request)
}

// goOn continues the phase of a late answer where the conversation still is in the state of that phase.
func (r *run) goOn(cy *cycle, request conversation.PlanRequest) {
	switch {
	case request.Phase == conversation.PhaseInspect && r.State == conversation.StateMaterials:
		r.collect(cy, request)
	case request.Phase == conversation.PhaseValidate && r.State == conversation.StateReview:
		r.validate(cy, request)
	case request.Phase == conversation.PhaseValidate && r.State == conversation.StateConfirmation:
		r.validate(cy, request)
	default:
		// The user has moved on meanwhile: what the tool found is kept with the case, nothing is said.
		if _, err := r.plan(cy, request); err != nil {
			r.logger.Error("late answer not used", "error", err, "trace_id", r.TraceID)
		}
	}
}
