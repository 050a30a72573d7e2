package timex

import "slices"

// part parses one date, or one whole unit, that begins at i: the longest of what the grammars see.
func (p *parser) part(i int) (part, int) {
	best, end := p.chinesePart(i)
	if a, j := p.numericPart(i); j > end {
		best, end = a, j
	}
	if a, j := p.englishPart(i); j > end {
		best, end = a, j
	}
	return best, end
}

// bounded parses expressions that begin with a word of their own (从, from, since) or with two bare numbers (12-15日).
func (p *parser) bounded(i int) (match, int) {
	if m, end := p.bareRange(i); end != no {
		return m, end
	}
	if j := p.any(i, "自从", "从", "自", "由", "打"); j != no {
		return p.since(p.space(j), p.at(i) == '自')
	}
	if j := p.any(i, "截至", "截止到", "截止", "直到"); j != no {
		if a, end := p.dated(p.space(j)); end != no {
			return p.upTo(a, 0), opt(end, p.lit(end, "为止"))
		}
		return match{}, no
	}
	return p.englishBounded(i)
}

// dated is a part with the day of the week that may stand beside it.
func (p *parser) dated(i int) (part, int) {
	a, end := p.part(i)
	if end == no {
		return a, no
	}
	return p.weekdayAfter(a, end)
}

// since parses what follows 从 or 自: a range, or one that is open to the future. 从 alone opens nothing.
func (p *parser) since(i int, opens bool) (match, int) {
	if m, end := p.bareRange(i); end != no {
		return m, end
	}
	a, end := p.dated(i)
	if end == no {
		return match{}, no
	}
	if m, j := p.rangeFrom(a, end); j != no {
		return m, j
	}
	if m, j := p.openSuffix(a, end); j != no {
		return m, j
	}
	if opens {
		return p.onwards(a, 0), end
	}
	return match{}, no
}

// rangeFrom parses the rest of a range that begins with a, which ended at i.
func (p *parser) rangeFrom(a part, i int) (match, int) {
	if j := p.lit(i, "至今"); j != no {
		return p.ranged(a, dayPart(p.ref)), j
	}
	j := p.space(i)
	k := p.any(j, "一直到", "直到", "到", "至", "--", "-")
	if k == no {
		k = p.spaced(i, "to", "through", "thru", "until", "till")
	}
	if k != no {
		b, end := p.rangeEnd(p.space(k), a)
		if end == no {
			return match{}, no
		}
		m := p.ranged(a, b)
		return m, opt(end, p.any(end, "期间", "之间", "为止"))
	}
	if k = p.oneOf(j, "和与"); k != no { // "12日和15日之间"; without the last word these are two dates.
		if b, end := p.rangeEnd(p.space(k), a); end != no {
			if last := p.any(end, "之间", "期间"); last != no {
				return p.ranged(a, b), last
			}
		}
	}
	return match{}, no
}

// spaced matches one of the words after blanks.
func (p *parser) spaced(i int, words ...string) int {
	j := p.space(i)
	if j == i {
		return no
	}
	got, end := p.word(j)
	if end == no {
		return no
	}
	if slices.Contains(words, got) {
		return end
	}
	return no
}

// rangeEnd parses the end of a range; a bare number is a day if the range begins with one.
func (p *parser) rangeEnd(i int, a part) (part, int) {
	if b, end := p.dated(i); end != no {
		return b, end
	}
	if !a.isDay() {
		return part{}, no
	}
	d, end := p.small(i, 31)
	if end == no {
		return part{}, no
	}
	end = opt(end, p.any(end, "st", "nd", "rd", "th"))
	if k := p.oneOf(p.space(end), "日号"); k != no {
		return fieldPart(0, 0, d), k
	}
	if p.counts(end) && p.at(end) != ',' {
		return part{}, no
	}
	if y, k := p.yearAfter(end); k != no {
		return fieldPart(y, 0, d), k
	}
	return fieldPart(0, 0, d), end
}

func (p *parser) ranged(a, b part) match {
	m := match{spans: p.join(a, b), kind: KindRange}
	if len(b.alternatives) == 1 {
		m.last = b.alternatives[0]
	}
	return m
}

// bareRange parses two numbers of which only the second has a unit: 12-15日, 三到五月, 1995–1997年, 5.12-5.15.
func (p *parser) bareRange(i int) (match, int) {
	if m, end := p.dottedRange(i); end != no {
		return m, end
	}
	if isDigit(p.at(i)) {
		if m, end := p.numbersIn(i); end != no { // "12-15 May"
			return m, end
		}
	}
	first, j := p.number(i)
	if j == no {
		return match{}, no
	}
	k := p.any(p.space(j), "到", "至", "-")
	if k == no {
		return match{}, no
	}
	k = p.space(k)
	second, end := p.number(k)
	if end == no {
		return match{}, no
	}
	unitAt := p.space(end)
	switch p.at(unitAt) {
	case '年':
		if first < 1000 || second < 1000 {
			return match{}, no
		}
		return p.ranged(fieldPart(first, 0, 0), fieldPart(second, 0, 0)), unitAt + 1
	case '月':
		if first < 1 || first > 12 || second < 1 || second > 12 {
			return match{}, no
		}
		if _, d := p.dayNumber(unitAt + 1); d != no {
			return match{}, no // "3到5月12日" is no range of months.
		}
		return p.ranged(fieldPart(0, first, 0), fieldPart(0, second, 0)), opt(unitAt+1, p.lit(unitAt+1, "份"))
	case '日', '号':
		if first < 1 || first > 31 {
			return match{}, no
		}
		b, last := p.chineseDay(k)
		if last == no {
			return match{}, no
		}
		return p.ranged(fieldPart(0, 0, first), b), last
	}
	return match{}, no
}

// dottedRange parses 5.12-5.15: one alone would be a number.
func (p *parser) dottedRange(i int) (match, int) {
	if !p.chinese {
		return match{}, no
	}
	a, j := p.dotted(i)
	if j == no {
		return match{}, no
	}
	k := p.any(p.space(j), "到", "至", "-")
	if k == no {
		return match{}, no
	}
	b, end := p.dotted(p.space(k))
	if end == no || isWord(p.at(end)) {
		return match{}, no
	}
	return p.ranged(a, b), end
}

// openSuffix parses 之前, 以后, 或之后 and the like after a date that ended at i.
func (p *parser) openSuffix(a part, i int) (match, int) {
	j := p.space(i)
	if k := p.any(j, "或之前", "或以前", "及之前", "及以前", "以及之前", "以及以前", "或更早"); k != no {
		return p.upTo(a, 0), k
	}
	if k := p.any(j, "或之后", "或以后", "及之后", "及以后", "以及之后", "以及以后", "或更晚", "以来", "开始", "起"); k != no {
		return p.onwards(a, 0), k
	}
	if k := p.any(j, "之前", "以前"); k != no {
		return p.upTo(a, 1), k
	}
	if k := p.any(j, "之后", "以后"); k != no {
		return p.onwards(a, 1), k
	}
	if k := p.oneOf(i, "前后"); k != no && p.oneOf(k, "天日年后前面") == no && !isNumeral(p.at(k)) && !isDigit(p.at(k)) {
		if p.at(i) == '前' {
			return p.upTo(a, 1), k
		}
		return p.onwards(a, 1), k
	}
	return p.englishSuffix(a, i)
}

// upTo is open to the past; with exclude 1 the part itself is left out.
func (p *parser) upTo(a part, exclude day) match {
	spans, _ := p.resolve(a)
	opened := make([]span, 0, len(spans))
	for _, s := range spans {
		last := s.to
		if exclude > 0 {
			last = s.from - exclude
		}
		opened = append(opened, span{openPast, last})
	}
	return match{spans: unique(opened), kind: KindRange}
}

// onwards is open to the future.
func (p *parser) onwards(a part, exclude day) match {
	spans, _ := p.resolve(a)
	opened := make([]span, 0, len(spans))
	for _, s := range spans {
		first := s.from
		if exclude > 0 {
			first = s.to + exclude
		}
		opened = append(opened, span{first, openFuture})
	}
	return match{spans: unique(opened), kind: KindRange}
}

// weekdayAfter takes in the day of the week beside a date, "5月12日（周日）": it decides between readings if it fits one.
func (p *parser) weekdayAfter(a part, i int) (part, int) {
	if !a.isDay() || len(a.alternatives) == 0 {
		return a, i
	}
	j := p.space(i)
	bracket := p.at(j) == '('
	j = p.space(opt(j, p.oneOf(j, ",，、(")))
	weekday, k := 0, no
	if u := p.any(j, "周", "星期", "礼拜"); u != no {
		weekday, k = p.weekdayNumber(u)
	} else if w, end := p.weekdayName(j); end != no && j > i {
		weekday, k = w, end
	}
	if k == no || (bracket && p.at(k) != ')') {
		return a, i
	}
	if bracket {
		k++
	}
	return p.onWeekday(a, weekday), k
}

// onWeekday keeps the readings that fall on the day of the week; if none does, the writer erred and all stay.
func (p *parser) onWeekday(a part, weekday int) part {
	spans, _ := p.resolve(a)
	var fitting part
	for _, s := range spans {
		if s.from.weekday() == weekday {
			fitting.alternatives = append(fitting.alternatives, dayPart(s.from).alternatives...)
		}
	}
	if len(fitting.alternatives) == 0 {
		return a
	}
	return fitting
}
