package timex

// numericPart parses dates of numbers alone: 2024-05-12, 2024/5/12, 10/1/2017, 5/12, 2024-05, also with the name of an
// English month in the middle (23/Sep/2020, 2019-aug-01).
func (p *parser) numericPart(i int) (part, int) {
	if !isDigit(p.at(i)) {
		return part{}, no
	}
	if a, end := p.yearFirst(i); end != no {
		return a, end
	}
	if a, end := p.yearLast(i); end != no {
		return a, end
	}
	return p.slashed(i)
}

// separator matches one of "-/." between the numbers of a date.
func (p *parser) separator(i int) (rune, int) {
	if j := p.oneOf(i, "-/."); j != no {
		return p.at(i), j
	}
	return 0, no
}

func (p *parser) yearFirst(i int) (part, int) {
	y, j := p.digits(i, 4)
	if j != i+4 || y < 1000 {
		return part{}, no
	}
	sep, k := p.separator(j)
	if k == no {
		return part{}, no
	}
	m, end := p.digits(k, 2)
	if end == no {
		m, end = p.monthName(k)
	}
	if end == no || m < 1 || m > 12 {
		return part{}, no
	}
	if p.at(end) == sep {
		if d, last := p.digits(end+1, 2); last != no && p.numberEnds(last) {
			if d < 1 || d > 31 {
				return part{}, no
			}
			return fieldPart(y, m, d), last
		}
	}
	// "2024-05" is a month if it can be nothing else: "2016-10" in a range of years is not.
	if sep != '.' && end-k == 2 && isDigit(p.at(k)) && p.numberEnds(end) && p.at(end) != '-' &&
		p.oneOf(p.space(end), "年月") == no {
		return fieldPart(y, m, 0), end
	}
	return part{}, no
}

func (p *parser) yearLast(i int) (part, int) {
	first, j := p.digits(i, 2)
	if j == no {
		return part{}, no
	}
	sep, k := p.separator(j)
	if k == no {
		return part{}, no
	}
	second, end := p.digits(k, 2)
	named := false
	if end == no {
		second, end = p.monthName(k)
		named = true
	}
	if end == no || p.at(end) != sep {
		return part{}, no
	}
	y, last := p.digits(end+1, 4)
	if last == no || !p.numberEnds(last) {
		return part{}, no
	}
	switch last - end - 1 {
	case 4:
	case 2:
		if sep == '.' {
			return part{}, no // A version, or the number of a paragraph.
		}
		y = p.fullYear(y)
	default:
		return part{}, no
	}
	if named {
		return fieldPart(y, second, first), last
	}
	return p.eitherOrder(y, first, second, p.chinese || sep == '.'), last
}

// eitherOrder keeps the readings of two numbers as month and day that exist.
func (p *parser) eitherOrder(y, first, second int, dayFirst bool) part {
	var a part
	leap := y
	if leap == 0 {
		leap = 2000
	}
	add := func(m, d int) {
		if validDate(leap, m, d) {
			a.alternatives = append(a.alternatives, fields{y, m, d})
		}
	}
	if dayFirst {
		add(second, first)
		add(first, second)
	} else {
		add(first, second)
		add(second, first)
	}
	if len(a.alternatives) == 2 && a.alternatives[0] == a.alternatives[1] {
		a.alternatives = a.alternatives[:1]
	}
	if len(a.alternatives) == 0 {
		return nowhere()
	}
	return a
}

// slashed matches 5/12. In Chinese the month comes first; in English it may be either.
func (p *parser) slashed(i int) (part, int) {
	first, j := p.digits(i, 2)
	if j == no || p.at(j) != '/' {
		return part{}, no
	}
	if m, end := p.monthName(j + 1); end != no {
		return fieldPart(0, m, first), end
	}
	second, end := p.digits(j+1, 2)
	if end == no || !p.numberEnds(end) || p.counts(end) {
		return part{}, no
	}
	y := 0
	if p.at(end) == ',' {
		if written, last := p.yearAfter(end); last != no {
			y, end = written, last
		}
	}
	a := p.eitherOrder(y, first, second, false)
	if len(a.alternatives) == 0 {
		return part{}, no
	}
	if p.chinese && first <= 12 {
		a.alternatives = a.alternatives[:1]
	}
	return a, end
}

// dotted matches 5.12, which is a date only beside something that says so: a weekday, or another one in a range.
func (p *parser) dotted(i int) (part, int) {
	m, j := p.digits(i, 2)
	if j == no || p.at(j) != '.' {
		return part{}, no
	}
	d, end := p.digits(j+1, 2)
	if end == no || p.counts(end) || !validDate(2000, m, d) {
		return part{}, no
	}
	return fieldPart(0, m, d), end
}

// numberEnds reports whether the number of a date ends here, and not in the middle of something longer.
func (p *parser) numberEnds(i int) bool {
	if isWord(p.at(i)) {
		return false
	}
	switch p.at(i) {
	case '/', '.', ',':
		return !isDigit(p.at(i + 1))
	}
	return true
}
