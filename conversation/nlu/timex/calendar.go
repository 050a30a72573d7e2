package timex

import (
	"fmt"
	"time"
)

// day counts days of the proleptic Gregorian calendar from 1970-01-01.
type day int

// Open sides of a range, and the years that ISO dates of ten characters can write.
const (
	openPast   day = -1 << 30
	openFuture day = 1 << 30

	minYear = 1
	maxYear = 9999

	firstDay day = -719162 // 0001-01-01
	lastDay  day = 2932896 // 9999-12-31
)

const secondsPerDay = 24 * 60 * 60

func dayOf(t time.Time) day {
	y, m, d := t.Date()
	return civil(y, int(m), d)
}

// civil normalises as time.Date does: month 13 is January of the next year.
func civil(y, m, d int) day {
	seconds := time.Date(y, time.Month(m), d, 0, 0, 0, 0, time.UTC).Unix()
	if seconds < 0 {
		seconds -= secondsPerDay - 1
	}
	return day(seconds / secondsPerDay)
}

func (d day) date() (year, month, dayOfMonth int) {
	y, m, dd := time.Unix(int64(d)*secondsPerDay, 0).UTC().Date()
	return y, int(m), dd
}

// weekday is 1 for Monday to 7 for Sunday.
func (d day) weekday() int {
	w := (int(d) + 3) % 7 // 1970-01-01 was a Thursday.
	if w < 0 {
		w += 7
	}
	return w + 1
}

// monday is the first day of the week that d is in.
func (d day) monday() day { return d - day(d.weekday()-1) }

func (d day) open() bool { return d == openPast || d == openFuture }

// sameDate reports whether two days differ at most in their year, or are the last ones of February.
func (d day) sameDate(other day) bool {
	if d.open() || other.open() {
		return d == other
	}
	_, m1, d1 := d.date()
	_, m2, d2 := other.date()
	return m1 == m2 && (d1 == d2 || (m1 == 2 && min(d1, d2) == 28 && max(d1, d2) == 29))
}

func (d day) iso() string {
	if d.open() {
		return ""
	}
	y, m, dd := d.date()
	return fmt.Sprintf("%04d-%02d-%02d", y, m, dd)
}

// addMonths keeps the day of the month, or takes the last day of a shorter month.
func (d day) addMonths(n int) day {
	y, m, dd := d.date()
	y, m = shiftMonth(y, m, n)
	return civil(y, m, min(dd, daysIn(y, m)))
}

func shiftMonth(y, m, n int) (year, month int) {
	months := y*12 + m - 1 + n
	year, month = months/12, months%12+1
	if month < 1 {
		year, month = year-1, month+12
	}
	return year, month
}

func daysIn(y, m int) int { return int(civil(y, m+1, 1) - civil(y, m, 1)) }

func validDate(y, m, d int) bool {
	return y >= minYear && y <= maxYear && m >= 1 && m <= 12 && d >= 1 && d <= daysIn(y, m)
}

// span is a range of days, both ends inclusive.
type span struct{ from, to day }

// valid reports whether the range has days, all of them writable.
func (s span) valid() bool {
	if s.from > s.to || (s.from == openPast && s.to == openFuture) {
		return false
	}
	writable := func(d day) bool { return d.open() || (d >= firstDay && d <= lastDay) }
	return writable(s.from) && writable(s.to)
}

func (s span) contains(d day) bool { return s.from <= d && d <= s.to }

func monthSpan(y, m int) span   { return span{civil(y, m, 1), civil(y, m+1, 1) - 1} }
func yearSpan(y int) span       { return span{civil(y, 1, 1), civil(y, 12, 31)} }
func quarterSpan(y, q int) span { return span{civil(y, q*3-2, 1), civil(y, q*3+1, 1) - 1} }
func weekSpan(monday day) span  { return span{monday, monday + 6} }

// halfSpan is the first or the second half of a year.
func halfSpan(y int, second bool) span {
	if second {
		return span{civil(y, 7, 1), civil(y, 12, 31)}
	}
	return span{civil(y, 1, 1), civil(y, 6, 30)}
}

// firstWeek is the Monday of the first week of a year or month that begins on start: as in ISO 8601, the week belongs
// to where its Thursday is.
func firstWeek(start day) day {
	monday := start.monday()
	if monday+3 < start {
		monday += 7
	}
	return monday
}

// lastWeek is the Monday of the last week of a year or month that ends on end.
func lastWeek(end day) day {
	monday := end.monday()
	if monday+3 > end {
		monday -= 7
	}
	return monday
}
