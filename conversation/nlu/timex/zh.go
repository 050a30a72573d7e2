package timex

// chinesePart parses one Chinese date, or one whole unit such as a month, that begins at i.
func (p *parser) chinesePart(i int) (part, int) {
	if j := p.any(i, "农历", "阴历", "旧历"); j != no {
		return p.lunar(j)
	}
	if y, j := p.chineseYear(i); j != no {
		return p.inYear(y, j)
	}
	if shift, j := p.shifted(i, "月"); j != no {
		y, m := shiftMonth(p.year, p.month, shift)
		return p.inMonth(y, m, opt(j, p.lit(j, "份")))
	}
	if shift, j := p.shifted(i, "周", "星期", "礼拜"); j != no {
		return p.inWeek(p.ref.monday()+day(7*shift), j)
	}
	for _, parse := range []func(int) (part, int){
		p.shiftedQuarter, p.chineseDayWord, p.chineseRecent, p.chineseAgo, p.chineseMonth, p.chineseDay,
		p.chineseWeekday, p.chineseUnitEdge, p.chineseHalf,
	} {
		if a, end := parse(i); end != no {
			return a, end
		}
	}
	return part{}, no
}

// lunar swallows a date of the lunar calendar: its day is not the one of that number.
func (p *parser) lunar(i int) (part, int) {
	_, end := p.chineseMonth(i)
	if y, j := p.chineseYear(i); j != no {
		_, end = p.inYear(y, j)
	}
	if end == no {
		return part{}, no
	}
	if j := p.lunarDay(end); j != no {
		end = j
	}
	return nowhere(), end
}

// lunarDay matches "初一": only the lunar calendar counts days so.
func (p *parser) lunarDay(i int) int {
	j := p.lit(i, "初")
	if j == no || !isNumeral(p.at(j)) {
		return no
	}
	_, end := p.numeral(j)
	return end
}

// shifted matches 上/下/这/本 and a unit, and returns how many units away it is: 上上个月 is -2.
func (p *parser) shifted(i int, units ...string) (shift, end int) {
	j := i
	switch p.at(i) {
	case '上', '下':
		step := 1
		if p.at(i) == '上' {
			step = -1
		}
		const farthest = 4
		for p.at(j) == p.at(i) && j-i < farthest {
			shift += step
			j++
		}
	case '这', '本', '当':
		j++
	default:
		return 0, no
	}
	j = opt(j, p.lit(j, "一"))
	j = opt(j, p.lit(j, "个"))
	end = p.any(j, units...)
	if end == no || (p.at(end) == '份' && units[0] != "月") {
		return 0, no
	}
	return shift, end
}

// chineseYear matches a year by number or by name, with 年.
func (p *parser) chineseYear(i int) (year, end int) {
	names := []struct {
		name  string
		shift int
	}{
		{"大前年", -3}, {"前年", -2}, {"去年", -1}, {"上年", -1}, {"今年", 0}, {"本年", 0}, {"明年", 1}, {"后年", 2},
	}
	for _, n := range names {
		if j := p.lit(i, n.name); j != no {
			return p.year + n.shift, opt(j, p.lit(j, "度"))
		}
	}
	if shift, j := p.shifted(i, "年"); j != no && p.at(i) != '当' {
		return p.year + shift, opt(j, p.lit(j, "度"))
	}
	if j := p.lit(i, "民国"); j != no {
		if n, k := p.number(j); k != no && n > 0 && n < 200 && p.at(k) == '年' {
			return 1911 + n, k + 1
		}
		return 0, no
	}
	y, j := p.writtenYear(i, true)
	if j == no {
		return 0, no
	}
	short := j-i == 2
	k := p.lit(p.space(j), "年")
	if k == no || p.oneOf(k, "代级龄") != no {
		return 0, no
	}
	// "18年" alone may be a time of eighteen years; with a zero or a month it is a year.
	if short && p.at(i) != '0' && p.at(i) != '零' && !p.monthFollows(k) {
		return 0, no
	}
	return y, opt(k, p.lit(k, "度"))
}

func (p *parser) monthFollows(i int) bool {
	_, j := p.small(p.space(i), 12)
	return j != no && p.at(p.space(j)) == '月'
}

// inYear parses what may follow a year.
func (p *parser) inYear(y, i int) (part, int) {
	j := p.space(i)
	j = opt(j, p.oneOf(j, "的里"))
	j = p.space(j)
	if k := p.any(j, "上半年", "前半年"); k != no {
		return spanPart(halfSpan(y, false)), k
	}
	if k := p.any(j, "下半年", "后半年"); k != no {
		return spanPart(halfSpan(y, true)), k
	}
	if q, k := p.quarter(j); k != no {
		return spanPart(quarterSpan(y, q)), k
	}
	if s, k := p.ordinalIn(yearSpan(y), j); k != no {
		return spanPart(s), k
	}
	if m, k := p.small(j, 12); k != no {
		if end := p.lit(p.space(k), "月"); end != no {
			return p.inMonth(y, m, opt(end, p.lit(end, "份")))
		}
	}
	edge := opt(i, p.lit(i, "年"))
	if k := p.oneOf(edge, "初"); k != no && !isNumeral(p.at(k)) {
		return spanPart(halfSpan(y, false)), k
	}
	if k := p.oneOf(edge, "底末"); k != no {
		return spanPart(halfSpan(y, true)), k
	}
	return fieldPart(y, 0, 0), i
}

// inMonth parses what may follow a month; y is 0 where the text does not name it.
func (p *parser) inMonth(y, m, i int) (part, int) {
	if k := p.lunarDay(i); k != no {
		return nowhere(), k
	}
	j := p.space(i)
	j = opt(j, p.lit(j, "的"))
	j = p.space(j)
	if d, k := p.dayNumber(j); k != no {
		return fieldPart(y, m, d), k
	}
	if n, k := p.number(j); k != no && (n == 0 || n > 31) {
		if k = p.oneOf(p.space(k), "日号"); k != no {
			return nowhere(), k // "5月32日"
		}
	}
	if k := p.any(j, "上旬", "中旬", "下旬"); k != no {
		return p.third(y, m, p.at(j)), k
	}
	edge := opt(i, p.lit(i, "月"))
	if k := p.oneOf(edge, "初中底末"); k != no && p.at(k) != '旬' {
		return p.third(y, m, p.at(edge)), k
	}
	if k := p.any(j, "上半月", "下半月"); k != no {
		return p.inEachYear(y, m, func(s span) span {
			if p.at(j) == '上' {
				return span{s.from, s.from + 14}
			}
			return span{s.from + 15, s.to}
		}), k
	}
	if _, k := p.ordinalIn(monthSpan(2000, m), j); k != no {
		return p.inEachYear(y, m, func(s span) span {
			inner, _ := p.ordinalIn(s, j)
			return inner
		}), k
	}
	return fieldPart(y, m, 0), i
}

// third is a part of a month of ten days, or what is left of it.
func (p *parser) third(y, m int, which rune) part {
	return p.inEachYear(y, m, func(s span) span {
		switch which {
		case '上', '初':
			return span{s.from, s.from + 9}
		case '中':
			return span{s.from + 10, s.from + 19}
		default:
			return span{s.from + 20, s.to}
		}
	})
}

// inEachYear applies cut to the month in each year that may be meant.
func (p *parser) inEachYear(y, m int, cut func(span) span) part {
	months := p.around(fields{year: y, month: m})
	spans := make([]span, 0, len(months))
	for _, s := range months {
		spans = append(spans, cut(s))
	}
	a := spanPart(spans...)
	a.open = y == 0
	return a
}

// dayNumber matches the day after a month: "12日", "十二号", or a bare "12" that counts nothing.
func (p *parser) dayNumber(i int) (d, end int) {
	d, j := p.small(i, 31)
	if j == no {
		return 0, no
	}
	if k := p.oneOf(p.space(j), "日号"); k != no {
		return d, k
	}
	if p.counts(j) {
		return 0, no
	}
	return d, j
}

// counts reports whether what follows a bare number makes it something else than a day.
func (p *parser) counts(i int) bool {
	return isWord(p.at(i)) || isNumeral(p.at(i)) ||
		p.oneOf(p.space(i), "个天元块角分万亿千百点时秒%张份位名人次周年月岁里米斤吨台件套间折倍度") != no ||
		(p.oneOf(i, ".:,") != no && isDigit(p.at(i+1)))
}

// ordinalIn matches a piece of a longer span: 第一周, 第三个月, 前2周, 最后4个月, 最后一周.
func (p *parser) ordinalIn(whole span, i int) (span, int) {
	type piece int
	const (
		nth piece = iota
		first
		last
	)
	kind, j := nth, p.lit(i, "第")
	if j == no {
		if j = p.any(i, "最后", "最末", "后"); j != no {
			kind = last
		} else if j = p.any(i, "前", "头"); j != no {
			kind = first
		} else {
			return span{}, no
		}
	}
	n, k := p.number(p.space(j))
	if k == no || n < 1 || n > 366 {
		return span{}, no
	}
	k = p.space(k)
	k = opt(k, p.lit(k, "个"))
	var s span
	switch end := p.any(k, "周", "星期", "礼拜", "月", "天"); {
	case end == no:
		return span{}, no
	case p.at(k) == '月':
		y, m, _ := whole.from.date()
		ly, lm, _ := whole.to.date()
		switch kind {
		case nth:
			y, m = shiftMonth(y, m, n-1)
			s = monthSpan(y, m)
		case first:
			ly, lm = shiftMonth(y, m, n-1)
			s = span{whole.from, monthSpan(ly, lm).to}
		case last:
			y, m = shiftMonth(ly, lm, 1-n)
			s = span{civil(y, m, 1), whole.to}
		}
		k = end
	case p.at(k) == '天':
		switch kind {
		case nth:
			s = span{whole.from + day(n-1), whole.from + day(n-1)}
		case first:
			s = span{whole.from, whole.from + day(n-1)}
		case last:
			s = span{whole.to - day(n-1), whole.to}
		}
		k = end
	default:
		begin, final := firstWeek(whole.from), lastWeek(whole.to)
		switch kind {
		case nth:
			s = weekSpan(begin + day(7*(n-1)))
		case first:
			s = span{begin, begin + day(7*n-1)}
		case last:
			s = span{final - day(7*(n-1)), final + 6}
		}
		k = end
	}
	const slack = 6 // A week may reach beyond its month.
	if s.from < whole.from-slack || s.to > whole.to+slack {
		return span{}, no
	}
	return s, k
}
