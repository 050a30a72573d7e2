package timex

// englishDayWord parses today, the day before yesterday, the day after tomorrow.
func (p *parser) englishDayWord(i int) (part, int) {
	j := i
	if k := p.words(i, "the"); k != no {
		j = p.space(k)
	}
	if k := p.words(j, "day", "before"); k != no {
		if end := p.words(p.space(k), "yesterday"); end != no {
			return dayPart(p.ref - 2), end
		}
		if j > i && !p.wordFollows(k) {
			return dayPart(p.ref - 1), k
		}
	}
	if end := p.words(j, "day", "after", "tomorrow"); end != no {
		return dayPart(p.ref + 2), end
	}
	w, end := p.word(i)
	switch w {
	case "today":
		return dayPart(p.ref), end
	case "yesterday":
		return dayPart(p.ref - 1), end
	case "tomorrow":
		return dayPart(p.ref + 1), end
	}
	return part{}, no
}

func (p *parser) wordFollows(i int) bool {
	_, end := p.word(p.space(i))
	return end != no
}

// shiftWord matches last, this, next and their likes.
func (p *parser) shiftWord(i int) (shift, end int) {
	w, end := p.word(i)
	switch w {
	case "last", "past", "previous", "prior", "preceding":
		return -1, end
	case "this", "current":
		return 0, end
	case "next", "coming", "following", "upcoming":
		return 1, end
	}
	return 0, no
}

// unitWord matches the name of a unit.
func (p *parser) unitWord(i int) (u unit, plural bool, end int) {
	w, end := p.word(i)
	switch w {
	case "day", "days":
		u = days
	case "week", "weeks", "wk", "wks":
		u = weeks
	case "month", "months":
		u = months
	case "quarter", "quarters":
		u = quarters
	case "year", "years", "yr", "yrs":
		u = years
	default:
		return 0, false, no
	}
	return u, w[len(w)-1] == 's', end
}

// cardinal matches 3, three, a, an, a couple of.
func (p *parser) cardinal(i int) (n, end int) {
	if isDigit(p.at(i)) {
		return p.digits(i, 4)
	}
	w, end := p.word(i)
	switch w {
	case "a", "an", "one":
		if k := p.words(i, "a", "couple"); k != no {
			return 2, opt(k, p.spaced(k, "of"))
		}
		return 1, end
	case "two", "couple":
		return 2, end
	case "three":
		return 3, end
	case "four":
		return 4, end
	case "five":
		return 5, end
	case "six":
		return 6, end
	case "seven":
		return 7, end
	case "eight":
		return 8, end
	case "nine":
		return 9, end
	case "ten":
		return 10, end
	case "eleven":
		return 11, end
	case "twelve":
		return 12, end
	}
	return 0, no
}

// englishRelative parses last month, next Friday, this weekend, the past 3 days, last May, last two weeks.
func (p *parser) englishRelative(i int) (part, int) {
	shift, k := p.shiftWord(i)
	if k == no {
		return part{}, no
	}
	w, _ := p.word(i)
	k = p.space(k)
	if n, c := p.cardinal(k); c != no && n > 0 {
		if u, _, end := p.unitWord(p.space(c)); end != no && shift != 0 {
			if shift < 0 {
				return spanPart(span{moved(p.ref, -n, u), p.ref - 1}), end
			}
			return spanPart(span{p.ref + 1, moved(p.ref, n, u)}), end
		}
	}
	if weekday, end := p.weekdayName(k); end != no {
		return p.shiftedWeekday(shift, weekday, w == "past" || w == "coming" || w == "upcoming"), end
	}
	if end := p.any(k, "weekend"); end != no && !isWord(p.at(end)) {
		monday := p.ref.monday() + day(7*shift)
		return spanPart(span{monday + 5, monday + 6}), end
	}
	if m, end := p.monthName(k); end != no {
		return p.shiftedMonthName(shift, m), end
	}
	if w == "last" {
		if end := p.words(k, "week", "of"); end != no {
			return part{}, no // "last week of May" is a week of May.
		}
	}
	u, plural, end := p.unitWord(k)
	if end == no || plural {
		return part{}, no
	}
	switch u {
	case days:
		if shift == 0 {
			return part{}, no // "this day": which?
		}
		return dayPart(p.ref + day(shift)), end
	case weeks:
		monday := p.ref.monday() + day(7*shift)
		on := p.space(opt(end, p.spaced(end, "on")))
		if weekday, last := p.weekdayName(on); last != no && on > end {
			return dayPart(monday + day(weekday-1)), last
		}
		return spanPart(weekSpan(monday)), end
	case months:
		y, m := shiftMonth(p.year, p.month, shift)
		return fieldPart(y, m, 0), end
	case quarters:
		return p.relativeQuarter(shift), end
	case years:
		return fieldPart(p.year+shift, 0, 0), end
	}
	return part{}, no
}

// shiftedWeekday is the day in the week that is meant. For "last" and "next" people mean either the day of the other
// week or the nearest one; where these differ, both are readings. "past" and "coming" always mean the nearest.
func (p *parser) shiftedWeekday(shift, weekday int, nearestOnly bool) part {
	byWeek := p.ref.monday() + day(7*shift+weekday-1)
	nearest := byWeek
	switch {
	case shift < 0:
		nearest = p.ref - 1 - day((p.ref.weekday()-1-weekday+14)%7)
	case shift > 0:
		nearest = p.ref + 1 + day((weekday-p.ref.weekday()-1+14)%7)
	}
	if nearestOnly {
		return dayPart(nearest)
	}
	a := spanPart(span{byWeek, byWeek}, span{nearest, nearest})
	a.oneDay = true
	return a
}

func (p *parser) shiftedMonthName(shift, m int) part {
	y := p.year
	switch {
	case shift < 0 && m >= p.month:
		y--
	case shift > 0 && m <= p.month:
		y++
	}
	return fieldPart(y, m, 0)
}

// englishAmount parses 3 days ago, two weeks later, 3 days from today, in 3 days.
func (p *parser) englishAmount(i int) (part, int) {
	in := p.words(i, "in")
	j := i
	if in != no {
		j = p.space(in)
	}
	n, k := p.cardinal(j)
	if k == no || n < 1 {
		return part{}, no
	}
	u, _, end := p.unitWord(p.space(k))
	if end == no {
		return part{}, no
	}
	sign := 0
	if last := p.spaced(end, "ago", "earlier", "back", "before"); last != no {
		sign, end = -1, last
	} else if last := p.spaced(end, "later", "hence"); last != no {
		sign, end = 1, last
	} else if last := p.spaced(end, "from"); last != no {
		if final := p.spaced(last, "now", "today"); final != no {
			sign, end = 1, final
		}
	} else if in != no {
		sign = 1
	}
	if sign == 0 {
		return part{}, no
	}
	d := moved(p.ref, sign*n, u)
	if d < firstDay || d > lastDay {
		return nowhere(), end
	}
	return dayPart(d), end
}

// englishQuarter parses Q1 2019, 2019-Q1, 2019 H2, first quarter of 2013, the second half of 2019.
func (p *parser) englishQuarter(i int) (part, int) {
	y, j := 0, i
	if isDigit(p.at(i)) {
		if y, j = p.digits(i, 4); j == i+4 && y >= 1000 {
			k := opt(p.space(j), p.oneOf(j, "-/"))
			if n, half, end := p.periodCode(k); end != no && k > j {
				return period(y, n, half), end
			}
		}
		j, y = i, 0
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

// englishBounded parses from A to B, between A and B, since A, before A, until A, and bare years after a preposition.
func (p *parser) englishBounded(i int) (match, int) {
	w, j := p.word(i)
	if j == no {
		return match{}, no
	}
	k := p.space(j)
	if k == j {
		return match{}, no
	}
	if t := p.words(k, "the"); t != no && w != "between" {
		if _, end := p.englishDate(k); end == no {
			k = p.space(t)
		}
	}
	switch w {
	case "from", "between":
		return p.fromTo(k, w == "between")
	case "since":
		if a, end := p.englishDate(k); end != no {
			return p.onwards(a, 0), end
		}
	case "starting":
		k = p.space(opt(k, p.words(k, "on")))
		k = p.space(opt(k, p.words(k, "from")))
		if a, end := p.englishDate(k); end != no {
			return p.onwards(a, 0), end
		}
	case "before":
		if a, end := p.englishDate(k); end != no {
			return p.upTo(a, 1), end
		}
	case "after":
		if a, end := p.englishDate(k); end != no {
			return p.onwards(a, 1), end
		}
	case "until", "till", "by":
		if a, end := p.englishDate(k); end != no {
			return p.upTo(a, 0), end
		}
	case "on":
		if t := p.words(k, "or", "before"); t != no {
			if a, end := p.englishDate(p.space(t)); end != no {
				return p.upTo(a, 0), end
			}
		}
		if t := p.words(k, "or", "after"); t != no {
			if a, end := p.englishDate(p.space(t)); end != no {
				return p.onwards(a, 0), end
			}
		}
	}
	return match{}, no
}

// yearAfterIn parses the bare year in "in 2024": after "of" a number may count anything.
func (p *parser) yearAfterIn(i int) (part, int) {
	if !isDigit(p.at(i)) || !p.follows(i, "in", "during", "year") {
		return part{}, no
	}
	y, end := p.bareYear(i)
	return fieldPart(y, 0, 0), end
}

// englishDate is a part, or a bare year, after a preposition.
func (p *parser) englishDate(i int) (part, int) {
	if a, end := p.dated(i); end != no {
		return a, end
	}
	y, end := p.bareYear(i)
	if end == no {
		return part{}, no
	}
	return fieldPart(y, 0, 0), end
}

// bareYear matches a number that can only be a year.
func (p *parser) bareYear(i int) (year, end int) {
	y, end := p.digits(i, 4)
	if end != i+4 || y < 1900 || y > 2099 || !p.numberEnds(end) || p.counts(end) || p.amountFollows(end) {
		return 0, no
	}
	return y, end
}

func (p *parser) fromTo(i int, between bool) (match, int) {
	a, j := p.englishDate(i)
	if j == no && isDigit(p.at(i)) {
		return p.numbersIn(i)
	}
	if j == no && between {
		if k := p.words(i, "now"); k != no {
			a, j = dayPart(p.ref), k
		}
	}
	if j == no {
		return match{}, no
	}
	if between {
		k := p.spaced(j, "and")
		if k == no {
			return match{}, no
		}
		k = p.space(k)
		b, end := p.rangeEnd(k, a)
		if end == no {
			if b, end = p.englishDate(k); end == no {
				return match{}, no
			}
		}
		return p.ranged(a, b), end
	}
	if m, end := p.rangeFrom(a, j); end != no {
		return m, end
	}
	if k := p.spaced(j, "to", "until", "till", "through"); k != no {
		k = p.space(k)
		k = p.space(opt(k, p.words(k, "the")))
		if b, end := p.englishDate(k); end != no {
			return p.ranged(a, b), end
		}
	}
	if k := p.spaced(j, "on", "onward", "onwards"); k != no {
		return p.onwards(a, 0), k
	}
	return match{}, no
}

// numbersIn parses the rest of "from 4-23 in next month" and "from 12 to 15 May".
func (p *parser) numbersIn(i int) (match, int) {
	first, j := p.ordinal(i)
	if j == no {
		return match{}, no
	}
	k := p.lit(p.space(j), "-")
	if k == no {
		k = p.spaced(j, "to", "until", "through")
	}
	if k == no {
		return match{}, no
	}
	b, end := p.dayLed(p.space(k))
	if end == no {
		return match{}, no
	}
	return p.ranged(fieldPart(0, 0, first), b), end
}

// englishSuffix parses "or later", "onwards" after a date.
func (p *parser) englishSuffix(a part, i int) (match, int) {
	j := p.space(i)
	if k := p.words(j, "or", "later"); k != no && j > i {
		return p.onwards(a, 0), k
	}
	if k := p.words(j, "or", "earlier"); k != no && j > i {
		return p.upTo(a, 0), k
	}
	if k := p.spaced(i, "onward", "onwards"); k != no {
		return p.onwards(a, 0), k
	}
	return match{}, no
}
