package contract

import (
	"slices"

	"github.com/hermes-orchestrator/hermes/conversation"
)

// Kind is what an envelope asks for, as far as the rules care.
type Kind uint8

// The kinds of dispatches.
const (
	KindThink    Kind = iota // Work inside the conversation: accept, understand, plan, reply. Needs an open cycle only.
	KindQuery                // Memory is asked for the context (SPEC P2).
	KindTool                 // A tool is called.
	KindFallback             // The fallback of a tool call that failed, under the same message id.
	KindWrite                // Memory is written.
)

// Failure is a call that ended without an answer.
type Failure struct {
	MessageID string            `json:"message_id"`
	Component string            `json:"component"`
	Step      string            `json:"step"`
	Stage     string            `json:"stage"` // admit, dispatch, execute, verify, deliver.
	Code      conversation.Code `json:"code"`
	Reason    string            `json:"reason"`
}

// Ledger is what one message cycle has done so far: the only thing, besides the envelope, that a rule may look at. It
// lives in workflow memory from Open to Close and is never stored; replay builds it again. It must only be used from
// the coroutines of its workflow.
type Ledger struct {
	ruleSet int
	traceID string
	cycleID string
	closed  bool

	clock      int64 // Counts dispatches and answers, so that "newer than" has a meaning without wall time.
	recalledAt int64 // Of the last answer to query_context; 0: never.
	writtenAt  int64 // Of the last write to memory or to the symbol table; 0: never.

	scheduled []string  // Components that were scheduled and have not said continue.
	running   []running // Tool calls under way.
	failed    []Failure // Failed calls whose fallback has not answered yet.
	broken    *Failure  // What broke the cycle (SPEC P4).
	took      []string  // Message ids of write calls that took effect; never forgotten.
}

type running struct {
	messageID string
	cancel    func()
}

// NewLedger returns the ledger of a cycle that is open.
func NewLedger(ruleSet int, traceID, cycleID string) *Ledger {
	return &Ledger{ruleSet: ruleSet, traceID: traceID, cycleID: cycleID}
}

// Broken returns the failure that broke the cycle, or nil.
func (l *Ledger) Broken() *Failure { return l.broken }

// TookEffect returns the message ids of write calls that were answered in this cycle, whatever happened after.
func (l *Ledger) TookEffect() []string { return slices.Clone(l.took) }

// NeedsRecall reports whether memory must be asked before the next tool call (SPEC P2).
func (l *Ledger) NeedsRecall() bool { return l.recalledAt == 0 || l.recalledAt <= l.writtenAt }

// WroteSymbols records that the workflow changed its symbol table: the next tool call must recall first (SPEC P2).
func (l *Ledger) WroteSymbols() {
	l.clock++
	l.writtenAt = l.clock
}

// Continue records the explicit continue of a component: it may be scheduled once more (SPEC P3).
func (l *Ledger) Continue(component string) {
	l.scheduled = slices.DeleteFunc(l.scheduled, func(name string) bool { return name == component })
}

// Admit asks the cycle's rule-set whether e may be dispatched, and records that it was. A refusal records nothing.
func (l *Ledger) Admit(kind Kind, e *Envelope) *Violation {
	if v := l.check(kind, e); v != nil {
		return v
	}
	l.clock++
	switch kind {
	case KindTool:
		l.scheduled = append(l.scheduled, e.Target)
	case KindWrite:
		l.writtenAt = l.clock
	case KindThink, KindQuery, KindFallback:
	}
	return nil
}

func (l *Ledger) check(kind Kind, e *Envelope) *Violation {
	if l.ruleSet == 1 {
		return ruleSet1(l, kind, e)
	}
	return refuse(RuleSetKnown, e)
}

// Start records that a tool call is under way and how to cancel it.
func (l *Ledger) Start(messageID string, cancel func()) {
	l.running = append(l.running, running{messageID, cancel})
}

// Settle records how a dispatch ended; failure is nil for an answer. A tool call that failed for good breaks the cycle
// and cancels every tool call of it that is still running (SPEC P4). Optional calls never break it, and a call with a
// fallback does so only when the fallback has failed as well.
func (l *Ledger) Settle(kind Kind, e *Envelope, failure *Failure) {
	l.clock++
	switch kind {
	case KindThink:
	case KindQuery:
		if failure == nil {
			l.recalledAt = l.clock
		}
	case KindWrite:
		l.writtenAt = l.clock // Also when it failed: part of it may have been written.
	case KindTool:
		l.running = slices.DeleteFunc(l.running, func(r running) bool { return r.messageID == e.MessageID })
		switch {
		case failure == nil:
			if e.Metadata.Effect == EffectWrite {
				l.took = append(l.took, e.MessageID)
			}
		case failure.Code == conversation.CodeCycleBroken: // It was cancelled by another's failure.
		case e.Metadata.Fallback && failure.Code != conversation.CodeToolRefused: // A refusal is the tool's own word.
			l.failed = append(l.failed, *failure)
		case !e.Metadata.Optional:
			l.breakCycle(*failure)
		}
	case KindFallback:
		l.failed = slices.DeleteFunc(l.failed, func(f Failure) bool { return f.MessageID == e.MessageID })
		if failure != nil && !e.Metadata.Optional {
			l.breakCycle(*failure)
		}
	}
}

func (l *Ledger) breakCycle(failure Failure) {
	if l.broken != nil {
		return // The first failure is the cause; the others follow from it.
	}
	l.broken = &failure
	for _, r := range l.running {
		r.cancel()
	}
}

// awaitsFallback reports whether the call of that message id failed and its fallback has not been asked yet.
func (l *Ledger) awaitsFallback(messageID string) bool {
	for i := range l.failed {
		if l.failed[i].MessageID == messageID {
			return true
		}
	}
	return false
}

// Unresolved returns the failed calls whose fallback nobody asked for.
func (l *Ledger) Unresolved() []Failure { return slices.Clone(l.failed) }
