package timex

// inWeek parses what may follow 上周, 下星期 and the like: a day, the weekend, a half.
func (p *parser) inWeek(monday day, i int) (part, int) {
	j := opt(i, p.lit(i, "的"))
	if k := p.lit(j, "末"); k != no {
		return spanPart(span{monday + 5, monday + 6}), k
	}
	if k := p.any(j, "周末"); k != no {
		return spanPart(span{monday + 5, monday + 6}), k
	}
	j = opt(j, p.lit(j, "周"))
	if w, k := p.weekdayNumber(j); k != no {
		return dayPart(monday + day(w-1)), k
	}
	return spanPart(weekSpan(monday)), i
}

// weekdayNumber matches the number in 周三.
func (p *parser) weekdayNumber(i int) (weekday, end int) {
	if p.oneOf(i, "日天") != no {
		return 7, i + 1
	}
	var n int
	if isDigit(p.at(i)) {
		n = int(p.at(i) - '0')
	} else {
		n = hanDigit(p.at(i))
	}
	if n < 1 || n > 6 || isNumeral(p.at(i+1)) || isDigit(p.at(i+1)) || p.oneOf(i+1, "个次期年天般样") != no {
		return 0, no
	}
	return n, i + 1
}

// chineseWeekday matches 周三 and 周末 without 上 or 下: the nearest ones are meant.
func (p *parser) chineseWeekday(i int) (part, int) {
	j := p.any(i, "周", "星期", "礼拜")
	if j == no || isNumeral(p.at(i-1)) || isDigit(p.at(i-1)) || p.oneOf(i-1, "每逢隔两个") != no {
		return part{}, no
	}
	if k := p.lit(j, "末"); k != no {
		monday := p.ref.monday()
		return spanPart(span{monday + 5, monday + 6}), k
	}
	if w, k := p.weekdayNumber(j); k != no {
		return part{weekday: w}, k
	}
	return part{}, no
}

// chineseHalf matches halves without a year, and halves of this week.
func (p *parser) chineseHalf(i int) (part, int) {
	monday := p.ref.monday()
	if j := p.any(i, "上半年", "前半年"); j != no {
		return spanPart(halfSpan(p.year, false)), j
	}
	if j := p.any(i, "下半年", "后半年"); j != no {
		return spanPart(halfSpan(p.year, true)), j
	}
	if j := p.any(i, "上半周", "前半周"); j != no {
		return spanPart(span{monday, monday + 2}), j
	}
	if j := p.any(i, "下半周", "后半周"); j != no {
		return spanPart(span{monday + 3, monday + 6}), j
	}
	if q, j := p.quarter(i); j != no {
		return p.openQuarter(q), j
	}
	return part{}, no
}

// chineseUnitEdge matches 月底 and 年初 without saying which month or year: the present one.
func (p *parser) chineseUnitEdge(i int) (part, int) {
	if isNumeral(p.at(i-1)) || isDigit(p.at(i-1)) || p.at(i-1) == '个' || p.at(i-1) == '每' {
		return part{}, no
	}
	switch {
	case p.any(i, "月初", "月中", "月底", "月末") != no:
		return p.third(p.year, p.month, p.at(i+1)), i + 2
	case p.any(i, "年初") != no:
		return spanPart(halfSpan(p.year, false)), i + 2
	case p.any(i, "年底", "年末") != no:
		return spanPart(halfSpan(p.year, true)), i + 2
	}
	return part{}, no
}

// shiftedQuarter matches 上季度, 这个季度, 下个季度.
func (p *parser) shiftedQuarter(i int) (part, int) {
	shift, j := p.shifted(i, "季度", "季")
	if j == no {
		return part{}, no
	}
	return p.relativeQuarter(shift), j
}

func (p *parser) relativeQuarter(shift int) part {
	y, m := shiftMonth(p.year, (p.month-1)/3*3+1, 3*shift)
	return spanPart(quarterSpan(y, (m+2)/3))
}

// openQuarter is a quarter of a year that is not named.
func (p *parser) openQuarter(q int) part {
	spans := []span{quarterSpan(p.year, q)}
	switch this := (p.month + 2) / 3; {
	case this < q:
		spans = append(spans, quarterSpan(p.year-1, q))
	case this > q:
		spans = append(spans, quarterSpan(p.year+1, q))
	}
	p.nearestFirst(spans)
	a := spanPart(spans...)
	a.open = true
	return a
}

// quarter matches 第三季度, 三季度 and Q3.
func (p *parser) quarter(i int) (q, end int) {
	if p.at(i) == 'q' && isDigit(p.at(i+1)) && !isWord(p.at(i+2)) {
		if n := int(p.at(i+1) - '0'); n >= 1 && n <= 4 {
			return n, i + 2
		}
		return 0, no
	}
	j := opt(i, p.lit(i, "第"))
	n, j := p.small(j, 4)
	if j == no {
		return 0, no
	}
	j = opt(j, p.lit(j, "个"))
	if j = p.lit(p.space(j), "季度"); j == no {
		return 0, no
	}
	return n, j
}

// chineseDayWord matches 今天, 前天, 大后天.
func (p *parser) chineseDayWord(i int) (part, int) {
	if j := p.any(i, "大前天", "大前日"); j != no {
		return dayPart(p.ref - 3), j
	}
	if j := p.any(i, "大后天", "大后日"); j != no {
		return dayPart(p.ref + 3), j
	}
	shift := 0
	switch p.at(i) {
	case '前':
		shift = -2
	case '昨':
		shift = -1
	case '今':
	case '明':
		shift = 1
	case '后':
		shift = 2
	default:
		if j := p.any(i, "现在", "目前", "当前", "此刻"); j != no {
			return dayPart(p.ref), j
		}
		return part{}, no
	}
	j := p.oneOf(i+1, "天日")
	if j == no {
		return part{}, no
	}
	return dayPart(p.ref + day(shift)), j
}

// unit is what relative amounts count.
type unit int

const (
	days unit = iota
	weeks
	months
	quarters
	years
)

// moved returns the day n units after d.
func moved(d day, n int, u unit) day {
	switch u {
	case days:
		return d + day(n)
	case weeks:
		return d + day(7*n)
	case months:
		return d.addMonths(n)
	case quarters:
		return d.addMonths(3 * n)
	case years:
		return d.addMonths(12 * n)
	}
	return d
}

// amount matches 三天, 两个月, 半年, 一个半月.
func (p *parser) amount(i int) (n int, u unit, end int) {
	if j := p.any(i, "半年"); j != no {
		return 6, months, j
	}
	if j := p.any(i, "半个月"); j != no {
		return 15, days, j
	}
	n, j := p.number(i)
	if j == no || n < 1 {
		return 0, 0, no
	}
	j = p.space(j)
	k := opt(j, p.lit(j, "个"))
	counted := k > j
	k = p.space(k)
	switch {
	case p.any(k, "天", "日") != no && !counted:
		return n, days, k + 1
	case p.any(k, "工作日") != no:
		return 0, 0, no // Working days depend on a calendar of holidays.
	case p.lit(k, "周") != no && p.at(k+1) != '末' && p.at(k+1) != '年':
		return n, weeks, k + 1
	case p.any(k, "星期", "礼拜") != no:
		return n, weeks, k + 2
	case p.lit(k, "月") != no && counted:
		return n, months, k + 1
	case p.any(k, "季度") != no:
		return n, quarters, k + 2
	case p.lit(k, "年") != no && !counted:
		return n, years, k + 1
	}
	return 0, 0, no
}

// chineseRecent matches 最近三天, 过去两周, 未来一个月.
func (p *parser) chineseRecent(i int) (part, int) {
	type direction int
	const (
		past direction = iota
		recent
		future
	)
	way := past
	j := p.any(i, "过去的", "过去", "之前", "此前", "往前", "前")
	if j == no {
		way = recent
		j = p.any(i, "最近的", "最近这", "最近", "近")
	}
	if j == no {
		way = future
		j = p.any(i, "未来的", "未来", "接下来的", "接下来", "今后", "之后", "往后", "随后")
	}
	if j == no {
		return part{}, no
	}
	n, u, k := p.amount(p.space(j))
	if k == no {
		return part{}, no
	}
	switch way {
	case past:
		return spanPart(span{moved(p.ref, -n, u), p.ref - 1}), k
	case recent:
		return spanPart(span{moved(p.ref, -n, u) + 1, p.ref}), k
	default:
		return spanPart(span{p.ref + 1, moved(p.ref, n, u)}), k
	}
}

// chineseAgo matches 三天前, 两周以后. Years of four digits are years: 2015年前 is before 2015.
func (p *parser) chineseAgo(i int) (part, int) {
	n, u, j := p.amount(i)
	if j == no || (u == years && n >= 1000) || p.at(j-1) == '日' {
		return part{}, no
	}
	j = p.space(j)
	sign := -1
	k := p.any(j, "之前", "以前", "前")
	if k == no {
		sign = 1
		k = p.any(j, "之后", "以后", "后")
	}
	if k == no || p.oneOf(k, "天") != no {
		return part{}, no
	}
	d := moved(p.ref, sign*n, u)
	if d < firstDay || d > lastDay {
		return nowhere(), k
	}
	return dayPart(d), k
}

// chineseMonth matches 5月, 五月份, and what may follow.
func (p *parser) chineseMonth(i int) (part, int) {
	m, j := p.small(i, 12)
	if j == no {
		return part{}, no
	}
	j = p.lit(p.space(j), "月")
	if j == no || p.at(i-1) == '年' || p.oneOf(j, "龄饼球亮") != no {
		return part{}, no
	}
	return p.inMonth(0, m, opt(j, p.lit(j, "份")))
}

// chineseDay matches 12号 and 十二日; a number of a house, a line or a file is none.
func (p *parser) chineseDay(i int) (part, int) {
	d, j := p.small(i, 31)
	if j == no {
		return part{}, no
	}
	j = p.space(j)
	switch p.at(j) {
	case '日':
		if p.oneOf(j+1, "元游本语内") != no {
			return part{}, no
		}
	case '号':
		if p.oneOf(j+1, "楼线门房机院码店馆仓厅桌车位区厂铺台窗文标球柜库站牌座令") != no {
			return part{}, no
		}
	default:
		return part{}, no
	}
	if gap := i - p.beforeEnd; gap == 1 && p.before.month != 0 && p.oneOf(i-1, "、,和及与") != no {
		return fieldPart(p.before.year, p.before.month, d), j + 1
	}
	return fieldPart(0, 0, d), j + 1
}
