package flow

import (
	"fmt"
	"slices"
	"strings"
	"text/template"

	"github.com/hermes-orchestrator/hermes/conversation"
)

// Render writes a reply. It reads facts from the snapshot of the request and from nowhere else (SPEC G): what a tool,
// a queue or a cache may hold meanwhile cannot reach the user.
func (f *Flow) Render(request conversation.ReplyRequest) (conversation.Rendered, error) {
	r := &rendering{flow: f, request: request, locale: f.locale(request.Reply.Locale)}
	return r.render()
}

// RenderCore writes a reply of a conversation that has no flow yet. titles are what it can be about.
func RenderCore(request conversation.ReplyRequest, titles []string) (conversation.Rendered, error) {
	r := &rendering{request: request, locale: request.Reply.Locale, titles: titles}
	return r.render()
}

// locale is the requested one, or the flow's first: half a reply in another language would be worse.
func (f *Flow) locale(wanted string) string {
	if slices.Contains(f.locales, wanted) {
		return wanted
	}
	return f.locales[0]
}

type rendering struct {
	flow    *Flow // nil without a flow.
	request conversation.ReplyRequest
	locale  string
	titles  []string
	core    *catalog
	facts   map[string]any // Of the snapshot.
}

func (r *rendering) render() (conversation.Rendered, error) {
	core, err := catalogOf(r.locale)
	if err != nil {
		return conversation.Rendered{}, err
	}
	r.core = core
	text, err := r.text()
	if err != nil {
		return conversation.Rendered{}, conversation.Errorf(
			conversation.CodeInvalidFlow,
			"reply %q in %q: %w",
			r.request.Kind,
			r.locale,
			err,
		)
	}
	lines := append([]string{text}, r.notices()...)
	return conversation.Rendered{Text: strings.Join(lines, "\n"), Options: r.options()}, nil
}

// text is the reply itself. A flow's own text that misses a fact gives way to the core's, because a reply must reach
// the user; not so the confirmation: what cannot be shown must not be confirmed.
func (r *rendering) text() (string, error) {
	view, err := r.view()
	if err != nil {
		return "", err
	}
	kind := string(r.request.Kind)
	if r.flow != nil && r.request.Kind == conversation.ReplyConfirmation {
		return execute(r.flow.confirmation[r.locale], view)
	}
	if r.flow != nil {
		if own := r.flow.texts[kind][r.locale]; own != nil {
			if text, err := execute(own, view); err == nil {
				return text, nil
			}
		}
	}
	t := r.core.texts[kind]
	if t == nil {
		return "", fmt.Errorf("there is no text of this kind")
	}
	return execute(t, view)
}

func execute(t *template.Template, view any) (string, error) {
	var b strings.Builder
	if err := t.Execute(&b, view); err != nil {
		return "", err
	}
	return b.String(), nil
}

// view is what templates may show.
func (r *rendering) view() (map[string]any, error) {
	facts := map[string]any{}
	for _, fact := range r.request.Snapshot.Facts {
		value, err := fromJSON(fact.Value)
		if err != nil {
			return nil, fmt.Errorf("fact %q: %w", fact.Name, err)
		}
		facts[fact.Name] = value
	}
	view := map[string]any{
		"facts":         facts,
		"warnings":      r.warnings(facts, true),
		"missing":       r.missing(),
		"manual":        r.manual(),
		"estimated":     r.request.Reply.EstimatedTime,
		"key":           r.request.Key,
		"flows":         r.titles,
		"reasons":       r.texts(facts, conversation.FindingFatal, ""),
		"unusable":      r.texts(facts, conversation.FindingWarning, findingUnusable),
		"failed":        "",
		"refused":       false,
		"failed_label":  r.failedLabel(),
		"offer_title":   "",
		"offer_summary": "",
		"about":         "",
	}
	if failed := r.request.Failed; failed != nil {
		view["failed"] = failed.Reason
		view["refused"] = failed.Code == conversation.CodeToolRefused
	}
	if offer := r.request.Offer; offer != nil {
		view["offer_title"], view["offer_summary"] = offer.Flow.ID, offer.Summary
		if r.flow != nil && r.flow.ref.ID == offer.Flow.ID {
			view["offer_title"] = r.flow.Title(r.locale)
		}
	}
	about, err := r.about(facts)
	if err != nil {
		return nil, err
	}
	view["about"] = about
	r.facts = facts
	return view, nil
}

// about is the question of a review, asked in the reply's locale from the snapshot's facts.
func (r *rendering) about(facts map[string]any) (string, error) {
	if r.request.Kind != conversation.ReplyReview || r.flow == nil {
		return "", nil
	}
	if def := r.flow.finding(r.request.About); def != nil {
		return renderFinding(def, r.locale, facts)
	}
	rule, cannot := strings.CutPrefix(r.request.About, findingCannotCheck)
	if !cannot {
		return "", fmt.Errorf("there is no finding %q", r.request.About)
	}
	if def := r.flow.finding(rule); def != nil && len(def.Label) > 0 {
		rule = def.Label.in(r.locale)
	}
	return r.core.notice(noticeCannotCheck, rule), nil
}

// failedLabel is what the step that failed is called for people; empty if the flow does not say.
func (r *rendering) failedLabel() string {
	if r.flow == nil {
		return ""
	}
	id := strings.TrimPrefix(r.request.About, findingToolFailed)
	if r.request.Failed != nil {
		id = r.request.Failed.Step
	}
	if s := r.flow.step(id); s != nil {
		return s.Label.in(r.locale)
	}
	return ""
}

func (r *rendering) missing() []string {
	if r.flow == nil {
		return r.request.Missing
	}
	return r.flow.labels(r.request.Missing, r.locale)
}

// manual names the figures that are asked for instead of the missing materials.
func (r *rendering) manual() []string {
	labels := []string{}
	if r.flow == nil {
		return labels
	}
	for _, m := range r.flow.def.Materials {
		if !slices.Contains(r.request.Missing, m.Name) {
			continue
		}
		for _, field := range m.Manual {
			labels = append(labels, field.Label.in(r.locale))
		}
	}
	return labels
}

// texts are the findings of a kind: in the reply's locale where the flow writes them, unchanged where a tool did.
func (r *rendering) texts(facts map[string]any, kind conversation.FindingKind, prefix string) []string {
	list := []string{}
	for _, f := range r.request.Findings {
		if f.Kind == kind && strings.HasPrefix(f.ID, prefix) {
			list = append(list, r.findingText(f, facts))
		}
	}
	return list
}

func (r *rendering) findingText(f conversation.Finding, facts map[string]any) string {
	if r.flow == nil {
		return f.Text
	}
	if def := r.flow.finding(f.ID); def != nil {
		if text, err := renderFinding(def, r.locale, facts); err == nil {
			return text
		}
	}
	return f.Text
}

// warnings are those to be shown with the confirmation; in their short form where the flow has one and it is wanted.
func (r *rendering) warnings(facts map[string]any, short bool) []string {
	list := []string{}
	for _, f := range r.request.Findings {
		if f.Kind != conversation.FindingWarning || strings.HasPrefix(f.ID, findingUnusable) {
			continue
		}
		text := r.findingText(f, facts)
		if r.flow != nil && short {
			for _, w := range r.flow.warnings {
				if w.match.MatchString(text) {
					text = w.short.in(r.locale)
					break
				}
			}
		}
		if !slices.Contains(list, text) {
			list = append(list, text)
		}
	}
	return list
}

func (r *rendering) options() []conversation.Option {
	ids := optionsOf(r.request.Kind)
	options := make([]conversation.Option, 0, len(ids))
	for _, id := range ids {
		label := r.core.options[id]
		if r.request.Kind == conversation.ReplyReview && r.flow != nil {
			if def := r.flow.finding(r.request.About); def != nil {
				if own := def.Options[id].in(r.locale); own != "" {
					label = own
				}
			}
		}
		options = append(options, conversation.Option{ID: id, Label: label})
	}
	return options
}
