package timex

import (
	"time"
	"unicode"
	"unicode/utf8"
)

// no is the end of what does not match.
const no = -1

// parser reads one text. Its methods take the index of a rune and return the index after what they matched, or no.
type parser struct {
	runes        []rune // Folded: half-width, lower-case, simplified, invisible characters left out.
	starts, ends []int  // Byte offsets of each rune in the text as given.
	ref          day
	year, month  int // Of ref.
	chinese      bool
	before       fields // The date of the expression before, which ended at beforeEnd.
	beforeEnd    int
}

func newParser(text, locale string, ref time.Time) *parser {
	p := &parser{ref: dayOf(ref), chinese: locale == "zh"}
	p.year, p.month, _ = p.ref.date()
	p.runes = make([]rune, 0, len(text))
	p.starts, p.ends = make([]int, 0, len(text)), make([]int, 0, len(text))
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		if folded := fold(r); folded != 0 {
			p.runes = append(p.runes, folded)
			p.starts, p.ends = append(p.starts, i), append(p.ends, i+size)
		}
		i += size
	}
	return p
}

// fold maps the many ways to write a character to one; 0 leaves it out.
func fold(r rune) rune {
	if r >= 0xFF01 && r <= 0xFF5E { // Full-width forms.
		r -= 0xFEE0
	}
	switch {
	case r >= 'A' && r <= 'Z':
		return r + 'a' - 'A'
	case r < 0x80:
		if r == '~' {
			return '-'
		}
		return r
	}
	switch r {
	case 0x200B, 0x200C, 0x200D, 0x2060, 0xFEFF, 0x00AD:
		return 0
	case '‐', '‑', '‒', '–', '—', '―', '−', '～', '〜', '─', '﹣':
		return '-'
	case '〇', '○', '零':
		return '零'
	case '後':
		return '后'
	case '個', '箇':
		return '个'
	case '週':
		return '周'
	case '這':
		return '这'
	case '過':
		return '过'
	case '號':
		return '号'
	case '從':
		return '从'
	case '兩':
		return '两'
	case '禮':
		return '礼'
	case '間':
		return '间'
	case '來':
		return '来'
	case '內':
		return '内'
	case '農':
		return '农'
	case '曆', '歷':
		return '历'
	case '開':
		return '开'
	case '壹':
		return '一'
	case '貳', '贰':
		return '二'
	}
	if unicode.Is(unicode.Zs, r) {
		return ' '
	}
	return r
}

// at returns the rune at i, or 0 outside of the text.
func (p *parser) at(i int) rune {
	if i < 0 || i >= len(p.runes) {
		return 0
	}
	return p.runes[i]
}

func isDigit(r rune) bool { return r >= '0' && r <= '9' }
func isLetter(r rune) bool {
	return (r >= 'a' && r <= 'z') || (r >= 0xC0 && r < 0x2000 && unicode.IsLetter(r))
}
func isWord(r rune) bool { return isDigit(r) || isLetter(r) || r == '_' }

// space skips a few blanks, as people put them around dashes and between numbers and units.
func (p *parser) space(i int) int {
	const most = 3
	for n := 0; n < most && (p.at(i) == ' ' || p.at(i) == '\t'); n++ {
		i++
	}
	return i
}

// lit matches one literal.
func (p *parser) lit(i int, literal string) int {
	for _, r := range literal {
		if p.at(i) != r {
			return no
		}
		i++
	}
	return i
}

// any matches the first of the literals that fits: put longer ones before their beginnings.
func (p *parser) any(i int, literals ...string) int {
	for _, l := range literals {
		if end := p.lit(i, l); end != no {
			return end
		}
	}
	return no
}

// oneOf matches one rune of a set.
func (p *parser) oneOf(i int, set string) int {
	c := p.at(i)
	if c == 0 {
		return no
	}
	for _, r := range set {
		if c == r {
			return i + 1
		}
	}
	return no
}

// opt returns end, or i if end is no.
func opt(i, end int) int {
	if end == no {
		return i
	}
	return end
}

// word reads the letters at i, which must begin a word.
func (p *parser) word(i int) (string, int) {
	const longest = 12
	if isLetter(p.at(i - 1)) {
		return "", no
	}
	end := i
	for end-i <= longest && p.at(end) >= 'a' && p.at(end) <= 'z' {
		end++
	}
	if end == i || isLetter(p.at(end)) {
		return "", no
	}
	return string(p.runes[i:end]), end
}

// words matches words that are separated by blanks.
func (p *parser) words(i int, want ...string) int {
	for n, w := range want {
		if n > 0 {
			j := p.space(i)
			if j == i {
				return no
			}
			i = j
		}
		got, end := p.word(i)
		if end == no || got != w {
			return no
		}
		i = end
	}
	return i
}

// mayBegin refuses to begin inside a word, a number or a sum of money.
func (p *parser) mayBegin(i int) bool {
	c, before := p.at(i), p.at(i-1)
	switch {
	case isDigit(c) || isNumeral(c):
		switch before {
		case '$', '¥', '￥', '€', '£', '第', '#':
			return false
		case '.', ',', ':', '/', '-':
			return !isDigit(p.at(i - 2))
		}
		return !isWord(before) && !(isNumeral(c) && isNumeral(before))
	case isLetter(c):
		return !isWord(before)
	}
	return true
}
