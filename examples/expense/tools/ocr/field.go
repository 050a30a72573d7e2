package ocr

import (
	"math"
	"regexp"
	"slices"
	"strings"
	"time"
)

// Field is one thing read from a document. Confidence is 0–1; a field that was not found has no value and confidence 0.
type Field struct {
	Value      string  `json:"value,omitempty"`
	Confidence float64 `json:"confidence"`
}

// newField rounds the confidence to two digits: more would pretend a precision that recognition does not have.
func newField(value string, confidence float64) Field {
	value = strings.TrimSpace(value)
	if value == "" {
		return Field{}
	}
	return Field{Value: value, Confidence: math.Round(confidence*100) / 100}
}

var (
	issueLabel = regexp.MustCompile(`(?i)[开開][票立具]日?期?|\bdate\b|日期|issued`)
	otherDates = regexp.MustCompile(`(?i)valid until|due date|有效期|到期`)
)

// findDate returns the date of issue: the one by its label, or the only date of the document.
func findDate(rows []line) Field {
	const iso = time.DateOnly
	only, several := Field{}, false
	for _, row := range rows {
		for _, d := range findDates(row.text) {
			field := newField(d.day.Format(iso), row.confidence(d.start, d.end))
			before := row.text[:d.start]
			if issueLabel.MatchString(before) && !otherDates.MatchString(before) {
				return field
			}
			several = several || only.Value != "" && only.Value != field.Value
			if only.Value == "" {
				only = field
			}
		}
	}
	if several {
		return Field{}
	}
	return only
}

// The parts of a row that follow a label end at a wide gap.
var (
	sellerLabel = regexp.MustCompile(`(?i)(?:[销銷]售方|收款方|[销銷][货貨]方|商[户戶家])(?:名[称稱])?:? ?([^\t]+)` +
		`|(?:merchant|seller|vendor|supplier|sold by):? ([^\t]+)`)
	sellerWords = regexp.MustCompile(`(?i)公司|酒店|[宾賓][馆館]|[饭飯]店|餐[厅廳]|[航行]空|出租|\b(?:inc|ltd|llc|gmbh|co|hotel|inn|` +
		`airlines?|airways|taxi|cabs?|restaurant|cafe|railways?|services?|solutions)\b`)
	buyerWords = regexp.MustCompile(`(?i)[购購][买買货貨]?方|收件人|bill(?:ed)? to|customer|公司名[称稱]|抬[头頭]`)
)

// findMerchant returns who sold: by its label, or what heads the document if it looks like the name of a business.
func findMerchant(rows []line) Field {
	for _, row := range rows {
		if at := sellerLabel.FindStringSubmatchIndex(row.text); at != nil {
			start, end := at[2], at[3]
			if start < 0 {
				start, end = at[4], at[5]
			}
			return legible(newField(row.text[start:end], row.confidence(start, end)))
		}
	}
	const head = 4 // Rows at the top in which a business names itself.
	for _, row := range rows[:min(head, len(rows))] {
		if buyerWords.MatchString(row.text) {
			break
		}
		title, _, _ := strings.Cut(row.text, "\t")
		if sellerWords.MatchString(title) && !receiptWords.MatchString(title) {
			return legible(newField(title, row.confidence(0, len(title))))
		}
	}
	return Field{}
}

// legible drops what tesseract itself hardly believes.
func legible(f Field) Field {
	const least = 0.4
	if f.Confidence < least {
		return Field{}
	}
	return f
}

var (
	numberLabel = regexp.MustCompile(`(?i)(?:[号號][码碼]|[单單編编][号號]|(?:invoice|receipt|quotation) ?(?:no|number|#))` +
		`[.:; ]{0,4}([0-9A-Z][0-9A-Z-]{5,29})(?:[^0-9A-Z-]|$)`)
	// Fully electronic Chinese invoices have numbers of twenty digits, which nothing else on them has.
	electronicNumber = regexp.MustCompile(`(?:^|[^0-9A-Z-])([0-9]{20})(?:[^0-9]|$)`)
)

// findNumber returns the number of an invoice.
func findNumber(rows []line) Field {
	for _, pattern := range []*regexp.Regexp{electronicNumber, numberLabel} {
		for _, row := range rows {
			at := pattern.FindStringSubmatchIndex(row.text)
			if at == nil || !strings.ContainsAny(row.text[at[2]:at[3]], "0123456789") {
				continue
			}
			return newField(row.text[at[2]:at[3]], row.confidence(at[2], at[3]))
		}
	}
	return Field{}
}

// itemPattern is the name of a good or service on a Chinese invoice: *tax category*name.
var itemPattern = regexp.MustCompile(`[*“"'·]? ?([\p{Han}]{2,8}) ?[*"”'·] ?([\p{Han}]{2,12})`)

// findItem returns what was sold, if the row under the column's title says it.
func findItem(rows []line) Field {
	head := slices.IndexFunc(rows, func(row line) bool {
		return strings.Contains(row.text, "项目名称") || strings.Contains(row.text, "名称") &&
			strings.Contains(row.text, "金额") || strings.HasPrefix(row.text, "Description")
	})
	if head < 0 || head+1 >= len(rows) {
		return Field{}
	}
	row := rows[head+1]
	if at := itemPattern.FindStringIndex(row.text); at != nil {
		return legible(newField(strings.Trim(row.text[at[0]:at[1]], `*“"'·`), row.confidence(at[0], at[1])))
	}
	name, _, _ := strings.Cut(row.text, "\t")
	if len(figures([]line{row})) == 0 || strings.ContainsAny(name, "¥$") {
		return Field{}
	}
	return legible(newField(name, row.confidence(0, len(name))))
}
