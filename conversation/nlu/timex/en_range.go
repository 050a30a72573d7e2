package timex

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
