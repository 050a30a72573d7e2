package timex

import (
	"cmp"
	"slices"
	"time"
)

// Kind says what an expression stands for.
type Kind string

// The kinds of expressions.
const (
	KindDate  Kind = "date"      // One day: From equals To.
	KindRange Kind = "daterange" // Several days, or a side left open.
)

// Expression is a date or a range of dates that a text names.
type Expression struct {
	Text string `json:"text"`
	// Start and End are byte offsets into the text, on rune boundaries; End is exclusive.
	Start int  `json:"start"`
	End   int  `json:"end"`
	Kind  Kind `json:"kind"`
	// From and To are ISO dates ("2024-05-12"), both inclusive, of the likeliest reading. An open side of a range
	// ("since May") is empty. Both are empty if the expression has no day in the calendar ("February 30").
	From string `json:"from,omitempty"`
	To   string `json:"to,omitempty"`
	// Ambiguous lists every reading, the likeliest first, if there is more than one. It is empty for a certain one.
	Ambiguous []Reading `json:"ambiguous,omitempty"`
	// YearOpen is set if the readings differ in the year, and in nothing else.
	YearOpen bool `json:"year_open,omitempty"`
}

// Reading is one meaning of an ambiguous expression, as From and To of Expression.
type Reading struct {
	From string `json:"from,omitempty"`
	To   string `json:"to,omitempty"`
}

// Resolved reports whether the expression has a first and a last day.
func (e Expression) Resolved() bool { return e.From != "" && e.To != "" }

// Find returns the expressions of text from left to right; they do not overlap. Locale ("zh" or "en") settles only the
// order in which 5/12 and the like are read; both languages are understood in either. Ref is the day that "today" is,
// in its own location. Text need not be valid UTF-8.
func Find(text, locale string, ref time.Time) []Expression {
	p := newParser(text, locale, ref)
	var found []Expression
	for i := 0; i < len(p.runes); {
		if p.runes[i] == '《' { // A title of a book or a film names no date of the user's.
			if end := p.titleEnd(i); end > i {
				i = end
				continue
			}
		}
		m, end := p.expression(i)
		if end <= i {
			i = p.skip(i)
			continue
		}
		found = append(found, p.report(text, i, end, m))
		p.before, p.beforeEnd = m.last, end
		i = end
	}
	return found
}

// match is the meaning of an expression before it is written down.
type match struct {
	spans []span
	kind  Kind
	last  fields // What a bare day after an enumeration comma goes on from: "5月12、13日".
}

func (p *parser) report(text string, start, end int, m match) Expression {
	from, to := p.starts[start], p.ends[end-1]
	e := Expression{Text: text[from:to], Start: from, End: to, Kind: m.kind}
	for i, s := range m.spans {
		r := Reading{From: s.from.iso(), To: s.to.iso()}
		if i == 0 {
			e.From, e.To = r.From, r.To
		}
		if len(m.spans) > 1 {
			e.Ambiguous = append(e.Ambiguous, r)
		}
	}
	e.YearOpen = yearOpen(m.spans)
	return e
}

// yearOpen reports whether there are several spans, all of the same days of different years.
func yearOpen(spans []span) bool {
	for _, s := range spans {
		if !s.from.sameDate(spans[0].from) || !s.to.sameDate(spans[0].to) {
			return false
		}
	}
	return len(spans) > 1
}

// skip returns where the next expression may begin when none begins at i: never inside a word or a number.
func (p *parser) skip(i int) int {
	switch {
	case isWord(p.at(i)):
		for isWord(p.at(i)) {
			i++
		}
		return i
	case isNumeral(p.at(i)):
		for isNumeral(p.at(i)) {
			i++
		}
		return i
	default:
		return i + 1
	}
}

func (p *parser) titleEnd(i int) int {
	const longest = 64
	for j := i + 1; j < len(p.runes) && j < i+longest; j++ {
		if p.runes[j] == '》' {
			return j + 1
		}
	}
	return no
}

// expression parses the longest expression that begins at i, or returns no.
func (p *parser) expression(i int) (match, int) {
	if !p.mayBegin(i) {
		return match{}, no
	}
	if m, end := p.bounded(i); end != no {
		return m, end
	}
	a, end := p.dated(i)
	if end == no {
		return match{}, no
	}
	if m, rangeEnd := p.rangeFrom(a, end); rangeEnd != no {
		return m, rangeEnd
	}
	if m, openEnd := p.openSuffix(a, end); openEnd != no {
		return m, openEnd
	}
	return p.single(a), end
}

func (p *parser) single(a part) match {
	spans, _ := p.resolve(a)
	m := match{spans: spans, kind: KindRange}
	if a.isDay() {
		m.kind = KindDate
	}
	if len(a.alternatives) == 1 {
		m.last = a.alternatives[0]
	}
	return m
}

// nearestFirst orders readings by their distance to the reference day; a future one loses a tie.
func (p *parser) nearestFirst(spans []span) {
	distance := func(s span) int {
		switch {
		case s.to < p.ref:
			return int(p.ref - s.to)
		case s.from > p.ref:
			return int(s.from - p.ref)
		default:
			return 0
		}
	}
	slices.SortStableFunc(spans, func(a, b span) int { return cmp.Compare(distance(a), distance(b)) })
}
