package timex

// weekdayLed parses Friday, Friday May 12, Monday the 24th, Friday 7.6.
func (p *parser) weekdayLed(i int) (part, int) {
	w, j := p.weekdayName(i)
	if j == no {
		return part{}, no
	}
	k := p.space(j)
	k = opt(k, p.oneOf(k, ",."))
	k = p.space(k)
	if k > j {
		for _, parse := range []func(int) (part, int){p.monthLed, p.dayLed, p.numericPart, p.dotted} {
			if a, end := parse(k); end != no && a.isDay() {
				return p.onWeekday(a, w), end
			}
		}
		t := p.words(k, "the")
		if t != no {
			k = p.space(t)
		}
		if d, end := p.ordinal(k); end != no && p.numberEnds(end) && !p.counts(end) && !p.clockFollows(end) {
			return p.weekdayAndDay(w, d), end
		}
	}
	of := p.space(opt(j, p.spaced(j, "of")))
	of = p.space(opt(of, p.words(of, "the")))
	if shift, t := p.shiftWord(of); t != no { // "Monday of next week"
		if end := p.spaced(t, "week"); end != no {
			return dayPart(p.ref.monday() + day(7*shift+w-1)), end
		}
	}
	name := string(p.runes[i:j])
	if len(name) == 3 && !p.follows(i, "on", "last", "next", "this", "from", "until", "till", "by", "before", "after",
		"since", "to", "through", "and", "or", "between") {
		return part{}, no // "sat" and "sun" are words of their own.
	}
	return part{weekday: w}, j
}

func (p *parser) clockFollows(i int) bool {
	w, end := p.word(p.space(i))
	return end != no && (w == "oclock" || w == "o" || w == "am" || w == "pm" || w == "a" || w == "p")
}

// weekdayAndDay finds the last and the next day of a month that fall on the day of the week.
func (p *parser) weekdayAndDay(weekday, d int) part {
	const farthest = 60 // Months; each day of the month meets each day of the week well within.
	find := func(step int) (day, bool) {
		y, m := p.year, p.month
		for range farthest {
			if validDate(y, m, d) {
				c := civil(y, m, d)
				if c.weekday() == weekday && ((step < 0 && c <= p.ref) || (step > 0 && c > p.ref)) {
					return c, true
				}
			}
			y, m = shiftMonth(y, m, step)
		}
		return 0, false
	}
	var spans []span
	for _, step := range []int{-1, 1} {
		if c, ok := find(step); ok {
			spans = append(spans, span{c, c})
		}
	}
	p.nearestFirst(spans)
	a := spanPart(spans...)
	a.oneDay, a.open = true, true
	return a
}
