// Package timex finds expressions of dates and ranges of dates in Chinese and English text and resolves them against a
// reference time, in that time's zone: never against the clock of the machine (SPEC C1, "fuzzy time anchors").
//
// It knows days and what is made of days: weeks (Monday to Sunday, ISO 8601), months, quarters, half-years, years and
// free ranges. Times of day are left alone, and so are lunar dates: an expression that is recognised but has no day in
// this calendar ("2月30日", "农历八月十五") is reported without a reading, so that a caller can say so. Where a sentence
// leaves the day open ("12号" on the 20th: of this month or of the next?) every reading is returned, the nearest first;
// picking one silently is the caller's mistake to make.
//
// Conventions that the languages leave open: "上周五" and "last Friday" mean the Friday of the previous calendar week
// (in English the nearest one before today is a second reading); "过去三天" and "the past 3 days" end yesterday,
// "最近三天" ends today; a two-digit year is of this century unless that is more than twenty years ahead.
//
// The package imports the standard library only. Its functions are pure and safe for concurrent use; time and memory
// are linear in the length of the text.
package timex
