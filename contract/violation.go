package contract

import (
	"fmt"

	"github.com/hermes-orchestrator/hermes/conversation"
)

// Rule identifies a rule of the contract.
type Rule string

// The rules.
const (
	RuleOpenCycle            Rule = "open_cycle"             // Nothing happens outside an open message cycle.
	RuleMemoryFirst          Rule = "memory_first"           // SPEC P2
	RuleSingleWrite          Rule = "single_write"           // SPEC P3
	RuleBreakOnFailure       Rule = "break_on_failure"       // SPEC P4
	RuleFallbackAfterFailure Rule = "fallback_after_failure" // A fallback answers for a call that failed.
	RuleSetKnown             Rule = "rule_set_known"         // The rule-set of the conversation exists in this build.
)

// Violation is a refused envelope (SPEC P5): typed, counted, visible.
type Violation struct {
	Rule      Rule   `json:"rule"`
	Component string `json:"component"`
	Task      string `json:"task"`
	MessageID string `json:"message_id"`
	TraceID   string `json:"trace_id"`
	CycleID   string `json:"cycle_id"`
}

func refuse(rule Rule, e *Envelope) *Violation {
	return &Violation{
		Rule: rule, Component: e.Target, Task: e.Payload.Task,
		MessageID: e.MessageID, TraceID: e.TraceID, CycleID: e.CycleID,
	}
}

// Code maps the rule to the closed set of error codes.
func (v *Violation) Code() conversation.Code {
	switch v.Rule {
	case RuleMemoryFirst:
		return conversation.CodeMemoryFirst
	case RuleSingleWrite:
		return conversation.CodeSingleWrite
	case RuleBreakOnFailure:
		return conversation.CodeCycleBroken
	case RuleOpenCycle, RuleFallbackAfterFailure, RuleSetKnown:
		return conversation.CodeNoOpenCycle
	}
	return conversation.CodeNoOpenCycle
}

// Error returns the violation as an error that says what to do.
func (v *Violation) Error() string {
	return fmt.Sprintf("contract rule %q refuses task %q to %q in cycle %q: %s",
		v.Rule, v.Task, v.Component, v.CycleID, v.advice())
}

func (v *Violation) advice() string {
	switch v.Rule {
	case RuleOpenCycle:
		return "open a message cycle with contract.Open and use its context"
	case RuleMemoryFirst:
		return "call Recall first, and again after each write to memory or symbols"
	case RuleSingleWrite:
		return "the component was scheduled in this cycle; batch the work, or wait for its continue"
	case RuleBreakOnFailure:
		return "a call of this cycle failed for good; answer the user and begin a new cycle"
	case RuleFallbackAfterFailure:
		return "call Fallback only for a call that failed, with its message id"
	case RuleSetKnown:
		return "deploy a build that has the rule-set of this conversation"
	}
	return ""
}
