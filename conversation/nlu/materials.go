package nlu

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/hermes-orchestrator/hermes/conversation"
	"github.com/hermes-orchestrator/hermes/conversation/flow"
)

// materials understands a message in S2: a stop, giving up, figures instead of uploads, what to replace, a correction.
func (m *message) materials(u *conversation.Understanding) {
	switch {
	case m.refuses(m.verbs, m.objects) || m.cancels():
		u.Event = conversation.EventCancel
		return
	case m.request.Asked == conversation.ReplyStillThere && m.no():
		u.Event = conversation.EventCancel
		return
	case m.givesUp():
		u.Event = conversation.EventGaveUp
		return
	case m.request.Asked == conversation.ReplyStillThere && (m.yes() || len(m.states(m.hits(goOn))) > 0):
		u.Event = conversation.EventContinue
		return
	case len(m.states(m.hits(retry))) > 0:
		u.Choice = conversation.ChoiceRetry
		return
	}
	if m.flow == nil || m.doubtful() {
		return
	}
	if m.request.Asked == conversation.ReplyManual {
		if slots := m.manual(); len(slots) > 0 {
			m.declare(u, alternative{}, slots)
			return
		}
	}
	if m.request.Asked == conversation.ReplyModify || len(m.states(m.hits(wrongUpload))) > 0 {
		if clear := m.named(); len(clear) > 0 && !m.asksAnything() {
			u.Clear = clear
			return
		}
	}
	m.declare(u, alternative{}, m.corrections())
}

// cancels leaves "算了" and its likes to givesUp, which offers to cancel before anything is lost.
func (m *message) cancels() bool {
	if m.has(condition) {
		return false
	}
	for _, h := range m.states(m.hits(cancel)) {
		gaveUp := slices.ContainsFunc(m.hits(giveUp), h.overlaps)
		if !gaveUp && !m.waits(h) {
			return true
		}
	}
	return false
}

// givesUp reports whether the user says that what was asked for cannot be had.
func (m *message) givesUp() bool {
	if m.has(condition) || m.asksAnything() || m.has(giveUpException) {
		return false
	}
	if consists(m.text, m.sets(giveUpExact), m.sets(particle, polite)) {
		return true
	}
	for _, h := range m.hits(giveUp) {
		if !m.unsure(h) && !m.deniedGivingUp(h) {
			return true
		}
	}
	things := m.nouns()
	if m.flow != nil {
		for _, material := range m.flow.Materials() {
			each(material.Label, func(label string) { things.add(0, label) })
		}
	}
	for _, h := range m.whole(things.find(m.text)) {
		if m.endsAt(missing, h.start, 0) && !m.unsure(h) {
			return true
		}
	}
	return false
}

// deniedGivingUp is about "没丢", not about the negation that is a part of "没找到" itself.
func (m *message) deniedGivingUp(h hit) bool {
	n, ok := m.before(negate, h.start, 0)
	return ok && n.end == h.start
}

// asksAnything reports whether some clause of the message is a question.
func (m *message) asksAnything() bool {
	return m.has(question) || slices.ContainsFunc(m.clauses, func(c clause) bool { return c.asked })
}

// doubtful reports whether a figure in the message is not meant as a fact.
func (m *message) doubtful() bool { return m.has(hedge) && m.request.Asked == conversation.ReplyManual }

// manual returns the figures that the user gives instead of uploads, for the manual fields of the flow.
func (m *message) manual() []slot {
	if m.has(approximate) || m.has(condition) || m.asksAnything() {
		return nil
	}
	byType := map[string][]flow.ManualField{}
	for _, material := range m.flow.Materials() {
		for _, field := range material.Manual {
			byType[field.Type] = append(byType[field.Type], field)
		}
	}
	var slots []slot
	figures := m.figures()
	for _, kind := range []string{flow.TypeAmount, flow.TypeCount} {
		slots = append(slots, m.assign(byType[kind], kind, figures)...)
	}
	slots = append(slots, m.bare(byType, figures, slots)...)
	for _, kind := range []string{flow.TypeDate, flow.TypeDateRange} {
		if fields := byType[kind]; len(fields) > 0 {
			if s := m.dated(m.firstOpen(fields).Name, kind, false); len(s.values) > 0 {
				slots = append(slots, s)
			}
		}
	}
	if texts := byType[flow.TypeText]; len(slots) == 0 && len(texts) == 1 && len(m.text) <= 4*maxShort {
		text := strings.TrimSpace(m.request.Message.Text)
		slots = append(slots, slot{name: texts[0].Name, values: []json.RawMessage{quote(text)}, labels: []string{text}})
	}
	return slots
}

// assign gives figures of a type to the fields of that type: by the label that stands before each, else to the one
// field that there is.
func (m *message) assign(fields []flow.ManualField, kind string, figures []figure) []slot {
	want := figureAmount
	if kind == flow.TypeCount {
		want = figureCount
	}
	fitting := slices.DeleteFunc(slices.Clone(figures), func(f figure) bool { return f.kind != want || !f.fits(kind) })
	if len(fields) == 0 || len(fitting) == 0 {
		return nil
	}
	if len(fields) == 1 {
		f, ok := m.theOne(fitting)
		if !ok {
			return nil
		}
		return []slot{f.slot(fields[0].Name, kind)}
	}
	labels := newPhrases()
	for i, field := range fields {
		each(field.Label, func(label string) { labels.add(i, label) })
	}
	spoken := labels.find(m.text)
	var slots []slot
	for _, f := range fitting {
		for _, s := range slices.Backward(spoken) {
			const near = 8
			if gap := f.start - s.end; gap >= 0 && gap <= near {
				slots = append(slots, f.slot(fields[s.tag].Name, kind))
				break
			}
		}
	}
	if len(slots) == 0 && len(fitting) == 1 {
		return []slot{fitting[0].slot(m.firstOpen(fields).Name, kind)}
	}
	return slots
}

// bare gives a number that says nothing of itself ("8240") to the only field that it fits. Small whole numbers fit both
// an amount and a number of things: then it is left alone, and the question is asked again.
func (m *message) bare(byType map[string][]flow.ManualField, figures []figure, taken []slot) []slot {
	numbers := slices.DeleteFunc(slices.Clone(figures), func(f figure) bool { return f.kind != figureBare })
	if len(numbers) != 1 {
		return nil
	}
	f := numbers[0]
	type place struct {
		field flow.ManualField
		kind  string
	}
	var places []place
	for _, kind := range []string{flow.TypeAmount, flow.TypeCount} {
		for _, field := range byType[kind] {
			filled := slices.ContainsFunc(taken, func(s slot) bool { return s.name == field.Name })
			if _, known := m.request.Case.Fact(field.Name); !filled && !known && f.fits(kind) {
				places = append(places, place{field, kind})
			}
		}
	}
	const hardlyACount = 100_00 // Nobody hands in a hundred pieces and says no word about it.
	if len(places) > 1 && (f.cents >= hardlyACount || !f.whole()) {
		places = slices.DeleteFunc(places, func(p place) bool { return p.kind == flow.TypeCount })
	}
	if len(places) != 1 {
		return nil
	}
	p := places[0]
	return []slot{f.slot(p.field.Name, p.kind)}
}

// firstOpen is the first field that nothing is known of, or the first.
func (m *message) firstOpen(fields []flow.ManualField) flow.ManualField {
	for _, field := range fields {
		if _, known := m.request.Case.Fact(field.Name); !known {
			return field
		}
	}
	return fields[0]
}
