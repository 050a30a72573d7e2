package timex

// englishQuarter parses Q1 2019, 2019-Q1, 2019 H2, first quarter of 2013, the second half of 2019.
func (p *parser) englishQuarter(i int) (part, int) {
	j := i
	if isDigit(p.at(i)) {
		if y, last := p.digits(i, 4); last == i+4 && y >= 1000 {
			k := opt(p.space(last), p.oneOf(last, "-/"))
			if n, half, end := p.periodCode(k); end != no && k > last {
				return period(y, n, half), end
			}
		}
	}
	if n, half, end := p.periodCode(j); end != no {
		if y, last := p.yearAfter(end); last != no {
			return period(y, n, half), last
		}
		if half {
			return spanPart(halfSpan(p.year, n == 2)), end
		}
		return p.openQuarter(n), end
	}
	if k := p.words(j, "the"); k != no {
		j = p.space(k)
	}
	n, k := p.ordinal(j)
	if k == no || isDigit(p.at(k-1)) {
		return part{}, no
	}
	half := false
	end := p.words(p.space(k), "quarter")
	if end == no {
		end, half = p.words(p.space(k), "half"), true
	}
	if end == no || n > 4 || (half && n > 2) {
		return part{}, no
	}
	if y, last := p.yearAfter(end); last != no {
		return period(y, n, half), last
	}
	of := opt(end, p.spaced(end, "of"))
	if shift, last := p.shiftWord(p.space(of)); last != no {
		if last = p.spaced(last, "year"); last != no {
			return period(p.year+shift, n, half), last
		}
	}
	if half {
		return part{}, no
	}
	return p.openQuarter(n), end
}

// periodCode matches q1 to q4, h1 and h2.
func (p *parser) periodCode(i int) (n int, half bool, end int) {
	c := p.at(i)
	if (c != 'q' && c != 'h') || !isDigit(p.at(i+1)) || isWord(p.at(i+2)) || isLetter(p.at(i-1)) {
		return 0, false, no
	}
	n, half = int(p.at(i+1)-'0'), c == 'h'
	if n < 1 || n > 4 || (half && n > 2) {
		return 0, false, no
	}
	return n, half, i + 2
}

func period(y, n int, half bool) part {
	if half {
		return spanPart(halfSpan(y, n == 2))
	}
	return spanPart(quarterSpan(y, n))
}

// englishWeek parses the week of May 12, the week beginning February 4, first week of May, last week of 2019, and the
// weekend.
func (p *parser) englishWeek(i int) (part, int) {
	j := i
	if k := p.words(i, "the"); k != no {
		j = p.space(k)
	}
	if k := p.words(j, "week"); k != no {
		if k = p.spaced(k, "of", "beginning", "starting", "commencing"); k == no {
			return part{}, no
		}
		k = p.space(opt(k, p.spaced(k, "on")))
		if t := p.words(k, "the"); t != no {
			k = p.space(t)
		}
		a, end := p.writtenDay(k)
		if end == no {
			return part{}, no
		}
		days, open := p.resolve(a)
		spans := make([]span, 0, len(days))
		for _, d := range days {
			spans = append(spans, weekSpan(d.from.monday()))
		}
		b := spanPart(spans...)
		b.open = open
		return b, end
	}
	if k := p.words(j, "weekend"); k != no && j > i {
		monday := p.ref.monday()
		return spanPart(span{monday + 5, monday + 6}), k
	}
	n, k := p.ordinal(j)
	if k == no {
		n, k = 0, p.words(j, "last")
	}
	if k == no {
		return part{}, no
	}
	k = p.words(p.space(k), "week", "of")
	if k == no {
		return part{}, no
	}
	a, end := p.wholeUnit(p.space(k))
	if end == no || n > 53 {
		return part{}, no
	}
	units, open := p.resolve(a)
	spans := make([]span, 0, len(units))
	for _, s := range units {
		week := weekSpan(lastWeek(s.to))
		if n > 0 {
			week = weekSpan(firstWeek(s.from) + day(7*(n-1)))
		}
		if week.from <= s.to {
			spans = append(spans, week)
		}
	}
	b := spanPart(spans...)
	b.open = open
	return b, end
}

// writtenDay parses a day that is written as such: May 12, 12 May, 2024-05-12, Monday.
func (p *parser) writtenDay(i int) (part, int) {
	for _, parse := range []func(int) (part, int){p.monthLed, p.dayLed, p.numericPart, p.weekdayLed} {
		if a, end := parse(i); end != no && a.isDay() {
			return a, end
		}
	}
	return part{}, no
}

// wholeUnit parses a month or a year that something is "of".
func (p *parser) wholeUnit(i int) (part, int) {
	if m, j := p.monthName(i); j != no {
		if y, end := p.yearAfter(j); end != no {
			return fieldPart(y, m, 0), end
		}
		return fieldPart(0, m, 0), j
	}
	if y, j := p.digits(i, 4); j == i+4 && y >= 1000 && p.numberEnds(j) {
		return fieldPart(y, 0, 0), j
	}
	if j := p.words(i, "the", "month"); j != no {
		return fieldPart(p.year, p.month, 0), j
	}
	if j := p.words(i, "the", "year"); j != no {
		return fieldPart(p.year, 0, 0), j
	}
	if j := p.words(i, "year"); j != no {
		return fieldPart(p.year, 0, 0), j
	}
	if t := p.words(i, "the"); t != no {
		i = p.space(t)
	}
	a, end := p.englishRelative(i)
	if end == no || a.isDay() || len(a.alternatives) == 0 {
		return part{}, no
	}
	return a, end
}

// englishEdge parses early May, mid May, late this month, end of year, the beginning of 2019: the first or the second
// half, or the middle third of a month.
func (p *parser) englishEdge(i int) (part, int) {
	w, k := p.word(i)
	if k == no {
		return part{}, no
	}
	late, middle := false, false
	switch w {
	case "early", "earlier", "beginning", "start":
	case "mid", "middle":
		middle = true
	case "late", "later", "end":
		late = true
	default:
		return part{}, no
	}
	if t := p.spaced(k, "of", "in"); t != no {
		k = t
	} else if w == "beginning" || w == "start" || w == "middle" || w == "end" {
		return part{}, no
	}
	k = p.space(opt(k, p.lit(k, "-")))
	a, end := p.wholeUnit(k)
	if end == no {
		return part{}, no
	}
	units, open := p.resolve(a)
	spans := make([]span, 0, len(units))
	for _, s := range units {
		spans = append(spans, edgeOf(s, middle, late))
	}
	b := spanPart(spans...)
	b.open = open
	return b, end
}

func edgeOf(s span, middle, late bool) span {
	y, m, _ := s.from.date()
	isYear := s.to-s.from > 31
	switch {
	case isYear && middle:
		return span{civil(y, 5, 1), civil(y, 8, 31)}
	case isYear:
		return halfSpan(y, late)
	case middle:
		return span{civil(y, m, 10), civil(y, m, 20)}
	case late:
		return span{civil(y, m, 16), s.to}
	default:
		return span{s.from, civil(y, m, 15)}
	}
}
