package timex

// ordinal matches 12, 12th, twelfth, twenty second, thirty-first as a day of a month.
func (p *parser) ordinal(i int) (n, end int) {
	if isDigit(p.at(i)) {
		n, end = p.digits(i, 2)
		if end == no || n < 1 || n > 31 {
			return 0, no
		}
		if k := p.any(end, "st", "nd", "rd", "th"); k != no && !isWord(p.at(k)) {
			return n, k
		}
		return n, end
	}
	w, j := p.word(i)
	if j == no {
		return 0, no
	}
	if v := ordinalWord(w); v > 0 {
		return v, j
	}
	var tens int
	switch w {
	case "twenty":
		tens = 20
	case "thirty":
		tens = 30
	default:
		return 0, no
	}
	k := p.space(opt(j, p.lit(j, "-")))
	w, end = p.word(k)
	if end == no {
		return 0, no
	}
	if v := ordinalWord(w); v > 0 && v < 10 && tens+v <= 31 {
		return tens + v, end
	}
	return 0, no
}

func ordinalWord(w string) int {
	switch w {
	case "first":
		return 1
	case "second":
		return 2
	case "third":
		return 3
	case "fourth":
		return 4
	case "fifth":
		return 5
	case "sixth":
		return 6
	case "seventh":
		return 7
	case "eighth":
		return 8
	case "ninth":
		return 9
	case "tenth":
		return 10
	case "eleventh":
		return 11
	case "twelfth":
		return 12
	case "thirteenth":
		return 13
	case "fourteenth":
		return 14
	case "fifteenth":
		return 15
	case "sixteenth":
		return 16
	case "seventeenth":
		return 17
	case "eighteenth":
		return 18
	case "nineteenth":
		return 19
	case "twentieth":
		return 20
	case "thirtieth":
		return 30
	}
	return 0
}
