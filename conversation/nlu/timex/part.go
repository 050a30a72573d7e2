package timex

// fields is a day, month or year of which some numbers may be left out (zero).
type fields struct{ year, month, day int }

// span returns the days that fields with a year stand for.
func (f fields) span() (span, bool) {
	var s span
	switch {
	case f.month == 0 && f.day == 0:
		s = yearSpan(f.year)
	case f.day == 0:
		s = monthSpan(f.year, f.month)
	case !validDate(f.year, f.month, f.day):
		return span{}, false
	default:
		d := civil(f.year, f.month, f.day)
		s = span{d, d}
	}
	return s, s.valid()
}

// part is one end of a range, or an expression by itself.
type part struct {
	// alternatives are readings of the numbers that are written; most expressions have one.
	alternatives []fields
	weekday      int // 1–7 for a bare day of the week.
	spans        []span
	oneDay       bool // Whether spans are single days.
	// open is set if spans differ only in what the text leaves out.
	open bool
}

func dayPart(d day) part {
	y, m, dd := d.date()
	return part{alternatives: []fields{{y, m, dd}}}
}

func fieldPart(y, m, d int) part { return part{alternatives: []fields{{y, m, d}}} }

func spanPart(spans ...span) part {
	valid := make([]span, 0, len(spans))
	for _, s := range spans {
		if s.valid() {
			valid = append(valid, s)
		}
	}
	return part{spans: valid}
}

// nowhere is a part that is recognised but has no day in the calendar.
func nowhere() part { return part{oneDay: true} }

func (a part) isDay() bool {
	if len(a.alternatives) > 0 {
		return a.alternatives[0].day != 0
	}
	return a.weekday != 0 || a.oneDay
}

// yearless is a part whose meaning moves with the reference day because it leaves out its year.
func (a part) yearless() bool {
	return a.weekday != 0 || (len(a.alternatives) > 0 && a.alternatives[0].year == 0) || a.open
}

// resolve returns the readings of a part; open is set if they differ only in what is left out.
func (p *parser) resolve(a part) (spans []span, open bool) {
	switch {
	case a.weekday != 0:
		past := p.ref - day((p.ref.weekday()-a.weekday+7)%7)
		spans = append(spans, span{past, past})
		if past != p.ref {
			spans = append(spans, span{past + 7, past + 7})
		}
		p.nearestFirst(spans)
	case a.spans != nil:
		spans = a.spans
	default:
		for _, f := range a.alternatives {
			spans = append(spans, p.around(f)...)
		}
	}
	return unique(spans), a.yearless() && len(a.alternatives) <= 1
}

// around returns the day, month or year itself if it has a year, else the last one up to the reference day and the
// next one after it; only one if the reference day is in it.
func (p *parser) around(f fields) []span {
	if f.year != 0 {
		if s, ok := f.span(); ok {
			return []span{s}
		}
		return nil
	}
	var spans []span
	past, ok := p.seek(f, p.ref, -1)
	if ok {
		spans = append(spans, past)
		if past.contains(p.ref) {
			return spans
		}
	}
	if future, ok := p.seek(f, p.ref+1, 1); ok {
		spans = append(spans, future)
	}
	p.nearestFirst(spans)
	return spans
}

// seek finds the span of fields without a year that begins nearest to limit: at or after it (step 1), or at or before
// it (step -1).
func (p *parser) seek(f fields, limit day, step int) (span, bool) {
	y, m, _ := limit.date()
	const leapGap = 8 // Years between two 29ths of February around 1900.
	for range 12*leapGap + 2 {
		candidate := fields{y, m, f.day}
		if f.month == 0 || m == f.month {
			s, ok := candidate.span()
			if ok && ((step > 0 && s.from >= limit) || (step < 0 && s.from <= limit)) {
				return s, true
			}
		}
		y, m = shiftMonth(y, m, step)
		if y < minYear || y > maxYear {
			break
		}
	}
	return span{}, false
}

// join returns the ranges from a to b. What one end leaves out it takes from the other: "5月12日到15日" ends in May,
// "5/1–5/7, 2020" begins in 2020.
func (p *parser) join(a, b part) []span {
	var spans []span
	open := a.yearless() && b.yearless()
	if len(a.alternatives) > 0 && len(b.alternatives) > 0 {
		aligned := len(a.alternatives) == len(b.alternatives)
		for i, fa := range a.alternatives {
			for j, fb := range b.alternatives {
				if !aligned || i == j { // Both ends are written in the same order of day and month.
					spans = append(spans, p.joinFields(fa, fb)...)
				}
			}
		}
		return p.settle(spans, open && len(a.alternatives) == 1)
	}
	starts, _ := p.resolve(a)
	for _, s := range starts {
		for _, end := range p.lastDays(b, s) {
			spans = append(spans, span{s.from, end})
		}
	}
	return p.settle(spans, open)
}

// lastDays returns where a range that begins with start may end.
func (p *parser) lastDays(b part, start span) []day {
	switch {
	case b.weekday != 0:
		first := start.from + day((b.weekday-start.from.weekday()+7)%7)
		return []day{first}
	case len(b.alternatives) > 0:
		var ends []day
		for _, f := range b.alternatives {
			if f.year != 0 {
				if s, ok := f.span(); ok {
					ends = append(ends, s.to)
				}
			} else if s, ok := p.seek(f, start.from, 1); ok {
				ends = append(ends, s.to)
			}
		}
		return ends
	default:
		ends := make([]day, 0, len(b.spans))
		for _, s := range b.spans {
			ends = append(ends, s.to)
		}
		return ends
	}
}

func (p *parser) joinFields(a, b fields) []span {
	if a.month == 0 && a.day != 0 && b.month != 0 {
		a.month = b.month // "12–15 May"
	}
	if b.month == 0 && b.day != 0 { // "May 12–15, 2024"; a lower number does not silently mean the next month.
		b.month = a.month
		if b.year == 0 && a.day != 0 && a.month != 0 && b.day < a.day {
			return nil
		}
	}
	if a.year == 0 && b.year != 0 {
		a.year = b.year
		if a.month > b.month && b.month != 0 {
			a.year-- // "Dec 28 – Jan 3, 2024"
		}
	}
	var spans []span
	for _, start := range p.around(a) {
		end, ok := b.span()
		if b.year == 0 {
			from := start.from
			if b.day == 0 && a.day != 0 { // A month as the end of a range may be the one of its first day.
				y, m, _ := from.date()
				from = civil(y, m, 1)
			}
			end, ok = p.seek(b, from, 1)
		}
		if ok && end.to >= start.from {
			spans = append(spans, span{start.from, end.to})
		}
	}
	return spans
}

// settle orders and cleans the readings of a range. One that the reference day is in is the one that is meant.
func (p *parser) settle(spans []span, open bool) []span {
	kept := make([]span, 0, len(spans))
	for _, s := range spans {
		if s.valid() {
			kept = append(kept, s)
		}
	}
	if open {
		for _, s := range kept {
			if s.contains(p.ref) {
				return []span{s}
			}
		}
		p.nearestFirst(kept)
	}
	return unique(kept)
}

func unique(spans []span) []span {
	var kept []span
	for _, s := range spans {
		seen := false
		for _, k := range kept {
			seen = seen || k == s
		}
		if !seen && s.valid() {
			kept = append(kept, s)
		}
	}
	return kept
}
