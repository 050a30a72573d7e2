package nlu

import (
	"encoding/json"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/hermes-orchestrator/hermes/conversation/flow"
	"github.com/hermes-orchestrator/hermes/conversation/nlu/timex"
)

// entities returns the values that the message gives to the entities of a flow. With corrections set, only what is said
// as a correction counts ("应该是北京", "不是北京，是上海") or is the whole message: "明天给你" sets no period.
func (m *message) entities(f *flow.Flow, corrections bool) []slot {
	var slots []slot
	for _, e := range f.Entities() {
		var s slot
		switch e.Type {
		case flow.TypeList:
			s = m.listed(e, corrections)
		case flow.TypeDate, flow.TypeDateRange:
			s = m.dated(e.Name, e.Type, corrections)
		case flow.TypeAmount, flow.TypeCount:
			if !corrections {
				s = m.counted(e.Name, e.Type)
			}
		}
		if len(s.values) > 0 {
			slots = append(slots, s)
		}
	}
	return slots
}

// listed finds the value of a list. Of several, one that is gone to ("去深圳") goes before others, and one that is left
// ("从北京") or denied does not count.
func (m *message) listed(e flow.Entity, corrections bool) slot {
	words := newPhrases()
	for i, v := range e.Values {
		words.add(i, v.Value)
		each(v.Say, func(say []string) { words.add(i, say...) })
	}
	var reached, other []int
	denied := false
	bare := consists(m.text, []*phrases{words}, m.sets(particle, polite, toward, correction))
	hits := words.find(m.text)
	for i, h := range hits {
		switch {
		case i > 0 && len(reached) > 0 && reached[len(reached)-1] >= 0 && m.joined(hits[i-1], h):
			reached = append(reached, h.tag)
		case m.endsAt(entityNegate, h.start, 0):
			denied = true
		case m.endsAt(from, h.start, 0):
		case corrections && !bare && !m.endsAt(correction, h.start, correctionGap):
			other = append(other, h.tag)
		case m.endsAt(toward, h.start, 0):
			reached = append(reached, h.tag)
		default:
			reached = append(reached, -1-h.tag)
		}
	}
	values := preferred(reached)
	if len(values) == 0 && corrections && denied && len(other) > 0 {
		values = unique(other) // "不是北京，是上海"
	}
	s := slot{name: e.Name}
	for _, v := range values {
		s.values = append(s.values, quote(e.Values[v].Value))
		s.labels = append(s.labels, e.Values[v].Value)
	}
	return s
}

// joined reports whether only a conjunction stands between two hits.
func (m *message) joined(a, b hit) bool {
	const longest = 12
	if b.start-a.end > longest {
		return false
	}
	return consists(m.text[a.end:b.start], m.sets(conjunction), m.sets(toward))
}

// preferred returns the values marked as reached (not negative) if there are any, else the others.
func preferred(marked []int) []int {
	var to, plain []int
	for _, v := range marked {
		if v >= 0 {
			to = append(to, v)
		} else {
			plain = append(plain, -1-v)
		}
	}
	if len(to) > 0 {
		return unique(to)
	}
	return unique(plain)
}

func unique(list []int) []int {
	var kept []int
	for _, v := range list {
		if !slices.Contains(kept, v) {
			kept = append(kept, v)
		}
	}
	return kept
}

// correctionGap is how far, in runes, a correcting word may stand before what it corrects: "actually it was in …".
const correctionGap = 12

// endsAt reports whether a word of the category ends at most gap runes and a blank before start, in its clause.
func (m *message) endsAt(c category, start, gap int) bool {
	h, ok := m.before(c, start, gap+1)
	return ok && (start-h.end <= gap || m.text[h.end] == ' ')
}

// period is the value of a range of dates; both ends are inclusive.
type period struct {
	Start string `json:"start"`
	End   string `json:"end"`
}

// dated finds the date or the range of dates that the message names.
func (m *message) dated(name, kind string, corrections bool) slot {
	var chosen []timex.Expression
	for _, t := range m.times() {
		e := t.Expression
		if !e.Resolved() || (kind == flow.TypeDate && e.Kind != timex.KindDate) || m.endsAt(entityNegate, t.start, 0) {
			continue
		}
		if corrections && !m.endsAt(correction, t.start, correctionGap) && !m.bareTime(t) {
			continue
		}
		chosen = append(chosen, e)
	}
	isRange := func(e timex.Expression) bool { return e.Kind == timex.KindRange }
	if kind == flow.TypeDateRange && slices.ContainsFunc(chosen, isRange) {
		chosen = slices.DeleteFunc(chosen, func(e timex.Expression) bool { return !isRange(e) })
	}
	s := slot{name: name}
	var seen []timex.Reading
	for _, e := range chosen {
		readings := []timex.Reading{{From: e.From, To: e.To}}
		if len(e.Ambiguous) > 0 && !e.YearOpen { // A year that is left out is the nearest; the confirmation shows it.
			readings = e.Ambiguous
		}
		for _, r := range readings {
			if r.From != "" && r.To != "" && len(seen) <= maxOptions && !slices.Contains(seen, r) {
				seen = append(seen, r)
				s.add(kind, r)
			}
		}
	}
	return s
}

func (s *slot) add(kind string, r timex.Reading) {
	if kind == flow.TypeDate {
		s.values, s.labels = append(s.values, quote(r.From)), append(s.labels, r.From)
		return
	}
	value, err := json.Marshal(period{r.From, r.To})
	if err != nil {
		return
	}
	label := r.From
	if r.To != r.From {
		label += " – " + r.To
	}
	s.values, s.labels = append(s.values, value), append(s.labels, label)
}

// timed is an expression of time with its place in runes.
type timed struct {
	timex.Expression
	start, end int
}

// times returns the expressions of time of the message, resolved against when and where it was sent.
func (m *message) times() []timed {
	if m.timesKnown {
		return m.timeList
	}
	text := string(m.text)
	var list []timed
	bytes, runes := 0, 0
	for _, e := range timex.Find(text, m.locale(), m.sent) {
		runes += utf8.RuneCountInString(text[bytes:e.Start])
		t := timed{Expression: e, start: runes}
		runes += utf8.RuneCountInString(e.Text)
		t.end, bytes = runes, e.End
		list = append(list, t)
	}
	m.timeList, m.timesKnown = list, true
	return list
}

// bareTime reports whether the message is nothing but the expression.
func (m *message) bareTime(t timed) bool {
	if len(m.text) > maxShort {
		return false
	}
	rest := append(slices.Clone(m.text[:t.start]), m.text[t.end:]...)
	rest = append(rest, '.')
	words := newPhrases()
	words.add(0, ".")
	return consists(rest, []*phrases{words}, m.sets(particle, polite, correction))
}

func quote(text string) json.RawMessage {
	data, err := json.Marshal(text)
	if err != nil {
		return json.RawMessage(`""`)
	}
	return data
}

// wellTyped reports whether a value is one of its type.
func wellTyped(kind string, values []flow.EntityValue, value json.RawMessage) bool {
	var text string
	switch kind {
	case flow.TypeDateRange:
		var p period
		return json.Unmarshal(value, &p) == nil && isDate(p.Start) && isDate(p.End) && p.Start <= p.End
	case flow.TypeCount:
		var n int64
		return json.Unmarshal(value, &n) == nil && n >= 0 && n <= maxCount
	}
	if json.Unmarshal(value, &text) != nil {
		return false
	}
	switch kind {
	case flow.TypeDate:
		return isDate(text)
	case flow.TypeAmount:
		return isAmount(text)
	case flow.TypeList:
		return slices.ContainsFunc(values, func(v flow.EntityValue) bool { return v.Value == text })
	}
	return kind == flow.TypeText
}

func isDate(text string) bool {
	_, err := time.Parse(time.DateOnly, text)
	return err == nil
}
