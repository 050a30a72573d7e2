package nlu

import (
	"github.com/hermes-orchestrator/hermes/conversation"
)

// confirmation understands a message in S4, where money moves. Stops go first, then changes; consent is last and must
// be the whole message.
func (m *message) confirmation(u *conversation.Understanding) {
	if m.request.Asked == conversation.ReplyCancelOffer {
		m.cancelOffer(u)
		return
	}
	refused := m.refuses(m.verbs, m.objects)
	stopped := m.stops()
	changed := m.changes()
	switch {
	case changed && !stopped:
		u.Event = conversation.EventModify
		u.Clear = m.named()
		if len(u.Clear) == 0 { // "改成北京" says what, not only that.
			if corrected := m.corrections(); len(corrected) > 0 {
				u.Event = ""
				m.declare(u, alternative{}, corrected)
			}
		}
	case changed: // "取消修改": which of both?
	case refused || stopped:
		u.Event = conversation.EventCancel
	case m.consents():
		u.Choice = conversation.ChoiceConfirm
	case m.only(decline, particle, polite):
		u.Event = conversation.EventCancel
	default:
		if corrected := m.corrections(); len(corrected) > 0 {
			m.declare(u, alternative{}, corrected)
		}
	}
}

// cancelOffer understands the answer to "you cannot deliver it: cancel, or go on?". A plain yes could mean either.
func (m *message) cancelOffer(u *conversation.Understanding) {
	switch {
	case m.asksAnything() || m.has(condition) || m.has(hedge):
	case m.refuses(m.verbs, m.objects) || m.stops():
		u.Event = conversation.EventCancel
	case len(m.states(m.hits(goOn))) > 0:
		u.Event, u.Choice = conversation.EventContinue, conversation.ChoiceGoOn
	}
}

// consents reports whether the message is consent and nothing else: it names the act ("确认提交", "submit it"), perhaps
// with its object, or it is a plain yes with no more than courtesy around it.
func (m *message) consents() bool {
	filler := append(m.sets(consentFiller, assent, polite), m.objects)
	return consists(m.text, m.sets(consent), filler) || consists(m.text, m.sets(assent), m.sets(polite))
}

// changes reports whether the user plainly wants to change what is shown.
func (m *message) changes() bool {
	if m.has(condition) {
		return false
	}
	for _, h := range m.states(m.hits(modify)) {
		if !insideAny(h, m.hits(notModify)) {
			return true
		}
	}
	return false
}

// corrections are new values of entities that the message states without doubt.
func (m *message) corrections() []slot {
	if m.flow == nil || m.asksAnything() || m.has(condition) {
		return nil
	}
	for _, h := range m.hits(hedge) {
		if !insideAny(h, m.hits(correction)) { // "应该是…" corrects, "应该" doubts.
			return nil
		}
	}
	return m.entities(m.flow, true)
}
