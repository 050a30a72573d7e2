package ocr

import (
	"cmp"
	"image"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/width"
)

// line is one row of print: its text in a normal form, and which word each byte of it came from.
//
// Normal form: full-width forms are half-width ("：" is ":", "￥" is "¥"), Chinese characters stand without spaces
// between them, other words with one, and a gap that is wider than a space in print is a tab.
type line struct {
	text  string
	words []word
	from  []int // Per byte of text: index into words, or -1 for what separates them.
	box   image.Rectangle
}

// lines arranges words in rows from top to bottom. Rows are found by position, not by what tesseract took for a line:
// it separates the cells of a table.
func lines(words []word) []line {
	groups := map[string][]word{}
	var order []string
	for _, w := range words {
		if _, ok := groups[w.line]; !ok {
			order = append(order, w.line)
		}
		groups[w.line] = append(groups[w.line], w)
	}
	type row struct {
		words []word
		lo    int
		hi    int
	}
	var rows []row
	for _, key := range order {
		group := groups[key]
		lo, hi := span(group)
		merged := false
		for i := range rows {
			overlap := min(hi, rows[i].hi) - max(lo, rows[i].lo)
			if 2*overlap > min(hi-lo, rows[i].hi-rows[i].lo) && !collide(rows[i].words, group) {
				rows[i].words = append(rows[i].words, group...)
				rows[i].lo, rows[i].hi = min(lo, rows[i].lo), max(hi, rows[i].hi)
				merged = true
				break
			}
		}
		if !merged {
			rows = append(rows, row{words: slices.Clone(group), lo: lo, hi: hi})
		}
	}
	slices.SortStableFunc(rows, func(a, b row) int { return cmp.Compare(a.lo+a.hi, b.lo+b.hi) })
	result := make([]line, 0, len(rows))
	for _, r := range rows {
		result = append(result, newLine(r.words, r.hi-r.lo))
	}
	return result
}

// span is the typical top and bottom of words: the median, because boxes of single words are often wrong.
func span(words []word) (int, int) {
	tops, bottoms := make([]int, 0, len(words)), make([]int, 0, len(words))
	for _, w := range words {
		tops, bottoms = append(tops, w.box.Min.Y), append(bottoms, w.box.Max.Y)
	}
	slices.Sort(tops)
	slices.Sort(bottoms)
	return tops[len(tops)/2], bottoms[len(bottoms)/2]
}

// collide reports whether words of the two rows lie on one another: then they are different rows.
func collide(a, b []word) bool {
	for _, v := range a {
		for _, w := range b {
			if min(v.box.Max.X, w.box.Max.X)-max(v.box.Min.X, w.box.Min.X) > min(v.box.Dx(), w.box.Dx())/2 {
				return true
			}
		}
	}
	return false
}

func newLine(words []word, height int) line {
	slices.SortStableFunc(words, func(a, b word) int { return cmp.Compare(a.box.Min.X, b.box.Min.X) })
	l := line{words: words}
	var text strings.Builder
	add := func(s string, from int) {
		text.WriteString(s)
		for range len(s) {
			l.from = append(l.from, from)
		}
	}
	for i, w := range words {
		folded := width.Fold.String(w.text)
		if i > 0 {
			gap := w.box.Min.X - words[i-1].box.Max.X
			switch {
			case gap > 2*height:
				add("\t", -1)
			case !touches(text.String(), folded):
				add(" ", -1)
			}
		}
		add(folded, i)
		l.box = l.box.Union(w.box)
	}
	l.text = text.String()
	return l
}

// touches reports whether no space belongs between two pieces of text: Chinese is written without.
func touches(before, after string) bool {
	last, _ := utf8.DecodeLastRuneInString(before)
	first, _ := utf8.DecodeRuneInString(after)
	return unicode.Is(unicode.Han, last) || unicode.Is(unicode.Han, first) || last == '(' || first == ')' || first == ':'
}

// confidence is the mean confidence of the words behind the bytes [start, end) of the text.
func (l line) confidence(start, end int) float64 {
	seen, sum, last := 0, 0.0, -1
	for _, from := range l.from[start:end] {
		if from >= 0 && from != last {
			sum += l.words[from].confidence
			seen++
			last = from
		}
	}
	if seen == 0 {
		return 0
	}
	return sum / float64(seen)
}

// certainty is the confidence of the least certain word that has a digit of the bytes [start, end): one wrong digit
// makes the whole figure wrong.
func (l line) certainty(start, end int) float64 {
	least, found := 1.0, false
	for i := start; i < end; i++ {
		if from := l.from[i]; from >= 0 && l.text[i] >= '0' && l.text[i] <= '9' {
			least, found = min(least, l.words[from].confidence), true
		}
	}
	if !found {
		return 0
	}
	return least
}

// place is the box of the words behind the bytes [start, end).
func (l line) place(start, end int) image.Rectangle {
	var box image.Rectangle
	for _, from := range l.from[start:end] {
		if from >= 0 {
			box = box.Union(l.words[from].box)
		}
	}
	return box
}
