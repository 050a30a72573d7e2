package workflows

import (
	"time"

	"go.temporal.io/sdk/workflow"

	"github.com/hermes-orchestrator/hermes/conversation"
)

// alarm is the one outstanding timer. It is lazy: a later deadline does not replace it, it is looked at again when the
// timer fires. A state entry thus costs no history events.
type alarm struct {
	at     time.Time
	fired  bool
	cancel workflow.CancelFunc
}

// await returns when there is something to do: a message, an envelope, or a deadline that has passed.
func (r *run) await(ctx workflow.Context) {
	for {
		r.drain(ctx)
		deadline := r.nextDeadline()
		if len(r.inbox) > 0 || (!deadline.IsZero() && !workflow.Now(ctx).Before(deadline)) {
			return
		}
		if !deadline.IsZero() {
			r.arm(ctx, deadline)
		}
		current := r.alarm
		err := workflow.Await(ctx, func() bool { return len(r.inbox) > 0 || (current != nil && current.fired) })
		if err != nil {
			return
		}
		if current != nil && current.fired {
			r.alarm = nil
		}
	}
}

// arm makes sure that a timer fires at the deadline or before.
func (r *run) arm(ctx workflow.Context, deadline time.Time) {
	if r.alarm != nil {
		if !r.alarm.at.After(deadline) {
			return
		}
		r.alarm.cancel()
	}
	timerCtx, cancel := workflow.WithCancel(ctx)
	a := &alarm{at: deadline, cancel: cancel}
	timer := workflow.NewTimerWithOptions(timerCtx, deadline.Sub(workflow.Now(ctx)), workflow.TimerOptions{
		Summary: "next deadline",
	})
	workflow.Go(ctx, func(ctx workflow.Context) {
		if err := timer.Get(ctx, nil); err == nil {
			a.fired = true
		}
	})
	r.alarm = a
}

// nextDeadline is the earliest of the wait for the user and the waits for tools.
func (r *run) nextDeadline() time.Time {
	next := r.Deadline
	for _, p := range r.Pending {
		if next.IsZero() || p.Deadline.Before(next) {
			next = p.Deadline
		}
	}
	return next
}

// wait sets the deadline of the present state anew.
func (r *run) wait(now time.Time) {
	limit := r.Limits.Wait(r.State)
	if limit == 0 {
		r.Deadline = time.Time{}
		return
	}
	r.Deadline = now.Add(limit)
}

// expire handles a deadline that has passed.
func (r *run) expire(ctx workflow.Context) {
	now := workflow.Now(ctx)
	for i, p := range r.Pending {
		if !p.Deadline.After(now) {
			if p.Late != nil {
				r.complete(ctx, i, *p.Late)
				return
			}
			r.taskFailed(ctx, i, conversation.CodeToolUnavailable, "no task_complete within the time limit")
			return
		}
	}
	if r.Deadline.IsZero() || r.Deadline.After(now) {
		return
	}
	cy := r.openCycle(ctx, nil)
	defer r.closeCycle(cy)
	if !r.accept(cy.ctx, cy, cy.id) {
		r.wait(now)
		return
	}
	r.recall(cy.ctx, cy)
	if conversation.AsksBeforeExpiry(r.State) && !r.Warned {
		r.Warned = true
		r.transition(cy, conversation.EventTimeLimit, "no answer within the time limit of "+string(r.State))
		r.Warned = true
		r.reply(cy, conversation.ReplyRequest{Kind: conversation.ReplyStillThere, Missing: r.Missing})
		return
	}
	r.transition(cy, conversation.EventExpired, "no answer within the time limit of "+string(r.State))
	r.reply(cy, conversation.ReplyRequest{Kind: conversation.ReplyExpired})
}
