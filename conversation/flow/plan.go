package flow

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/hermes-orchestrator/hermes/conversation"
)

// Capability is what planning needs to know of an operation at this moment.
type Capability struct {
	Effect      string
	TimeoutMS   int64
	MaxAttempts int32
	BackoffMS   int64
	Fallback    bool
	// Async says that the call will be answered later.
	Async bool
	// Unhealthy is the reason why the tool should not be asked now, or empty.
	Unhealthy string
}

// Tools knows the operations that can be called. It is asked once for each call that is planned.
type Tools interface {
	// Capability returns an error of code unknown_tool for an operation that is not registered.
	Capability(ctx context.Context, tool, operation string, arguments json.RawMessage) (Capability, error)
}

// User is whose flow it is.
type User struct{ ID string }

// Prefixes of findings and cleared names that the flow makes itself.
const (
	findingToolFailed  = "tool_failed:"
	findingCannotCheck = "cannot_check:"
	findingUnusable    = "unusable:"
	findingWarning     = "warning:"
)

// Plan folds what has been answered into the case and decides what comes next in the phase (SPEC T6). It is a pure
// function of the request and of what Tools says.
func (f *Flow) Plan(ctx context.Context, request conversation.PlanRequest, user User, tools Tools) (conversation.Plan, error) {
	p := &planning{flow: f, request: request, user: user, tools: tools}
	p.plan.Case = request.Case.Clone()
	p.plan.Limits = f.limits
	if err := p.run(ctx); err != nil {
		return conversation.Plan{}, err
	}
	return p.plan, nil
}

type planning struct {
	flow    *Flow
	request conversation.PlanRequest
	user    User
	tools   Tools
	plan    conversation.Plan
	outputs map[string]any // Of answers in this request, by step.
}

func (p *planning) run(ctx context.Context) error {
	p.dropUnusable()
	p.outputs = map[string]any{}
	for _, answer := range p.request.Answers {
		if err := p.fold(answer); err != nil {
			return err
		}
	}
	for _, failed := range p.request.Failed {
		p.fail(failed)
	}
	p.derive()
	if err := p.remember(); err != nil {
		return err
	}
	if err := p.calls(ctx); err != nil {
		return err
	}
	if len(p.plan.Calls) == 0 && p.request.Phase == conversation.PhaseValidate {
		p.findings()
	}
	p.missing()
	p.digest()
	p.plan.Summary = conversation.Clip(p.summary(), conversation.SummaryMaxRunes)
	return nil
}

// vars are the variables that expressions see.
func (p *planning) vars(output any) map[string]any {
	c := &p.plan.Case
	facts := make(map[string]any, len(c.Facts))
	for _, fact := range c.Facts {
		if value, err := fromJSON(fact.Value); err == nil {
			facts[fact.Name] = value
		}
	}
	prefs := make(map[string]any, len(p.request.Preferences))
	for name, data := range p.request.Preferences {
		if value, err := fromJSON(data); err == nil {
			prefs[name] = value
		}
	}
	materials, uploads := []any{}, []any{}
	for _, m := range c.Materials {
		a := map[string]any{
			"name": m.Attachment.Name, "media_type": m.Attachment.MediaType, "uri": m.Attachment.URI,
			"sha256": m.Attachment.SHA256, "size": m.Attachment.Size,
		}
		materials = append(materials, a)
		if !m.Inspected {
			uploads = append(uploads, a)
		}
	}
	return map[string]any{
		"facts": facts, "prefs": prefs, "materials": materials, "uploads": uploads, "output": output,
		"user": map[string]any{"id": p.user.ID}, "message": map[string]any{"id": p.request.MessageID},
	}
}

// derive computes the derived facts anew, in their order. One that cannot be computed yet is absent.
func (p *planning) derive() {
	c := &p.plan.Case
	for _, d := range p.flow.derive {
		c.DropFact(d.name)
		value, present, err := d.expr.eval(p.vars(nil))
		if err != nil || !present {
			continue
		}
		data, err := json.Marshal(value)
		if err != nil {
			continue
		}
		c.SetFact(conversation.Fact{
			Name: d.name, Value: data, Status: conversation.FactDerived, Source: "flow", MessageID: p.request.MessageID, At: p.request.Now,
		})
	}
}

// calls plans the next wave: steps of the phase that have not answered, whose needs have, and that are wanted.
func (p *planning) calls(ctx context.Context) error {
	if p.plan.Manual != "" {
		return nil
	}
	done := func(id string) bool { return slices.Contains(p.plan.Case.Done, id) }
	failedNow := func(id string) bool {
		return slices.ContainsFunc(p.request.Failed, func(f conversation.FailedStep) bool { return f.Step == id })
	}
	waiting := func(id string) bool {
		return slices.ContainsFunc(p.request.Answers, func(a conversation.Answer) bool {
			return a.Step == id && a.Status == conversation.AnswerProcessing
		})
	}
	for i := range p.flow.steps {
		s := &p.flow.steps[i]
		ready := s.Phase == p.request.Phase && !done(s.ID) && !failedNow(s.ID) && !waiting(s.ID) &&
			!slices.ContainsFunc(s.Needs, func(need string) bool { return !done(need) })
		if !ready {
			continue
		}
		vars := p.vars(nil)
		wanted, err := s.when.isTrue(vars)
		if err != nil {
			return p.broken(s, "when", err)
		}
		if !wanted {
			continue
		}
		if err := p.call(ctx, s, vars); err != nil {
			return err
		}
	}
	return nil
}

func (p *planning) call(ctx context.Context, s *step, vars map[string]any) error {
	arguments, err := s.evalArguments(vars)
	if err != nil {
		return p.broken(s, "arguments", err)
	}
	capability, err := p.tools.Capability(ctx, s.Tool, s.Operation, arguments)
	if err != nil {
		return err
	}
	write := capability.Effect == "write"
	switch {
	case write && s.Phase != conversation.PhaseCommit:
		return conversation.Errorf(conversation.CodeInvalidFlow, "flow %q: step %q writes in phase %s: an effect needs the user's confirmation, move it to phase commit", p.flow.ref.ID, s.ID, s.Phase)
	case capability.Unhealthy != "" && s.Manual && !capability.Fallback:
		p.askManually(s.ID)
		return nil
	}
	p.plan.Calls = append(p.plan.Calls, conversation.ToolCall{
		Step: s.ID, Tool: s.Tool, Operation: s.Operation, Arguments: arguments, Effect: capability.Effect,
		TimeoutMS: capability.TimeoutMS, MaxAttempts: capability.MaxAttempts, BackoffMS: capability.BackoffMS,
		// A step that can be replaced by asking the user must not break its cycle.
		Fallback: capability.Fallback, Optional: s.Optional || s.Manual, Async: capability.Async, Unhealthy: capability.Unhealthy,
	})
	return nil
}

func (s *step) evalArguments(vars map[string]any) (json.RawMessage, error) {
	arguments := map[string]any{}
	for _, a := range s.arguments {
		value, present, err := a.expr.eval(vars)
		if err != nil {
			return nil, err
		}
		if present {
			arguments[a.name] = value
		}
	}
	return json.Marshal(arguments)
}

func (p *planning) broken(s *step, what string, err error) error {
	return conversation.Errorf(conversation.CodeInvalidFlow, "flow %q: step %q: %s: %w", p.flow.ref.ID, s.ID, what, err)
}

// askManually has the user asked for the figures; the uploads count as inspected, nobody will read them.
func (p *planning) askManually(step string) {
	p.plan.Manual = step
	for i := range p.plan.Case.Materials {
		p.plan.Case.Materials[i].Inspected = true
	}
}

// missing lists required materials that are not there. A condition that cannot be evaluated counts as required and not
// present: asking is safe, going on is not.
func (p *planning) missing() {
	vars := p.vars(nil)
	for i := range p.flow.materials {
		m := &p.flow.materials[i]
		required, err := m.required.isTrue(vars)
		if err == nil && !required {
			continue
		}
		if present, err := m.present.isTrue(vars); err == nil && present {
			continue
		}
		p.plan.Missing = append(p.plan.Missing, m.Name)
	}
	// The figures have been given: nothing is asked any more.
	if p.plan.Manual != "" && len(p.plan.Missing) == 0 {
		p.plan.Manual = ""
	}
}

// digest covers what a confirmation shows and what it would set in motion: flow version, commit calls with their
// arguments, shown facts. It is empty while any of them is unknown.
func (p *planning) digest() {
	phase := p.request.Phase
	if phase != conversation.PhaseValidate && phase != conversation.PhaseCommit || len(p.plan.Missing) > 0 {
		return
	}
	if phase == conversation.PhaseValidate && len(p.plan.Calls) > 0 {
		return
	}
	vars := p.vars(nil)
	bound := map[string]any{"flow": p.flow.ref}
	for i := range p.flow.steps {
		s := &p.flow.steps[i]
		if s.Phase != conversation.PhaseCommit {
			continue
		}
		arguments, err := s.evalArguments(vars)
		if err != nil {
			return
		}
		bound["call:"+s.ID] = map[string]any{"tool": s.Tool, "operation": s.Operation, "arguments": arguments}
	}
	for _, name := range p.flow.def.Confirmation.Shows {
		if fact, found := p.plan.Case.Fact(name); found {
			bound["fact:"+name] = fact.Value
		}
	}
	data, err := json.Marshal(bound) // Keys of maps are sorted, values are compact: the same facts give the same bytes.
	if err != nil {
		return
	}
	sum := sha256.Sum256(data)
	p.plan.Digest = hex.EncodeToString(sum[:])
}

func (p *planning) summary() string {
	t := p.flow.summary[p.request.Locale]
	if t == nil {
		return p.flow.Title(p.request.Locale)
	}
	var b strings.Builder
	if err := t.Execute(&b, map[string]any{"facts": p.vars(nil)["facts"]}); err != nil {
		return p.flow.Title(p.request.Locale) // Its facts are not known yet.
	}
	return b.String()
}

// findings evaluates the checks. One that cannot be evaluated is never silently passed: it becomes a review.
func (p *planning) findings() {
	c := &p.plan.Case
	toolFailed := slices.ContainsFunc(c.Findings, func(f conversation.Finding) bool { return strings.HasPrefix(f.ID, findingToolFailed) })
	vars := p.vars(nil)
	for i := range p.flow.findings {
		def := &p.flow.findings[i]
		applies, err := def.when.isTrue(vars)
		if err != nil {
			// While a tool's answer is missing, that is what must be decided first.
			if !toolFailed {
				p.setFinding(conversation.Finding{ID: findingCannotCheck + def.ID, Kind: conversation.FindingReview, Text: err.Error()})
			}
			continue
		}
		p.dropFinding(findingCannotCheck + def.ID)
		if !applies {
			p.dropFinding(def.ID)
			continue
		}
		if slices.ContainsFunc(c.Findings, func(f conversation.Finding) bool { return f.ID == def.ID && f.Accepted }) {
			continue
		}
		text, err := renderFinding(def, p.request.Locale, vars["facts"])
		if err != nil {
			text = def.ID
		}
		p.setFinding(conversation.Finding{ID: def.ID, Kind: def.Kind, Text: text})
	}
}

func renderFinding(def *finding, locale string, facts any) (string, error) {
	t := def.ask[locale]
	if t == nil {
		return "", fmt.Errorf("finding %q has no text for locale %q", def.ID, locale)
	}
	var b strings.Builder
	err := t.Execute(&b, map[string]any{"facts": facts})
	return b.String(), err
}

func (p *planning) setFinding(f conversation.Finding) {
	p.dropFinding(f.ID)
	p.plan.Case.Findings = append(p.plan.Case.Findings, f)
}

func (p *planning) dropFinding(id string) {
	p.plan.Case.Findings = slices.DeleteFunc(p.plan.Case.Findings, func(f conversation.Finding) bool { return f.ID == id })
}
