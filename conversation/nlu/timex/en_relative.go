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
