package dialogue

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/hermes-orchestrator/hermes/conversation"
)

func (p *player) failf(format string, args ...any) {
	p.result.Failures = append(p.result.Failures, fmt.Sprintf(format, args...))
}

// check compares one reply with what the step expects.
func (p *player) check(ctx context.Context, i int, e Expect, r conversation.Reply) {
	where := fmt.Sprintf("steps[%d]", i)
	same := func(what, want, got string) {
		if want != "" && want != got {
			p.failf("%s: %s is %q, expected %q (reply: %q)", where, what, got, want, conversation.Clip(r.Text, 160))
		}
	}
	same("state", e.State, string(r.State))
	same("path", e.Path, r.Path)
	same("reply", e.Reply, r.Text)
	same("verdict", e.Verdict, string(r.Verdict))
	same("outcome", e.Outcome, string(r.Outcome))
	same("locale", e.Locale, r.Locale)
	code := conversation.Code("")
	if r.Error != nil {
		code = r.Error.Code
	}
	if e.Error != "" || code != "" {
		if e.Error != string(code) {
			p.failf("%s: error is %q (%s), expected %q", where, code, r.Text, e.Error)
		}
	}
	for _, part := range e.Contains {
		if !strings.Contains(r.Text, part) {
			p.failf("%s: reply %q does not contain %q", where, r.Text, part)
		}
	}
	for _, part := range e.Lacks {
		if strings.Contains(r.Text, part) {
			p.failf("%s: reply %q contains %q", where, r.Text, part)
		}
	}
	if e.Options != nil {
		var ids []string
		for _, o := range r.Options {
			ids = append(ids, o.ID)
		}
		if !slices.Equal(e.Options, ids) {
			p.failf("%s: options are %v, expected %v", where, ids, e.Options)
		}
	}
	if e.Interim != nil && *e.Interim != r.Interim {
		p.failf("%s: interim is %v, expected %v (reply: %q)", where, r.Interim, *e.Interim, r.Text)
	}
	for _, component := range e.Degraded {
		if !slices.ContainsFunc(r.Degraded, func(d conversation.Degraded) bool { return d.Component == component }) {
			p.failf("%s: no degraded notice of %q, there are %v", where, component, r.Degraded)
		}
	}
	for _, part := range e.Verified {
		if !slices.ContainsFunc(r.VerificationSteps, func(v string) bool { return strings.Contains(v, part) }) {
			p.failf("%s: no verification step contains %q, there are %q", where, part, r.VerificationSteps)
		}
	}
	if len(e.Symbols)+len(e.Facts) > 0 {
		p.checkCase(ctx, where, e.Facts, e.Symbols)
	}
}

// View reads the conversation's query "case".
func (p *player) view(ctx context.Context) (conversation.CaseView, error) {
	var view conversation.CaseView
	value, err := p.world.Temporal.QueryWorkflow(ctx, conversation.WorkflowID(p.session), "", conversation.QueryCase)
	if err != nil {
		return view, err
	}
	return view, value.Get(&view)
}

func (p *player) checkCase(ctx context.Context, where string, facts, symbols map[string]any) {
	view, err := p.view(ctx)
	if err != nil {
		p.failf("%s: query case: %v", where, err)
		return
	}
	for name, want := range facts {
		fact, found := view.Case.Fact(name)
		if !found {
			p.failf("%s: there is no fact %q", where, name)
		} else if !matches(want, fact.Value) {
			p.failf("%s: fact %q is %s, expected %v", where, name, fact.Value, want)
		}
	}
	for name, want := range symbols {
		index := slices.IndexFunc(view.Case.Symbols, func(s conversation.Symbol) bool { return s.Name == name })
		if index < 0 {
			p.failf("%s: there is no symbol %q", where, name)
		} else if entity := view.Case.Symbols[index].Entity; !matches(want, entity) {
			p.failf("%s: symbol %q is %s, expected %v", where, name, entity, want)
		}
	}
}

// matches compares a value of a script with JSON. A map of the script may name fewer keys than the JSON has; null
// matches anything.
func matches(want any, got json.RawMessage) bool {
	data, err := json.Marshal(want)
	if err != nil {
		return false
	}
	var a, b any
	if json.Unmarshal(data, &a) != nil || json.Unmarshal(got, &b) != nil {
		return false
	}
	return within(a, b)
}

func within(want, got any) bool {
	switch w := want.(type) {
	case nil:
		return true
	case map[string]any:
		g, ok := got.(map[string]any)
		if !ok {
			return false
		}
		for key, value := range w {
			if !within(value, g[key]) {
				return false
			}
		}
		return true
	case []any:
		g, ok := got.([]any)
		if !ok || len(g) != len(w) {
			return false
		}
		for i := range w {
			if !within(w[i], g[i]) {
				return false
			}
		}
		return true
	}
	return reflect.DeepEqual(want, got)
}

// end checks what must hold when all is said.
func (p *player) end(ctx context.Context) error {
	e := p.script.Expect
	view, err := p.view(ctx)
	if err != nil {
		return fmt.Errorf("query case: %w", err)
	}
	if e.Outcome != "" && e.Outcome != string(view.Outcome) {
		p.failf("expect: outcome is %q, expected %q", view.Outcome, e.Outcome)
	}
	if e.State != "" && e.State != string(view.State) {
		p.failf("expect: state is %q, expected %q", view.State, e.State)
	}
	if e.Path != "" && e.Path != view.Path.String() {
		p.failf("expect: path is %s, expected %s", view.Path, e.Path)
	}
	if len(e.Facts) > 0 {
		p.checkCase(ctx, "expect", e.Facts, nil)
	}
	if len(e.Calls) > 0 {
		calls, err := p.calls(ctx)
		if err != nil {
			return err
		}
		for _, c := range e.Calls {
			p.checkCall(c, calls[c.Tool])
		}
	}
	if len(e.Graph) > 0 || e.NoGraph {
		return p.checkGraph(ctx)
	}
	return nil
}

func (p *player) checkCall(c Call, made []json.RawMessage) {
	if c.Count != nil && *c.Count != len(made) {
		p.failf("expect: %s was called %d times, expected %d", c.Tool, len(made), *c.Count)
	}
	if c.Arguments == nil {
		return
	}
	if !slices.ContainsFunc(made, func(arguments json.RawMessage) bool { return matches(c.Arguments, arguments) }) {
		p.failf("expect: no call of %s had arguments %v; there were %s", c.Tool, c.Arguments, made)
	}
}

// Calls reads the tool calls of all conversations of the script back from Temporal's histories: arguments by
// "<tool>.<operation>".
func (p *player) calls(ctx context.Context) (map[string][]json.RawMessage, error) {
	calls := map[string][]json.RawMessage{}
	for _, session := range p.result.Sessions {
		list, err := ToolCalls(ctx, p.world.Temporal, conversation.WorkflowID(session))
		if err != nil {
			return nil, err
		}
		for _, c := range list {
			if c.Fallback {
				continue
			}
			key := c.Tool + "." + c.Operation
			calls[key] = append(calls[key], c.Arguments)
		}
	}
	return calls, nil
}

func (p *player) checkGraph(ctx context.Context) error {
	have, err := p.world.Relations(ctx, p.script.User)
	if err != nil {
		return fmt.Errorf("graph: %w", err)
	}
	if p.script.Expect.NoGraph && len(have) > 0 {
		p.failf("expect: long-term memory has %d relations, expected none", len(have))
	}
	for _, want := range p.script.Expect.Graph {
		found := slices.ContainsFunc(have, func(r conversation.Relation) bool {
			return (want.Type == "" || want.Type == r.Type) && isEntity(want.From, r.From) && isEntity(want.To, r.To)
		})
		if !found {
			p.failf("expect: long-term memory has no relation %s –%s→ %s; it has %v", want.From, want.Type, want.To, have)
		}
	}
	return nil
}

func isEntity(want string, e conversation.Entity) bool {
	kind, id, hasID := strings.Cut(want, ":")
	return want == "" || (kind == e.Type && (!hasID || id == e.ID))
}
