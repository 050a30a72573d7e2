package timex

// hanDigit returns the value of a Chinese digit, or -1.
func hanDigit(r rune) int {
	switch r {
	case '零':
		return 0
	case '一':
		return 1
	case '二', '两':
		return 2
	case '三':
		return 3
	case '四':
		return 4
	case '五':
		return 5
	case '六':
		return 6
	case '七':
		return 7
	case '八':
		return 8
	case '九':
		return 9
	}
	return -1
}

func isNumeral(r rune) bool {
	switch r {
	case '十', '百', '千', '万', '廿', '卅':
		return true
	}
	return hanDigit(r) >= 0
}

// digits reads a run of at most longest digits; a longer run is not a date's.
func (p *parser) digits(i, longest int) (value, end int) {
	end = i
	for isDigit(p.at(end)) {
		if end-i >= longest {
			return 0, no
		}
		value = value*10 + int(p.at(end)-'0')
		end++
	}
	if end == i {
		return 0, no
	}
	return value, end
}

// numeral reads Chinese numerals: positional ones ("二十一", "一百零五") or, with two characters and more, digit by
// digit ("二零二四").
func (p *parser) numeral(i int) (value, end int) {
	const longest = 8
	for end = i; isNumeral(p.at(end)); end++ {
		if end-i >= longest {
			return 0, no
		}
	}
	if end == i {
		return 0, no
	}
	run := p.runes[i:end]
	if v, ok := digitwise(run); ok {
		return v, end
	}
	if v, ok := positional(run); ok {
		return v, end
	}
	return 0, no
}

func digitwise(run []rune) (int, bool) {
	value := 0
	for _, r := range run {
		d := hanDigit(r)
		if d < 0 || (r == '两' && len(run) > 1) {
			return 0, false
		}
		value = value*10 + d
	}
	return value, true
}

// positional reads numbers below a hundred million; ok is false for what is no number ("十百").
func positional(run []rune) (value int, ok bool) {
	section, digit, unit := 0, -1, 1<<30
	for _, r := range run {
		var next int
		switch r {
		case '十':
			next = 10
		case '百':
			next = 100
		case '千':
			next = 1000
		case '万':
			value, section, digit, unit = (value+section+max(digit, 0))*10000, 0, -1, 1<<30
			continue
		case '廿', '卅':
			if digit > 0 {
				return 0, false
			}
			section, digit, unit = section+20, -1, 10
			if r == '卅' {
				section += 10
			}
			continue
		case '零':
			if digit > 0 {
				return 0, false
			}
			continue
		default:
			if digit > 0 {
				return 0, false
			}
			digit = hanDigit(r)
			continue
		}
		if next >= unit {
			return 0, false
		}
		if digit < 0 {
			digit = 1 // "十二" is 12.
		}
		section, digit, unit = section+digit*next, -1, next
	}
	return value + section + max(digit, 0), true
}

// number reads up to four digits, or Chinese numerals.
func (p *parser) number(i int) (value, end int) {
	if isDigit(p.at(i)) {
		return p.digits(i, 4)
	}
	return p.numeral(i)
}

// small reads a number from 1 to highest, for days and months.
func (p *parser) small(i, highest int) (value, end int) {
	if isDigit(p.at(i)) {
		value, end = p.digits(i, 2)
	} else {
		value, end = p.numeral(i)
	}
	if end == no || value < 1 || value > highest {
		return 0, no
	}
	return value, end
}

// writtenYear reads the number of a year: four digits, four numerals, or two of either if short ones are allowed. The
// year must be followed by something that says so; that is the caller's check.
func (p *parser) writtenYear(i int, short bool) (year, end int) {
	if isDigit(p.at(i)) {
		year, end = p.digits(i, 4)
	} else {
		for end = i; hanDigit(p.at(end)) >= 0 && end-i < 5; end++ {
			year = year*10 + hanDigit(p.at(end))
		}
		if isNumeral(p.at(end)) {
			return 0, no // "二十年" counts years.
		}
	}
	if end == no {
		return 0, no
	}
	switch end - i {
	case 4:
		if year >= 1000 {
			return year, end
		}
	case 2:
		if short {
			return p.fullYear(year), end
		}
	}
	return 0, no
}

// fullYear takes a two-digit year to be of this century unless that is more than twenty years ahead.
func (p *parser) fullYear(short int) int {
	year := p.year/100*100 + short
	if year > p.year+20 {
		year -= 100
	}
	return year
}
