package ocr

import (
	"image"
	"time"
)

// What the tests in ocr_test look at from inside.

// ParseTSV reads a table of tesseract and reports how many words it has.
func ParseTSV(table []byte) (int, error) {
	words, err := parseTSV(table)
	_ = lines(words)
	return len(words), err
}

// Rows lays out texts as a page on which each letter is ten pixels wide; a tab is a wide gap.
func Rows(texts ...string) []line {
	var words []word
	for y, text := range texts {
		x, start := 0, 0
		letters := []rune(text)
		flush := func(end int) {
			if end > start {
				words = append(words, word{
					text: string(letters[start:end]), confidence: 0.9, line: text,
					box: image.Rect(start*10+x, y*40, end*10+x, y*40+20),
				})
			}
			start = end + 1
		}
		for i, r := range letters {
			if r == ' ' || r == '\t' {
				flush(i)
				if r == '\t' {
					x += 100
				}
			}
		}
		flush(len(letters))
	}
	return lines(words)
}

// FindTotal returns amount, currency and what other figures say about it.
func FindTotal(rows []line) (amount, currency string, confirmed, refuted bool) {
	t, ok := findTotal(rows)
	if !ok {
		return "", "", false, false
	}
	return t.value.String(), t.currency, t.agreement == 1, t.agreement == 2
}

// FindRange returns a range of days in ISO form.
func FindRange(text, year string) (from, to string) {
	p, ok := findRange(text, year)
	if !ok {
		return "", ""
	}
	return p.from.Format(time.DateOnly), p.to.Format(time.DateOnly)
}

// InWords reads an amount in Chinese financial numerals.
func InWords(text string) (string, bool) {
	amount, ok := amountInWords(Rows(text))
	return amount.String(), ok
}

// FindFields returns date, merchant and number.
func FindFields(rows []line) (date, merchant, number string) {
	return findDate(rows).Value, findMerchant(rows).Value, findNumber(rows).Value
}

// ReadItinerary returns city and days, if the rows are an itinerary.
func ReadItinerary(rows []line) (city, from, to string) {
	if !isItinerary(rows) {
		return "", "", ""
	}
	i, _ := readItinerary(rows)
	return i.City, i.Dates.Start, i.Dates.End
}

// Decode reports whether a picture would be read, or why not.
func Decode(data []byte) error {
	_, err := decode(data)
	return err
}
