package nlu

import (
	"strings"

	"github.com/hermes-orchestrator/hermes/conversation"
	"github.com/hermes-orchestrator/hermes/conversation/flow"
)

// claim is an intent of a flow that recognises itself in the message.
type claim struct {
	flow   *flow.Flow
	intent flow.Intent
	object hit
}

// intent understands a message in S1: which flow does it begin, or what answers the question that was asked?
func (m *message) intent(u *conversation.Understanding) {
	if m.resumes(u) {
		return
	}
	claims := m.claims()
	if len(claims) == 0 {
		m.intentAnswer(u)
		return
	}
	if len(claims) == 1 {
		c := claims[0]
		base := alternative{flow: c.flow.Ref(), intent: c.intent.Name}
		m.declare(u, base, m.entities(c.flow, false))
		if u.Intent != "" {
			u.Event = conversation.EventIntentRecognized
		}
		return
	}
	for _, c := range claims {
		base := alternative{flow: c.flow.Ref(), intent: c.intent.Name, label: m.intentLabel(c)}
		list, ok := m.combine(base, certain(m.entities(c.flow, false)))
		if ok && len(u.Ambiguous) < maxOptions {
			u.Ambiguous = append(u.Ambiguous, list[0].option())
		}
	}
}

func certain(slots []slot) []slot {
	kept := slots[:0:0]
	for _, s := range slots {
		if len(s.values) == 1 {
			kept = append(kept, s)
		}
	}
	return kept
}

// intentAnswer understands a message that begins no flow: a stop, an answer to what was asked in S1; anything else is
// unclear and asked about once.
func (m *message) intentAnswer(u *conversation.Understanding) {
	offered := m.request.Asked == conversation.ReplyResumeOffer
	switch {
	case m.refuses(m.verbs, m.objects) || m.stops():
		u.Event = conversation.EventCancel
	case offered && m.no():
		u.Choice = conversation.ChoiceRestart
	case offered && m.yes():
		u.Choice = conversation.ChoiceResume
	case m.request.Asked == conversation.ReplyToolFailed && len(m.states(m.hits(retry))) > 0:
		u.Choice = conversation.ChoiceRetry
	default:
		u.Event = conversation.EventIntentUnclear
	}
}

// resumes understands the answer to the offer of an unfinished flow. It goes before the words of a flow: "继续报上次的"
// names the flow, but begins none.
func (m *message) resumes(u *conversation.Understanding) bool {
	if m.request.Asked != conversation.ReplyResumeOffer || m.has(condition) {
		return false
	}
	again, anew := len(m.states(m.hits(resume))) > 0, len(m.states(m.hits(restart))) > 0
	switch {
	case anew:
		u.Choice = conversation.ChoiceRestart
	case again:
		u.Choice = conversation.ChoiceResume
	}
	return anew || again
}

// claims returns the intents that the message names with verb and object. One whose object is a part of another's
// ("设备" in "设备维修") gives way to it.
func (m *message) claims() []claim {
	var all []claim
	for _, f := range m.flows {
		for _, intent := range f.Intents() {
			if object, ok := m.claimed(intent); ok {
				all = append(all, claim{f, intent, object})
			}
		}
	}
	var kept []claim
	for _, c := range all {
		outdone := false
		for _, other := range all {
			outdone = outdone || c.object.inside(other.object)
		}
		if !outdone {
			kept = append(kept, c)
		}
	}
	return kept
}

// claimed looks for a verb and an object of the intent that are said plainly and close to each other.
func (m *message) claimed(intent flow.Intent) (hit, bool) {
	const near = 40 // Runes between verb and object: a sentence, not a document.
	verbWords, objectWords := newPhrases(), newPhrases()
	each(intent.Say, func(w flow.IntentWords) {
		verbWords.add(0, w.Verbs...)
		objectWords.add(0, w.Objects...)
	})
	objects := m.whole(objectWords.find(m.text))
	if len(objects) == 0 {
		return hit{}, false
	}
	first := 0
	for _, v := range m.whole(verbWords.find(m.text)) {
		for first < len(objects) && objects[first].end < v.start-near {
			first++
		}
		for _, o := range objects[first:] {
			if o.start > v.end+near {
				break
			}
			if !v.overlaps(o) && m.wants(v, o, intent.Verb) {
				return o, true
			}
		}
	}
	// The bare name of the job is enough where nothing else is said.
	if consists(m.text, []*phrases{objectWords}, m.sets(particle, polite)) {
		return objects[0], true
	}
	return hit{}, false
}

// wants reports whether a verb and its object state a wish, and not a refusal, a report of the past or a question for
// information. A question such as "我能报…吗" is a polite wish.
func (m *message) wants(verb, object hit, kind string) bool {
	if m.negated(verb) {
		return false
	}
	for _, h := range []hit{verb, object} {
		c := m.clauseAt(h.start)
		if len(m.in(information, c)) > 0 || len(m.in(done, c)) > 0 {
			return false
		}
		for _, other := range []struct {
			words category
			kind  string
		}{{queryVerb, "query"}, {changeVerb, "change"}} {
			words := m.in(other.words, c)
			if kind != other.kind && len(words) > 0 && words[0].start < verb.start && !words[0].overlaps(verb) {
				return false
			}
		}
	}
	return true
}

// intentLabel is how an intent is offered: its first verb and object in the language of the conversation.
func (m *message) intentLabel(c claim) string {
	locale := m.locale()
	words, ok := c.intent.Say[locale]
	if !ok || len(words.Verbs) == 0 || len(words.Objects) == 0 {
		return c.flow.Title(locale)
	}
	separator := ""
	if locale == conversation.LocaleEnglish {
		separator = " "
	}
	return strings.Join([]string{words.Verbs[0], words.Objects[0]}, separator)
}

func (m *message) locale() string {
	if locale := certainLocale(m.request.Message.Text); locale != "" {
		return locale
	}
	if m.request.Message.Locale != "" {
		return m.request.Message.Locale
	}
	return conversation.LocaleChinese
}
