package contract

import "slices"

// Effects of an operation.
const (
	EffectRead  = "read"
	EffectWrite = "write"
)

// ruleSet1 is the first rule-set. It is frozen: conversations that are open carry its number, and a tightened rule
// would break their replay. A change is a new function with a new number.
//
// It is a plain function over plain values, without interfaces, closures, maps, clocks or allocation on the way that
// accepts.
func ruleSet1(l *Ledger, kind Kind, e *Envelope) *Violation {
	// Everything happens inside an open cycle of its own trace.
	if l.closed || e.TraceID != l.traceID || e.CycleID != l.cycleID {
		return refuse(RuleOpenCycle, e)
	}
	switch kind {
	case KindThink, KindQuery, KindWrite:
		// Work of the conversation itself goes on in a broken cycle: it must answer the user and keep what is known.
		return nil
	case KindFallback:
		if !l.awaitsFallback(e.MessageID) && l.broken == nil {
			return refuse(RuleFallbackAfterFailure, e)
		}
		if l.broken != nil {
			return refuse(RuleBreakOnFailure, e)
		}
		return nil
	case KindTool:
		if l.broken != nil {
			return refuse(RuleBreakOnFailure, e)
		}
		if l.NeedsRecall() {
			return refuse(RuleMemoryFirst, e)
		}
		if slices.Contains(l.scheduled, e.Target) {
			return refuse(RuleSingleWrite, e)
		}
		return nil
	}
	return refuse(RuleOpenCycle, e)
}
