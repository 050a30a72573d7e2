package nlu

import (
	"encoding/json"
	"slices"
	"sort"
	"strconv"
	"unicode"

	"github.com/hermes-orchestrator/hermes/conversation/flow"
)

// figureKind is what a number in a message counts.
type figureKind int

const (
	figureBare   figureKind = iota // Nothing is said: 8240.
	figureAmount                   // Money: 8240元, $8,240.
	figureCount                    // Things: 3张, 3 pieces.
)

// figure is a number that a user may declare, with its place in runes.
type figure struct {
	kind       figureKind
	cents      int64
	start, end int
}

func (f figure) whole() bool { return f.cents%100 == 0 }

// figures returns the numbers of the message that are neither part of a date nor counted in anything else (three days),
// nor denied ("不是8240元").
func (m *message) figures() []figure {
	times := m.times()
	nouns := m.nouns()
	var list []figure
	for i := 0; i < len(m.text); {
		at := sort.Search(len(times), func(k int) bool { return times[k].end > i })
		if at < len(times) && times[at].start <= i {
			i = times[at].end
			continue
		}
		r := m.text[i]
		switch {
		case isASCIIDigit(r):
		case isHanNumeral(r):
		case isAlphanumeric(r):
			f, end, ok := m.spelled(i, nouns)
			if ok {
				list = append(list, f)
			}
			i = end
			continue
		default:
			i++
			continue
		}
		cents, end, ok := scanNumber(m.text, i)
		if ok && m.numberBegins(i) {
			if f, fine := m.qualify(i, end, cents, nouns); fine && !m.endsAt(negate, f.start, 0) {
				list = append(list, f)
				end = f.end
			}
		}
		for end < len(m.text) && isAlphanumeric(m.text[end]) { // The rest of "3d" is not a number of its own.
			end++
		}
		i = max(end, i+1)
	}
	return list
}

// nouns are the things that the flow lets a user count: "3 keys".
func (m *message) nouns() *phrases {
	words := newPhrases()
	if m.flow == nil {
		return words
	}
	for _, rule := range m.flow.Modify() {
		each(rule.Say, func(say []string) { words.add(0, say...) })
	}
	for _, intent := range m.flow.Intents() {
		each(intent.Say, func(w flow.IntentWords) { words.add(0, w.Objects...) })
	}
	return words
}

// numberBegins refuses negative numbers and pieces of numbers, dates and codes.
func (m *message) numberBegins(i int) bool {
	if i == 0 {
		return true
	}
	switch before := m.text[i-1]; {
	case before == '-' || before == '/' || before == '.' || before == ':' || before == '#' || before == '第':
		return false
	case before == ',':
		return i < 2 || !isASCIIDigit(m.text[i-2])
	case isAlphanumeric(before):
		return m.currencyBefore(i) < i
	}
	return true
}

// currencyBefore returns where a sign or a code of a currency before i begins, or i.
func (m *message) currencyBefore(i int) int {
	j := i
	if j > 0 && m.text[j-1] == ' ' {
		j--
	}
	if j == 0 {
		return i
	}
	switch m.text[j-1] {
	case '¥', '$', '€', '£':
		j--
		for j > 0 && unicode.IsLower(m.text[j-1]) { // "us$"
			j--
		}
		return j
	}
	begin := j
	for begin > 0 && j-begin < 4 && unicode.IsLower(m.text[begin-1]) && isAlphanumeric(m.text[begin-1]) {
		begin--
	}
	switch string(m.text[begin:j]) {
	case "rmb", "cny", "usd", "eur", "gbp", "jpy", "hkd":
		return begin
	}
	return i
}

// qualify says what a number at [i, end) counts. fine is false if it counts something that no figure is about.
func (m *message) qualify(i, end int, cents int64, nouns *phrases) (f figure, fine bool) {
	f = figure{cents: cents, start: i, end: end}
	if begin := m.currencyBefore(i); begin < i {
		f.kind, f.start = figureAmount, begin
	}
	after := end
	if after < len(m.text) && m.text[after] == ' ' {
		after++
	}
	if u, ok := m.standsAt(m.lexicon[currency], after); ok {
		f.kind, f.end = figureAmount, u
		return m.smallCoins(f)
	}
	if f.kind == figureAmount {
		return f, m.figureEnds(end)
	}
	if u, ok := m.standsAt(m.lexicon[countUnit], after); ok {
		if _, other := m.standsAt(m.lexicon[notCounted], after); other {
			return f, false
		}
		f.kind, f.end = figureCount, u
		return f, f.whole()
	}
	if u, ok := m.standsAt(nouns, after); ok {
		f.kind, f.end = figureCount, u
		return f, f.whole()
	}
	return f, m.figureEnds(end)
}

// standsAt matches the longest of the phrases at i.
func (m *message) standsAt(words *phrases, i int) (end int, ok bool) {
	if i >= len(m.text) {
		return 0, false
	}
	for _, candidate := range words.byFirst[m.text[i]] {
		if e := i + len(candidate.runes); e > end && candidate.at(m.text, i) {
			end, ok = e, true
		}
	}
	return end, ok
}

// smallCoins reads 角 and 分 after 元, and the 5 of "8块5". Digits that are neither make the figure unusable.
func (m *message) smallCoins(f figure) (figure, bool) {
	at := f.end
	value := func() int64 {
		if at >= len(m.text) {
			return -1
		}
		if isASCIIDigit(m.text[at]) {
			return int64(m.text[at] - '0')
		}
		return hanDigit(m.text[at])
	}
	unit := func() rune {
		if at+1 < len(m.text) {
			return m.text[at+1]
		}
		return 0
	}
	if d := value(); d >= 0 {
		if !f.whole() {
			return f, false
		}
		next := unit()
		switch {
		case next == '角' || next == '毛':
			f.cents += d * 10
			at += 2
		case next == '分':
			f.cents += d
			at += 2
		case !isASCIIDigit(next) && !isHanNumeral(next):
			f.cents += d * 10
			at++
			f.end = at
			return f, true
		default:
			return f, false
		}
		if d := value(); d >= 0 && unit() == '分' {
			f.cents += d
			at += 2
		}
		f.end = at
	}
	return f, true
}

// figureEnds reports whether a bare number stands by itself: "8240", "是8240吧", not "3天" or "8240%".
func (m *message) figureEnds(end int) bool {
	if end >= len(m.text) {
		return true
	}
	r := m.text[end]
	switch r {
	case '%', '/', ':', '-', '#', '°', '~', '*', '+', '=':
		return false
	case ' ':
		return end+1 >= len(m.text) || !unicode.Is(unicode.Han, m.text[end+1]) && !m.letterAt(end+1)
	case '.', ',':
		return end+1 >= len(m.text) || !isASCIIDigit(m.text[end+1])
	}
	if unicode.IsPunct(r) || unicode.IsSpace(r) {
		return true
	}
	_, ok := m.standsAt(m.lexicon[particle], end)
	return ok
}

// letterAt reports whether a word follows that is not one of courtesy.
func (m *message) letterAt(i int) bool {
	if !isAlphanumeric(m.text[i]) {
		return false
	}
	for _, c := range []category{particle, polite, total} {
		if _, ok := m.standsAt(m.lexicon[c], i); ok {
			return false
		}
	}
	return true
}

// counted returns the amount or the count that the message declares for one fact; no value if there is more than one
// to choose from and nothing tells which ("3200元，5040元" is not added up).
func (m *message) counted(name, kind string) slot {
	s := slot{name: name}
	if m.has(approximate) || m.has(condition) {
		return s
	}
	want := figureAmount
	if kind == flow.TypeCount {
		want = figureCount
	}
	var fitting []figure
	for _, f := range m.figures() {
		if f.kind == want && !m.asked(hit{start: f.start, end: f.end}) && !m.unsure(hit{start: f.start, end: f.end}) {
			fitting = append(fitting, f)
		}
	}
	if f, ok := m.theOne(fitting); ok {
		return f.slot(name, kind)
	}
	return s
}

// theOne returns the only figure, or the only one that is called a total.
func (m *message) theOne(list []figure) (figure, bool) {
	same := func(list []figure) bool {
		return len(list) > 0 && !slices.ContainsFunc(list, func(f figure) bool { return f.cents != list[0].cents })
	}
	if same(list) {
		return list[0], list[0].cents > 0
	}
	var totals []figure
	for _, f := range list {
		const near = 6 // "总金额是…", "total of …"
		if _, ok := m.before(total, f.start, near); ok {
			totals = append(totals, f)
		}
	}
	if same(totals) {
		return totals[0], totals[0].cents > 0
	}
	return figure{}, false
}

func (f figure) value(kind string) json.RawMessage {
	if kind == flow.TypeCount {
		return json.RawMessage(strconv.FormatInt(f.cents/100, 10))
	}
	return quote(writeCents(f.cents))
}

func (f figure) slot(name, kind string) slot {
	return slot{name: name, values: []json.RawMessage{f.value(kind)}, labels: []string{f.label(kind)}}
}

func (f figure) label(kind string) string {
	if kind == flow.TypeCount {
		return strconv.FormatInt(f.cents/100, 10)
	}
	return writeCents(f.cents)
}

// fits reports whether a bare number can be of the type.
func (f figure) fits(kind string) bool {
	switch kind {
	case flow.TypeCount:
		return f.whole() && f.cents > 0 && f.cents <= maxCount*100
	case flow.TypeAmount:
		return f.cents > 0
	}
	return false
}
