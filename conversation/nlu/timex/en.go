package timex

import "slices"

// monthName matches the name of a month or its abbreviation.
func (p *parser) monthName(i int) (month, end int) {
	w, end := p.word(i)
	if end == no {
		return 0, no
	}
	switch w {
	case "january", "jan":
		month = 1
	case "february", "feb":
		month = 2
	case "march", "mar":
		month = 3
	case "april", "apr":
		month = 4
	case "may":
		month = 5
	case "june", "jun":
		month = 6
	case "july", "jul":
		month = 7
	case "august", "aug":
		month = 8
	case "september", "sept", "sep":
		month = 9
	case "october", "oct":
		month = 10
	case "november", "nov":
		month = 11
	case "december", "dec":
		month = 12
	default:
		return 0, no
	}
	if len(w) <= 4 && p.at(end) == '.' && !isWord(p.at(end+1)) { // "Sept."
		if _, j := p.small(p.space(end+1), 31); j != no {
			return month, end + 1
		}
	}
	return month, end
}

// weekdayName matches the name of a day of the week or its abbreviation.
func (p *parser) weekdayName(i int) (weekday, end int) {
	w, end := p.word(i)
	if end == no {
		return 0, no
	}
	switch w {
	case "monday", "mon":
		return 1, end
	case "tuesday", "tues", "tue":
		return 2, end
	case "wednesday", "weds", "wed":
		return 3, end
	case "thursday", "thurs", "thur", "thu":
		return 4, end
	case "friday", "fri":
		return 5, end
	case "saturday", "sat":
		return 6, end
	case "sunday", "sun":
		return 7, end
	}
	return 0, no
}

// englishPart parses one English date, or one whole unit, that begins at i.
func (p *parser) englishPart(i int) (part, int) {
	c := p.at(i)
	if !(c >= 'a' && c <= 'z') && !isDigit(c) {
		return part{}, no
	}
	for _, parse := range []func(int) (part, int){
		p.englishDayWord, p.englishRelative, p.englishAmount, p.monthLed, p.dayLed, p.weekdayLed,
		p.englishQuarter, p.englishWeek, p.englishEdge, p.yearAfterIn,
	} {
		if a, end := parse(i); end != no {
			return a, end
		}
	}
	if j := p.words(i, "the"); j != no {
		if k := p.space(j); k > j {
			if a, end := p.dayLed(k); end != no {
				return a, end
			}
			return p.theNth(k)
		}
	}
	return part{}, no
}

// yearAfter matches ", 2024", " of 2024", " 2024", "-2024" after a month or a day.
func (p *parser) yearAfter(i int) (year, end int) {
	j := p.space(i)
	if k := p.oneOf(j, ",-/."); k != no {
		j = p.space(k)
	} else if k := p.words(j, "of"); k != no && j > i {
		j = p.space(k)
	}
	if j == i {
		return 0, no
	}
	y, end := p.digits(j, 4)
	if end != j+4 || y < 1000 || !p.numberEnds(end) || p.counts(end) {
		return 0, no
	}
	return y, end
}

// monthLed parses May, May 12, May 12th, 2024, Sep-23-2020, Oct/2, May 2024, february twenty second.
func (p *parser) monthLed(i int) (part, int) {
	m, j := p.monthName(i)
	if j == no {
		return part{}, no
	}
	k := p.space(j)
	k = opt(k, p.oneOf(k, "-/,"))
	k = p.space(k)
	if t := p.words(k, "the"); t != no && k > j {
		k = p.space(t)
	}
	if d, end := p.ordinal(k); end != no && k > j && p.numberEnds(end) && !p.amountFollows(end) {
		if y, last := p.yearAfter(end); last != no {
			return fieldPart(y, m, d), last
		}
		return fieldPart(0, m, d), end
	}
	if y, end := p.yearAfter(j); end != no {
		return fieldPart(y, m, 0), end
	}
	if !p.monthStands(i, j) {
		return part{}, no
	}
	return fieldPart(0, m, 0), j
}

// monthStands reports whether a bare name of a month is one: "may" and "march" are verbs, "mar" and "jan" are names.
func (p *parser) monthStands(i, end int) bool {
	w := string(p.runes[i:end])
	if w != "may" && w != "march" && w != "mar" && w != "jan" && w != "jun" && w != "dec" && w != "sep" {
		return true
	}
	return p.follows(i, "in", "of", "for", "since", "before", "after", "during", "until", "till", "by", "last", "next",
		"this", "early", "mid", "late", "from", "through", "between", "to", "and") ||
		p.at(p.space(end)) == '-' || p.monthsUntil(end)
}

// monthsUntil reports whether a range to another month goes on: "May through July".
func (p *parser) monthsUntil(i int) bool {
	j := p.spaced(i, "to", "through", "thru", "until", "till")
	if j == no {
		return false
	}
	_, end := p.monthName(p.space(j))
	return end != no
}

// follows reports whether one of the words stands before i.
func (p *parser) follows(i int, words ...string) bool {
	const longest = 12
	j := i
	for j > 0 && p.at(j-1) == ' ' && i-j < 3 {
		j--
	}
	if j == i {
		return p.at(i-1) == '-'
	}
	begin := j
	for begin > 0 && j-begin < longest && isLetter(p.at(begin-1)) {
		begin--
	}
	before := string(p.runes[begin:j])
	return slices.Contains(words, before)
}

// amountFollows reports whether a number counts hours, people or money: "May 3 people".
func (p *parser) amountFollows(i int) bool {
	j := p.space(i)
	w, end := p.word(j)
	if end == no {
		return p.oneOf(j, "%元块¥￥$€£") != no && j == i
	}
	switch w {
	case "am", "pm", "hours", "hour", "minutes", "days", "day", "weeks", "week", "months", "month", "years", "people",
		"items", "dollars", "usd", "rmb", "yuan", "percent", "k":
		return true
	}
	return false
}

// dayLed parses 12 May, 12th of May 2024, 4-23 in next month, 5th of last month, twenty second of May.
func (p *parser) dayLed(i int) (part, int) {
	d, j := p.ordinal(i)
	if j == no {
		return part{}, no
	}
	k := p.space(j)
	if t := p.oneOf(k, "-/"); t != no { // "23-Sep-2020"
		k = t
	}
	if t := p.words(k, "day"); t != no && k > j {
		k = p.space(t)
	}
	of := p.words(k, "of")
	if of == no {
		of = p.words(k, "in")
	}
	if of != no && k > j {
		k = p.space(of)
	}
	if m, end := p.monthName(k); end != no {
		if y, last := p.yearAfter(end); last != no {
			return fieldPart(y, m, d), last
		}
		return fieldPart(0, m, d), end
	}
	if of != no {
		if y, m, end := p.namedMonth(k); end != no {
			return fieldPart(y, m, d), end
		}
	}
	return part{}, no
}

// namedMonth matches "last month", "the month", "next month".
func (p *parser) namedMonth(i int) (year, month, end int) {
	if j := p.words(i, "the", "month"); j != no {
		return p.year, p.month, j
	}
	j := i
	if t := p.words(i, "the"); t != no {
		j = p.space(t)
	}
	shift, k := p.shiftWord(j)
	if k == no {
		return 0, 0, no
	}
	end = p.words(p.space(k), "month")
	if end == no {
		return 0, 0, no
	}
	year, month = shiftMonth(p.year, p.month, shift)
	return year, month, end
}

// theNth parses "the 4th": it needs the ordinal, "the 4" may count anything.
func (p *parser) theNth(i int) (part, int) {
	d, end := p.ordinal(i)
	if end == no || isDigit(p.at(end-1)) || p.amountFollows(end) {
		return part{}, no
	}
	if !isDigit(p.at(i)) {
		return part{}, no // An ordinal that is written out is rarely a day: "the first one".
	}
	switch w, _ := p.word(p.space(end)); w {
	case "floor", "item", "time", "one", "quarter", "street", "avenue", "place", "page", "row":
		return part{}, no
	}
	return fieldPart(0, 0, d), end
}
