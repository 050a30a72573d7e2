package contract_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/hermes-orchestrator/hermes/contract"
	"github.com/hermes-orchestrator/hermes/conversation"
)

func envelope(id, target string) *contract.Envelope {
	return &contract.Envelope{MessageID: id, Source: "conversation:S1", Target: target, TraceID: "t", CycleID: "c"}
}

func recalled(l *contract.Ledger) {
	e := envelope("r", contract.ComponentMemory)
	_ = l.Admit(contract.KindQuery, e)
	l.Settle(contract.KindQuery, e, nil)
}

func TestRuleSet1(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		prepare func(*contract.Ledger)
		kind    contract.Kind
		e       *contract.Envelope
		want    contract.Rule
	}{
		"tool after recall":  {recalled, contract.KindTool, envelope("1", "tool:a"), ""},
		"tool before recall": {func(*contract.Ledger) {}, contract.KindTool, envelope("1", "tool:a"), contract.RuleMemoryFirst},
		"tool after a recall that failed": {func(l *contract.Ledger) {
			l.Settle(contract.KindQuery, envelope("r", contract.ComponentMemory), &contract.Failure{})
		}, contract.KindTool, envelope("1", "tool:a"), contract.RuleMemoryFirst},
		"tool after symbols were written":       {func(l *contract.Ledger) { recalled(l); l.WroteSymbols() }, contract.KindTool, envelope("1", "tool:a"), contract.RuleMemoryFirst},
		"tool after symbols and another recall": {func(l *contract.Ledger) { recalled(l); l.WroteSymbols(); recalled(l) }, contract.KindTool, envelope("1", "tool:a"), ""},
		"same tool twice":                       {func(l *contract.Ledger) { recalled(l); _ = l.Admit(contract.KindTool, envelope("1", "tool:a")) }, contract.KindTool, envelope("2", "tool:a"), contract.RuleSingleWrite},
		"same tool after continue": {func(l *contract.Ledger) {
			recalled(l)
			_ = l.Admit(contract.KindTool, envelope("1", "tool:a"))
			l.Continue("tool:a")
		}, contract.KindTool, envelope("2", "tool:a"), ""},
		"another tool": {func(l *contract.Ledger) { recalled(l); _ = l.Admit(contract.KindTool, envelope("1", "tool:a")) }, contract.KindTool, envelope("2", "tool:b"), ""},
		"after a break": {func(l *contract.Ledger) {
			recalled(l)
			l.Settle(contract.KindTool, envelope("1", "tool:a"), &contract.Failure{Code: conversation.CodeToolUnavailable})
		}, contract.KindTool, envelope("2", "tool:b"), contract.RuleBreakOnFailure},
		"memory may still be written after a break": {func(l *contract.Ledger) {
			l.Settle(contract.KindTool, envelope("1", "tool:a"), &contract.Failure{Code: conversation.CodeToolUnavailable})
		}, contract.KindWrite, envelope("2", contract.ComponentMidterm), ""},
		"fallback without failure": {recalled, contract.KindFallback, envelope("1", "tool:a"), contract.RuleFallbackAfterFailure},
		"of another cycle":         {recalled, contract.KindTool, &contract.Envelope{MessageID: "1", Target: "tool:a", TraceID: "t", CycleID: "other"}, contract.RuleOpenCycle},
		"of another trace":         {recalled, contract.KindThink, &contract.Envelope{MessageID: "1", Target: "tool:a", TraceID: "x", CycleID: "c"}, contract.RuleOpenCycle},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ledger := contract.NewLedger(1, "t", "c")
			tt.prepare(ledger)
			violation := ledger.Admit(tt.kind, tt.e)
			if tt.want == "" {
				require.Nil(t, violation)
				return
			}
			require.NotNil(t, violation)
			require.Equal(t, tt.want, violation.Rule)
			require.Equal(t, tt.e.Target, violation.Component)
			require.NotEmpty(t, violation.Code())
			require.Contains(t, violation.Error(), string(tt.want))
		})
	}
}

func TestUnknownRuleSetRefusesEverything(t *testing.T) {
	t.Parallel()
	violation := contract.NewLedger(99, "t", "c").Admit(contract.KindThink, envelope("1", "tool:a"))
	require.NotNil(t, violation)
	require.Equal(t, contract.RuleSetKnown, violation.Rule)
}

func TestFallbackResolvesAFailure(t *testing.T) {
	t.Parallel()
	ledger := contract.NewLedger(1, "t", "c")
	recalled(ledger)
	call := envelope("1", "tool:a")
	call.Metadata.Fallback = true
	require.Nil(t, ledger.Admit(contract.KindTool, call))
	ledger.Settle(contract.KindTool, call, &contract.Failure{MessageID: "1", Code: conversation.CodeToolUnavailable})
	require.Nil(t, ledger.Broken())
	require.Len(t, ledger.Unresolved(), 1)
	require.Nil(t, ledger.Admit(contract.KindFallback, call))
	ledger.Settle(contract.KindFallback, call, nil)
	require.Nil(t, ledger.Broken())
	require.Empty(t, ledger.Unresolved())
}

// A refusal that the tool itself signed is final: no cached answer may stand in for it.
func TestRefusalHasNoFallback(t *testing.T) {
	t.Parallel()
	ledger := contract.NewLedger(1, "t", "c")
	recalled(ledger)
	call := envelope("1", "tool:a")
	call.Metadata.Fallback = true
	require.Nil(t, ledger.Admit(contract.KindTool, call))
	ledger.Settle(contract.KindTool, call, &contract.Failure{MessageID: "1", Code: conversation.CodeToolRefused})
	require.NotNil(t, ledger.Broken())
	require.NotNil(t, ledger.Admit(contract.KindFallback, call))
}

// For any interleaving of dispatches, answers, failures, writes and continues, the ledger agrees with a model that
// keeps the whole history and looks back through it.
func TestLedgerAgainstModel(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		ledger := contract.NewLedger(1, "t", "c")
		type step struct{ what, tool string }
		var history []step
		cancelled := map[string]bool{}
		running := map[string]*contract.Envelope{}
		n := 0
		last := func(what ...string) int {
			for i, s := range slices.Backward(history) {
				if slices.Contains(what, s.what) {
					return i
				}
			}
			return -1
		}
		t.Repeat(map[string]func(*rapid.T){
			"recall":  func(*rapid.T) { recalled(ledger); history = append(history, step{"recall", ""}) },
			"symbols": func(*rapid.T) { ledger.WroteSymbols(); history = append(history, step{"write", ""}) },
			"continue": func(t *rapid.T) {
				tool := rapid.SampledFrom([]string{"tool:a", "tool:b", "tool:c"}).Draw(t, "tool")
				ledger.Continue(tool)
				history = append(history, step{"continue", tool})
			},
			"call": func(t *rapid.T) {
				tool := rapid.SampledFrom([]string{"tool:a", "tool:b", "tool:c"}).Draw(t, "tool")
				n++
				e := envelope(fmt.Sprint(n), tool)
				e.Metadata.Optional = rapid.Bool().Draw(t, "optional")
				scheduled := false
				for _, s := range history {
					if s.tool == tool {
						scheduled = s.what == "call"
					}
				}
				allowed := last("break") < 0 && last("recall") > last("write") && !scheduled
				violation := ledger.Admit(contract.KindTool, e)
				require.Equal(t, allowed, violation == nil)
				if allowed {
					id := e.MessageID
					ledger.Start(id, func() { cancelled[id] = true })
					running[id] = e
					history = append(history, step{"call", tool})
				}
			},
			"settle": func(t *rapid.T) {
				if len(running) == 0 {
					t.Skip("nothing is running")
				}
				var ids []string
				for i := 1; i <= n; i++ {
					if running[fmt.Sprint(i)] != nil {
						ids = append(ids, fmt.Sprint(i))
					}
				}
				e := running[rapid.SampledFrom(ids).Draw(t, "id")]
				delete(running, e.MessageID)
				if rapid.Bool().Draw(t, "answered") {
					ledger.Settle(contract.KindTool, e, nil)
					return
				}
				first := ledger.Broken() == nil
				ledger.Settle(contract.KindTool, e, &contract.Failure{MessageID: e.MessageID, Code: conversation.CodeToolUnavailable})
				if !e.Metadata.Optional {
					history = append(history, step{"break", ""})
					require.NotNil(t, ledger.Broken())
					if first {
						for id := range running {
							require.True(t, cancelled[id], "every running call of a broken cycle is cancelled")
						}
					}
				}
			},
		})
	})
}

func BenchmarkAdmit(b *testing.B) {
	ledger := contract.NewLedger(1, "t", "c")
	recalled(ledger)
	e := envelope("1", "tool:a")
	b.ReportAllocs()
	for b.Loop() {
		if ledger.Admit(contract.KindTool, e) != nil {
			b.Fatal("refused")
		}
		ledger.Continue("tool:a")
	}
}
