package nlu

// spelled reads an English number in words at i, "three pieces", "eight thousand two hundred forty yuan", or passes
// over the word there.
func (m *message) spelled(i int, nouns *phrases) (f figure, end int, ok bool) {
	if after := m.currencyCode(i); after > i {
		return f, after, false
	}
	value, section := int64(0), int64(0)
	found := false
	end = i
	for at := i; at < len(m.text); {
		wordEnd := at
		for wordEnd < len(m.text) && isAlphanumeric(m.text[wordEnd]) {
			wordEnd++
		}
		if wordEnd == at {
			break
		}
		word := string(m.text[at:min(wordEnd, at+12)])
		n, unit := englishNumber(word)
		switch {
		case n >= 0 && section%100 == 0, n > 0 && n < 10 && section%100 >= 20 && section%10 == 0:
			section += n
			found = true
		case unit == 100 && found && section > 0 && section < 100:
			section *= 100
		case unit >= 1000 && found && section > 0:
			value += section * unit
			section = 0
		case word == "and" && found:
		default:
			if !found {
				return f, wordEnd, false
			}
			wordEnd = at
		}
		if wordEnd == at || value > maxCents/100 {
			break
		}
		if word != "and" {
			end = wordEnd
		}
		at = wordEnd
		if at < len(m.text) && (m.text[at] == ' ' || m.text[at] == '-') {
			at++
		}
	}
	if !found {
		return f, max(end, i+1), false
	}
	f, fine := m.qualify(i, end, (value+section)*100, nouns)
	return f, max(f.end, i+1), fine && f.kind != figureBare && !m.endsAt(negate, f.start, 0)
}

// currencyCode passes over the letters of "rmb8240", so that the number is seen.
func (m *message) currencyCode(i int) int {
	end := i
	for end < len(m.text) && end-i < 4 && isAlphanumeric(m.text[end]) && !isASCIIDigit(m.text[end]) {
		end++
	}
	if end < len(m.text) && isASCIIDigit(m.text[end]) && m.currencyBefore(end) == i {
		return end
	}
	return i
}

// englishNumber returns the value of a word below one hundred, or -1, and that of a unit, or 0.
func englishNumber(word string) (value, unit int64) {
	small := []string{
		"zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
		"thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen",
	}
	for i, w := range small {
		if w == word {
			return int64(i), 0
		}
	}
	tens := []string{"twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"}
	for i, w := range tens {
		if w == word {
			return int64(i+2) * 10, 0
		}
	}
	switch word {
	case "hundred":
		return -1, 100
	case "thousand":
		return -1, 1000
	case "million":
		return -1, 1_000_000
	}
	return -1, 0
}
