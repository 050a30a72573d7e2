package ocr

import (
	"regexp"
	"strconv"
	"strings"
	"time"
)

// dateForm is one way to print a day. Year, month and day are numbers of sub-matches; year 0 means "no year".
type dateForm struct {
	pattern          *regexp.Regexp
	year, month, day int
}

const monthNames = `(Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]*\.?`

// A space may stand anywhere between digits and 年月日; tesseract puts one where print is wide.
var dateForms = []dateForm{
	{regexp.MustCompile(`([0-9]{4}) ?年 ?([0-9]{1,2}) ?月 ?([0-9]{1,2}) ?日?`), 1, 2, 3},
	{regexp.MustCompile(`\b([0-9]{4})[-/.]([0-9]{1,2})[-/.]([0-9]{1,2})\b`), 1, 2, 3},
	{regexp.MustCompile(`(?i)\b` + monthNames + ` ?([0-9]{1,2})(?:st|nd|rd|th)?,? ([0-9]{4})\b`), 3, 1, 2},
	{regexp.MustCompile(`(?i)\b([0-9]{1,2})(?:st|nd|rd|th)? ` + monthNames + `,? ([0-9]{4})\b`), 3, 2, 1},
}

// until is what stands between the first and the last day of a range.
const until = ` ?(?:至|到|[-–—~一]+|to|until|through) ?`

// rangeForms are ranges whose days share a month or a year. A range of two full dates is found by its parts.
var rangeForms = []struct {
	pattern                              *regexp.Regexp
	year, month, day, lastMonth, lastDay int
	lastYear                             int
}{
	{
		regexp.MustCompile(`(?:([0-9]{4}) ?年 ?)?([0-9]{1,2}) ?月 ?([0-9]{1,2}) ?日?` + until +
			`(?:([0-9]{4}) ?年 ?)?(?:([0-9]{1,2}) ?月 ?)?([0-9]{1,2}) ?日?`),
		1, 2, 3, 5, 6, 4,
	},
	{
		regexp.MustCompile(`\b([0-9]{4})[-/.]([0-9]{1,2})[-/.]([0-9]{1,2})` + until +
			`(?:([0-9]{4})[-/.])?([0-9]{1,2})[-/.]([0-9]{1,2})\b`),
		1, 2, 3, 5, 6, 4,
	},
	{ // May 12–15, 2024; May 12 – June 2, 2024; May 12, 2024 to May 15, 2024
		regexp.MustCompile(`(?i)\b` + monthNames + ` ?([0-9]{1,2})(?:,? ([0-9]{4}))?` + until +
			`(?:` + monthNames + ` ?)?([0-9]{1,2})(?:,? ([0-9]{4}))?\b`),
		3, 1, 2, 4, 5, 6,
	},
	{ // 12–15 May 2024; 12 May – 2 June 2024
		regexp.MustCompile(`(?i)\b([0-9]{1,2})(?: ` + monthNames + `)?(?: ([0-9]{4}))?` + until +
			`([0-9]{1,2}) ` + monthNames + `(?: ([0-9]{4}))?\b`),
		3, 2, 1, 5, 4, 6,
	},
}

// dated is a day that was found in a row.
type dated struct {
	day        time.Time
	start, end int
}

// findDates lists the full dates of a text: those with a year that exist in the calendar.
func findDates(text string) []dated {
	var found []dated
	for _, form := range dateForms {
		for _, at := range form.pattern.FindAllStringSubmatchIndex(text, -1) {
			day, ok := calendar(sub(text, at, form.year), sub(text, at, form.month), sub(text, at, form.day))
			if ok {
				found = append(found, dated{day, at[0], at[1]})
			}
		}
	}
	return found
}

// period is a range of days, both inclusive.
type period struct {
	from, to   time.Time
	start, end int
}

// findRange returns the first range of days in a text. A range without a year takes the given one; with neither there
// is no range, because the year would be a guess.
func findRange(text, year string) (period, bool) {
	for _, form := range rangeForms {
		for _, at := range form.pattern.FindAllStringSubmatchIndex(text, -1) {
			y, lastYear := sub(text, at, form.year), sub(text, at, form.lastYear)
			month, lastMonth := sub(text, at, form.month), sub(text, at, form.lastMonth)
			y = either(y, lastYear, year)
			lastYear = either(lastYear, y)
			month, lastMonth = either(month, lastMonth), either(lastMonth, month)
			from, valid := calendar(y, month, sub(text, at, form.day))
			to, alsoValid := calendar(lastYear, lastMonth, sub(text, at, form.lastDay))
			if valid && alsoValid && !to.Before(from) {
				return period{from, to, at[0], at[1]}, true
			}
		}
	}
	return period{}, false
}

func sub(text string, at []int, group int) string {
	if at[2*group] < 0 {
		return ""
	}
	return text[at[2*group]:at[2*group+1]]
}

func either(values ...string) string {
	for _, value := range values {
		if value != "" {
			return value
		}
	}
	return ""
}

// calendar makes a day from its parts and refuses those that the calendar does not have.
func calendar(year, month, day string) (time.Time, bool) {
	y, err := strconv.Atoi(year)
	if err != nil || y < 1990 || y > 2100 {
		return time.Time{}, false
	}
	m, err := strconv.Atoi(month)
	if err != nil {
		names := "janfebmaraprmayjunjulaugsepoctnovdec"
		at := -1
		if len(month) >= 3 {
			at = strings.Index(names, strings.ToLower(month[:3]))
		}
		if at < 0 || at%3 != 0 {
			return time.Time{}, false
		}
		m = at/3 + 1
	}
	d, err := strconv.Atoi(day)
	if err != nil {
		return time.Time{}, false
	}
	date := time.Date(y, time.Month(m), d, 0, 0, 0, 0, time.UTC)
	if date.Day() != d || int(date.Month()) != m {
		return time.Time{}, false
	}
	return date, true
}
