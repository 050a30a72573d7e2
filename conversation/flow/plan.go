package flow

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/hermes-orchestrator/hermes/conversation"
)

// Capability is what planning needs to know of an operation at this moment.
type Capability struct {
	Effect      string // "read" or "write".
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

// Prefixes of the ids of findings that are not rules of the flow.
const (
	findingToolFailed  = "tool_failed:"
	findingCannotCheck = "cannot_check:"
	findingUnusable    = "unusable:"
	findingWarning     = "warning:"
)

// Plan folds what has been answered into the case and decides what comes next in the phase (SPEC T6). It is a pure
// function of the request and of what Tools says. Errors: unknown_flow and invalid_argument for a request that is not
// for this flow, invalid_flow for an expression that cannot be evaluated (with step and line), tool_misbehaved for an
// answer that does not fit, and whatever Tools returns.
func (f *Flow) Plan(
	ctx context.Context,
	request conversation.PlanRequest,
	user User,
	tools Tools,
) (conversation.Plan, error) {
	if request.Flow != f.ref {
		return conversation.Plan{}, conversation.Errorf(
			conversation.CodeUnknownFlow,
			"plan of flow %q version %q was asked of version %q",
			request.Flow.ID,
			request.Flow.Version,
			f.ref.Version,
		)
	}
	switch request.Phase {
	case conversation.PhasePrepare, conversation.PhaseInspect, conversation.PhaseValidate, conversation.PhaseCommit:
	default:
		return conversation.Plan{}, conversation.Errorf(
			conversation.CodeInvalidArgument,
			"plan of flow %q: there is no phase %q",
			f.ref.ID,
			request.Phase,
		)
	}
	p := newPlanning(f, request, user, tools)
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
	locale  string
	facts   map[string]any // Decoded values of the case's facts.
	outputs map[string]any // Of the answers that were taken into the case, by step.
	failed  []string       // Steps that failed in this request, or whose answer could not be used.
	fresh   []int          // Indexes of the materials that no step had inspected when the plan was asked for.
}

func newPlanning(f *Flow, request conversation.PlanRequest, user User, tools Tools) *planning {
	p := &planning{
		flow: f, request: request, user: user, tools: tools, locale: f.locale(request.Locale),
		facts: map[string]any{}, outputs: map[string]any{},
	}
	p.plan.Case, p.plan.Limits = request.Case.Clone(), f.limits
	for _, fact := range p.plan.Case.Facts {
		if value, err := fromJSON(fact.Value); err == nil {
			p.facts[fact.Name] = value
		}
	}
	for i, m := range p.plan.Case.Materials {
		if !m.Inspected {
			p.fresh = append(p.fresh, i)
		}
	}
	return p
}

func (p *planning) run(ctx context.Context) error {
	p.openRound()
	for _, answer := range p.request.Answers {
		if err := p.take(answer); err != nil {
			return err
		}
	}
	for _, failed := range p.request.Failed {
		p.fail(failed)
	}
	p.derive()
	p.nameMaterials()
	p.remember()
	if err := p.calls(ctx); err != nil {
		return err
	}
	if len(p.plan.Calls) == 0 && p.request.Phase == conversation.PhaseValidate {
		p.findings()
	}
	p.missing()
	p.digest()
	p.plan.Summary = p.summary()
	return nil
}

// openRound begins a new round of inspection when there are uploads that nobody has looked at and nothing is being
// answered: inspect steps run once for each batch, not once for each conversation. What was said of the files of the
// batch before is over.
func (p *planning) openRound() {
	if p.request.Phase != conversation.PhaseInspect || len(p.fresh) == 0 ||
		len(p.request.Answers)+len(p.request.Failed) > 0 {
		return
	}
	c := &p.plan.Case
	for i := range p.flow.steps {
		if s := &p.flow.steps[i]; s.Phase == conversation.PhaseInspect {
			c.Done = slices.DeleteFunc(c.Done, func(id string) bool { return id == s.ID })
		}
	}
	c.Findings = slices.DeleteFunc(
		c.Findings,
		func(f conversation.Finding) bool { return strings.HasPrefix(f.ID, findingUnusable) },
	)
}

// setFact keeps the case and the decoded values in step.
func (p *planning) setFact(fact conversation.Fact, value any) {
	p.plan.Case.SetFact(fact)
	p.facts[fact.Name] = value
}

// vars are the variables that expressions see. uploads are those that had not been inspected when the plan was asked
// for, so that all steps of one round see the same.
func (p *planning) vars(output any) map[string]any {
	prefs := make(map[string]any, len(p.request.Preferences))
	for name, data := range p.request.Preferences {
		if value, err := fromJSON(data); err == nil {
			prefs[name] = value
		}
	}
	materials, uploads := []any{}, []any{}
	for i, m := range p.plan.Case.Materials {
		a := map[string]any{
			"name": m.Attachment.Name, "media_type": m.Attachment.MediaType, "uri": m.Attachment.URI,
			"sha256": m.Attachment.SHA256, "size": m.Attachment.Size,
		}
		if slices.Contains(p.fresh, i) {
			uploads = append(uploads, a)
		}
		named := map[string]any{"material": m.Name, "inspected": m.Inspected}
		maps.Copy(named, a)
		materials = append(materials, named)
	}
	at := p.request.Now
	if zone, err := time.LoadLocation(p.request.Zone); err == nil {
		at = at.In(zone)
	}
	return map[string]any{
		"facts": p.facts, "prefs": prefs, "materials": materials, "uploads": uploads, "output": output,
		"user": map[string]any{"id": p.user.ID},
		"message": map[string]any{
			"id": p.request.MessageID, "date": at.Format(time.DateOnly), "time": at.Format("15:04"), "locale": p.locale,
		},
	}
}

// derive computes the derived facts anew, in their order. One that cannot be computed yet is absent: what needs it will
// say so.
func (p *planning) derive() {
	for _, d := range p.flow.derive {
		p.plan.Case.DropFact(d.name)
		delete(p.facts, d.name)
	}
	vars := p.vars(nil)
	for _, d := range p.flow.derive {
		value, present, err := d.expr.eval(vars)
		if err != nil || !present {
			continue
		}
		data, err := json.Marshal(value)
		if err != nil {
			continue
		}
		p.setFact(conversation.Fact{
			Name:      d.name,
			Value:     data,
			Status:    conversation.FactDerived,
			Source:    "flow",
			MessageID: p.request.MessageID,
			At:        p.request.Now,
		}, value)
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
	if len(p.plan.Missing) == 0 {
		if p.plan.Manual != "" {
			// Nothing has to be asked, but what the user has just sent must not be left out in silence.
			for _, i := range p.fresh {
				p.plan.Case.Materials[i].Inspected = false
			}
			p.plan.Unread = len(p.fresh)
		}
		p.plan.Manual = ""
	}
}

// summary says in a few words how far the flow is, for the snapshot (SPEC C4).
func (p *planning) summary() string {
	waiting := 0
	for _, m := range p.plan.Case.Materials {
		if !m.Inspected {
			waiting++
		}
	}
	view := map[string]any{
		"facts":   p.facts,
		"uploads": len(p.plan.Case.Materials),
		"waiting": waiting,
		"missing": p.flow.labels(p.plan.Missing, p.locale),
	}
	text := p.flow.Title(p.locale)
	if t := p.flow.summary[p.locale]; t != nil {
		var b strings.Builder
		if err := t.Execute(&b, view); err == nil { // Otherwise its facts are not known yet.
			text = b.String()
		}
	}
	return conversation.Clip(text, conversation.SummaryMaxRunes)
}
