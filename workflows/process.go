package workflows

import (
	"slices"

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
	switch {
	case r.recordOf(m.MessageID) != nil:
		return // Its first copy has been answered; converse repeats that answer.
	case r.State == conversation.StateEnd:
		r.settle(item, r.refused(m, conversation.Errorf(conversation.CodeConversationEnded,
			"the conversation has ended (%s): begin a new one", r.Outcome)))
		return
	case m.Revision != 0 && m.Revision != r.Revision:
		r.settle(item, r.refused(m, conversation.Errorf(conversation.CodeConflict,
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
	r.settle(item, cy.reply)
	r.flush(ctx)
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
	for _, a := range m.Attachments {
		r.Case.Materials = append(r.Case.Materials, conversation.Material{Attachment: a, MessageID: m.MessageID})
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
	case conversation.StateValidation, conversation.StateEnd: // Never waits for a user.
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
	p := r.Pending[index]
	if item.signal == conversation.SignalContinue {
		return // The component of a pending call may be scheduled again in any later cycle anyway (P3 counts per cycle).
	}
	cy := r.openCycle(ctx, nil)
	var answer conversation.Answer
	if item.signal == conversation.SignalComplete {
		var completion conversation.Completion
		if err := decode(e.Payload.Context.Arguments, &completion); err != nil {
			r.reject(ctx, item.signal, err)
			r.closeCycle(cy)
			return
		}
		// The call is named by what was pending, not by what the answer claims to be.
		completion.Tool, completion.Operation = p.Tool, p.Operation
		completion.Step, completion.MessageID = p.Step, p.MessageID
		if err := r.local(cy.ctx, cy, conversation.ActivityComplete, "tool:"+p.Tool, completion, &answer); err != nil {
			coded := contract.FromTemporal(err)
			if coded.Code == conversation.CodeBadSignature || coded.Code == conversation.CodeToolMisbehaved {
				// Anyone can send a forgery. It is discarded; the true answer may still come.
				r.reject(ctx, item.signal, coded)
				r.closeCycle(cy)
				return
			}
			r.closeCycle(cy)
			r.Pending = slices.Delete(r.Pending, index, index+1)
			r.taskFailed(ctx, p, coded.Code, coded.Message)
			return
		}
		r.Pending = slices.Delete(r.Pending, index, index+1)
		r.completed(cy, p, answer)
		r.closeCycle(cy)
		r.flush(ctx)
		return
	}
	r.closeCycle(cy)
	r.Pending = slices.Delete(r.Pending, index, index+1)
	var failure contract.Failure
	if err := decode(e.Payload.Context.Arguments, &failure); err != nil {
		failure = contract.Failure{Code: conversation.CodeToolUnavailable, Reason: "the tool reported an error"}
	}
	r.taskFailed(ctx, p, failure.Code, failure.Reason)
}

// completed goes on with the answer that a slow tool gave at last.
func (r *run) completed(cy *cycle, p pendingCall, answer conversation.Answer) {
	if !r.accept(cy.ctx, cy, cy.id) {
		return
	}
	r.recall(cy.ctx, cy)
	cy.verification = append(cy.verification, answer.Verification...)
	r.trace(conversation.ToolTrace{Tool: p.Tool, Operation: p.Operation, Status: "completed"})
	request := r.planRequest(cy, p.Phase)
	request.Answers = []conversation.Answer{answer}
	r.goOn(cy, request)
}

// taskFailed goes on without the answer of a slow tool.
func (r *run) taskFailed(ctx workflow.Context, p pendingCall, code conversation.Code, reason string) {
	cy := r.openCycle(ctx, nil)
	defer r.closeCycle(cy)
	if !r.accept(cy.ctx, cy, cy.id) {
		return
	}
	r.recall(cy.ctx, cy)
	r.trace(conversation.ToolTrace{Tool: p.Tool, Operation: p.Operation, Status: string(code)})
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
		r.validate(cy, request, conversation.EventRevalidate)
	default:
		// The user has moved on meanwhile: what the tool found is kept with the case, nothing is said.
		if _, err := r.plan(cy, request); err != nil {
			r.logger.Error("late answer not used", "error", err, "trace_id", r.TraceID)
		}
	}
}
