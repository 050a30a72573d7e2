package ocr

import (
	"image"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/hermes-orchestrator/hermes/examples/expense/tools/money"
)

// figure is an amount of money as it is printed somewhere on a document.
type figure struct {
	line       int // Index into the lines of the document.
	start, end int // Bytes of the line's text that hold its digits.
	value      money.Amount
	currency   string // ISO 4217, empty if no symbol stands by it.
	label      label
	confidence float64
	box        image.Rectangle
}

// label is the kind of the words that stand before a figure in its row. Higher ones decide.
type label int

const (
	labelNone     label = iota
	labelPart           // Tax, shipping: a part of the total.
	labelSubtotal       // Net sum before tax.
	labelSum            // 合计 on its own: the total, or the net sum where tax is shown apart.
	labelTotal          // Total, 总计.
	labelPayable        // 价税合计, amount due.
	labelInDigits       // 小写: the total in digits, after the one in words.
)

// labels lists the words by kind. In one row the first match wins where two overlap, so that 价税合计 is not read as
// 合计, nor "subtotal" as "total".
var labels = []struct {
	kind    label
	pattern *regexp.Regexp
}{
	{labelSubtotal, regexp.MustCompile(`(?i)sub[ -]?total|小计|小計|不含税`)},
	{labelInDigits, regexp.MustCompile(`小写`)},
	{labelPayable, regexp.MustCompile(`(?i)价税合计|[应應]付[总總][额額]|[总總]金[额額]|合[计計]金[额額]|[实實]付(?:金额)?|` +
		`grand total|total (?:amount|due|payable)|amount (?:due|payable)|balance due`)},
	{labelTotal, regexp.MustCompile(`(?i)\btotal\b|[总總][计計]|票价`)},
	{labelSum, regexp.MustCompile(`合[计計]`)},
	{labelPart, regexp.MustCompile(`(?i)\b(?:tax|vat|gst|shipping|discount|deposit|change)\b|税[额率金]|[稅]|找零|折扣`)},
}

// labelSpan is a label found in a row.
type labelSpan struct {
	kind       label
	start, end int
}

func findLabels(text string) []labelSpan {
	var spans []labelSpan
	for _, each := range labels {
	next:
		for _, at := range each.pattern.FindAllStringIndex(text, -1) {
			for _, taken := range spans {
				if at[0] < taken.end && taken.start < at[1] {
					continue next
				}
			}
			spans = append(spans, labelSpan{each.kind, at[0], at[1]})
		}
	}
	return spans
}

// moneyPattern: a currency if there is one, then digits, grouped by commas or not, with at most two decimals.
var moneyPattern = regexp.MustCompile(
	`(?:(NT[$S]|US[$]|HK[$]|CNY|RMB|TWD|USD|HKD|EUR|GBP|¥|[$]|€|£) ?)?` +
		`([0-9]{1,3}(?:,[0-9]{3})+(?:\.[0-9]{1,2})?|[0-9]+(?:\.[0-9]{1,2})?)`)

// currencies maps what is printed to ISO 4217. A yen sign alone is read as CNY and a dollar sign alone as USD: the
// expense rules accept CNY only, and refuse the rest by name.
var currencies = map[string]string{
	"NT$": "TWD", "NTS": "TWD", "TWD": "TWD", "US$": "USD", "$": "USD", "USD": "USD", "HK$": "HKD", "HKD": "HKD",
	"CNY": "CNY", "RMB": "CNY", "¥": "CNY", "元": "CNY", "圆": "CNY", "EUR": "EUR", "€": "EUR", "GBP": "GBP", "£": "GBP",
}

// figures lists what may be an amount of money: digits that stand alone, with a currency, decimals or a label.
func figures(rows []line) []figure {
	var found []figure
	for i, row := range rows {
		spans := findLabels(row.text)
		free := 0 // Figures before this byte have used up the labels before them.
		for _, at := range moneyPattern.FindAllStringSubmatchIndex(row.text, -1) {
			f := figure{line: i, start: at[4], end: at[5]}
			if !alone(row.text, at[0], at[1]) {
				continue
			}
			digits := strings.ReplaceAll(row.text[f.start:f.end], ",", "")
			value, err := money.Parse(digits)
			if err != nil || value == 0 {
				continue
			}
			f.value = value
			if at[2] >= 0 {
				f.currency = currencies[row.text[at[2]:at[3]]]
			} else if next, _ := utf8.DecodeRuneInString(row.text[at[1]:]); next == '元' || next == '圆' {
				f.currency = "CNY"
			}
			for _, span := range spans {
				if span.end <= at[0] && span.start >= free {
					f.label, free = span.kind, span.end
				}
			}
			if f.currency == "" && !strings.ContainsAny(digits, ".") && f.label < labelSubtotal {
				continue // A count, a year, a room number.
			}
			free = max(free, at[1])
			f.confidence = row.certainty(f.start, f.end)
			f.box = row.place(f.start, f.end)
			found = append(found, f)
		}
	}
	return found
}

// alone reports whether the bytes [start, end) are a figure of their own, and not part of a date, a number with
// letters, a percentage or a longer number.
func alone(text string, start, end int) bool {
	before, _ := utf8.DecodeLastRuneInString(text[:start])
	after, size := utf8.DecodeRuneInString(text[end:])
	// Digits one space apart are one figure that was torn, or two that ran together: either would be a guess.
	if head := strings.TrimSuffix(text[:start], " "); head != text[:start] && endsInDigit(head) ||
		len(text) > end+1 && text[end] == ' ' && strings.ContainsRune("0123456789.,", rune(text[end+1])) {
		return false
	}
	if start > 0 && (before < utf8.RuneSelf && (unicode.IsLetter(before) || unicode.IsDigit(before)) ||
		strings.ContainsRune(".,-/#*+", before)) {
		return false
	}
	if end == len(text) {
		return true
	}
	if after < utf8.RuneSelf && (unicode.IsLetter(after) || unicode.IsDigit(after)) ||
		strings.ContainsRune("%-/:年月日号", after) {
		return false
	}
	if after == '.' || after == ',' {
		following, _ := utf8.DecodeRuneInString(text[end+size:])
		return !unicode.IsDigit(following)
	}
	return true
}

func endsInDigit(text string) bool {
	return text != "" && text[len(text)-1] >= '0' && text[len(text)-1] <= '9'
}
