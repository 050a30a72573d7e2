package nlu

import (
	"encoding/json"
	"net/url"
	"slices"
	"strings"

	"github.com/hermes-orchestrator/hermes/conversation"
	"github.com/hermes-orchestrator/hermes/conversation/flow"
)

// sayPrefix begins the id of an option that stands for one reading of an ambiguous message. The id carries the reading
// itself, so that nothing has to be remembered until the user has chosen.
const sayPrefix = "say:"

// maxOptions bounds what a user is asked to choose from.
const maxOptions = 6

// reading of a message that is handed back as an option.
type alternative struct {
	flow   conversation.FlowRef
	intent string
	facts  []conversation.Fact
	label  string
}

func (a alternative) option() conversation.Option {
	values := url.Values{}
	if a.intent != "" {
		values.Set("flow", a.flow.ID)
		values.Set("version", a.flow.Version)
		values.Set("intent", a.intent)
	}
	for _, f := range a.facts {
		values.Set("fact."+f.Name, string(f.Value))
	}
	return conversation.Option{ID: sayPrefix + values.Encode(), Label: a.label}
}

// chooseReading reads what option wrote. It trusts nothing: the id came from outside.
func (m *message) chooseReading(u conversation.Understanding) (conversation.Understanding, error) {
	unknown := notOffered(m.request.Message.Choice)
	values, err := url.ParseQuery(strings.TrimPrefix(m.request.Message.Choice, sayPrefix))
	if err != nil {
		return conversation.Understanding{}, unknown
	}
	chosen := m.flow
	if intent := values.Get("intent"); intent != "" {
		ref := conversation.FlowRef{ID: values.Get("flow"), Version: values.Get("version")}
		chosen = nil
		for _, f := range m.flows {
			if f.Ref() == ref && slices.ContainsFunc(f.Intents(), func(i flow.Intent) bool { return i.Name == intent }) {
				chosen = f
			}
		}
		if chosen == nil {
			return conversation.Understanding{}, unknown
		}
		u.Flow, u.Intent, u.Event = ref, intent, conversation.EventIntentRecognized
	}
	if chosen == nil {
		return conversation.Understanding{}, unknown
	}
	names := make([]string, 0, len(values))
	for name := range values {
		if after, ok := strings.CutPrefix(name, "fact."); ok {
			names = append(names, after)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		value := json.RawMessage(values.Get("fact." + name))
		if !declarable(chosen, name, value) {
			return conversation.Understanding{}, unknown
		}
		u.Facts = append(u.Facts, m.fact(name, value))
	}
	if u.Intent == "" && len(u.Facts) == 0 {
		return conversation.Understanding{}, unknown
	}
	return u, nil
}

func notOffered(choice string) *conversation.Error {
	return conversation.Errorf(conversation.CodeInvalidArgument,
		"choice %q is not one that was offered: choose one of the options of the last reply", conversation.Clip(choice, 80))
}

// declarable reports whether the flow has an entity or a manual field of that name for such a value.
func declarable(f *flow.Flow, name string, value json.RawMessage) bool {
	for _, e := range f.Entities() {
		if e.Name == name {
			return wellTyped(e.Type, e.Values, value)
		}
	}
	for _, material := range f.Materials() {
		for _, field := range material.Manual {
			if field.Name == name {
				return wellTyped(field.Type, nil, value)
			}
		}
	}
	return false
}

// slot is a fact with the values that the message leaves open.
type slot struct {
	name   string
	values []json.RawMessage
	labels []string
}

// combine multiplies the values of slots out; ok is false where that would be more than a user can choose from.
func (m *message) combine(base alternative, slots []slot) (list []alternative, ok bool) {
	list = []alternative{base}
	for _, s := range slots {
		var next []alternative
		for _, a := range list {
			for i, v := range s.values {
				b := a
				b.facts = append(slices.Clone(a.facts), m.fact(s.name, v))
				if len(s.values) > 1 {
					b.label = strings.TrimSpace(a.label + " " + s.labels[i])
				}
				next = append(next, b)
			}
		}
		list = next
		if len(list) > maxOptions {
			return nil, false
		}
	}
	return list, true
}

// declare puts certain facts into u, and uncertain ones as options.
func (m *message) declare(u *conversation.Understanding, base alternative, slots []slot) {
	list, ok := m.combine(base, slots)
	if !ok { // Too much is open: what is certain is kept, the rest will be asked.
		certain := slots[:0:0]
		for _, s := range slots {
			if len(s.values) == 1 {
				certain = append(certain, s)
			}
		}
		list, _ = m.combine(base, certain)
	}
	if len(list) > 1 {
		for _, a := range list {
			u.Ambiguous = append(u.Ambiguous, a.option())
		}
		return
	}
	u.Flow, u.Intent, u.Facts = list[0].flow, list[0].intent, list[0].facts
}
