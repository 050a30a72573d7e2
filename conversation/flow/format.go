package flow

import (
	"fmt"
	"strings"
	"text/template"
	"time"

	"github.com/shopspring/decimal"

	"github.com/hermes-orchestrator/hermes/conversation"
)

// arity and usage describe the functions of texts, so that a wrong call is found when the file is read.
var (
	arity = map[string]int{"money": 2, "dates": 1, "join": 1, "percent": 1, "plural": 3, "has": 2, "years": 1}
	usage = map[string]string{
		"money":   "{{money .facts.amount .facts.currency}}",
		"dates":   "{{dates .facts.period}}",
		"join":    "{{join .missing}}",
		"years":   "{{years .facts.period}}",
		"percent": "{{percent .facts.share}}",
		"plural":  `{{plural .facts.count "file" "files"}}`,
		"has":     `{{if has .facts "reason"}}`,
	}
)

// functions are what texts may call, in the manner of the locale (SPEC C10).
func functions(locale string) template.FuncMap {
	zh := locale == conversation.LocaleChinese
	return template.FuncMap{
		"money":   func(amount, currency any) (string, error) { return money(zh, amount, currency) },
		"dates":   func(value any) (string, error) { return dates(zh, value, false) },
		"years":   func(value any) (string, error) { return dates(zh, value, true) },
		"join":    func(list any) (string, error) { return join(zh, list) },
		"percent": percent,
		"plural":  plural,
		"has":     func(facts map[string]any, name string) bool { return facts[name] != nil },
	}
}

// currencySigns are those of Chinese texts; every other currency is written with its code.
var currencySigns = map[string]string{"CNY": "￥", "USD": "US$", "TWD": "NT$", "EUR": "€", "HKD": "HK$"}

// money writes an amount: "￥8,240" and "CNY 8,240". Digits after the point are kept where they are not all zero; none
// is ever rounded away.
func money(zh bool, amount, currency any) (string, error) {
	d, err := decimal.NewFromString(fmt.Sprint(amount))
	if err != nil || d.Exponent() > maxDecimalDigits || d.Exponent() < -maxDecimalDigits {
		return "", fmt.Errorf("money: %v is not a decimal", amount)
	}
	digits := d.StringFixed(max(2, -d.Exponent()))
	whole, fraction, _ := strings.Cut(digits, ".")
	sign := ""
	if rest, negative := strings.CutPrefix(whole, "-"); negative {
		sign, whole = "-", rest
	}
	for i := len(whole) - 3; i > 0; i -= 3 {
		whole = whole[:i] + "," + whole[i:]
	}
	if strings.Trim(fraction, "0") != "" {
		whole += "." + fraction
	}
	code := fmt.Sprint(currency)
	if symbol, known := currencySigns[code]; known && zh {
		return sign + symbol + whole, nil
	}
	return strings.TrimSpace(code + " " + sign + whole), nil
}

// dates writes a day or a range of days: "5月12-15日" and "May 12–15, 2024". Chinese shows years only where they differ,
// or with years, for texts that compare two ranges: "2024年5月12-15日".
func dates(zh bool, value any, years bool) (string, error) {
	from, to := value, value
	if m, ok := value.(map[string]any); ok {
		from, to = m["start"], m["end"]
	}
	start, err := time.Parse(time.DateOnly, fmt.Sprint(from))
	if err != nil {
		return "", fmt.Errorf("dates: %v is not a date like 2024-05-12", from)
	}
	end, err := time.Parse(time.DateOnly, fmt.Sprint(to))
	if err != nil {
		return "", fmt.Errorf("dates: %v is not a date like 2024-05-12", to)
	}
	sameYear := start.Year() == end.Year()
	sameMonth := sameYear && start.Month() == end.Month()
	if zh {
		year := ""
		if years && sameYear {
			year = start.Format("2006年")
		}
		switch {
		case start.Equal(end):
			return year + start.Format("1月2日"), nil
		case sameMonth:
			return fmt.Sprintf("%s%d月%d-%d日", year, start.Month(), start.Day(), end.Day()), nil
		case sameYear:
			return year + start.Format("1月2日") + "至" + end.Format("1月2日"), nil
		}
		return start.Format("2006年1月2日") + "至" + end.Format("2006年1月2日"), nil
	}
	switch {
	case start.Equal(end):
		return start.Format("January 2, 2006"), nil
	case sameMonth:
		return fmt.Sprintf("%s %d–%d, %d", start.Month(), start.Day(), end.Day(), start.Year()), nil
	case sameYear:
		return start.Format("January 2") + " to " + end.Format("January 2, 2006"), nil
	}
	return start.Format("January 2, 2006") + " to " + end.Format("January 2, 2006"), nil
}

// join lists things: "a、b和c" and "a, b and c".
func join(zh bool, list any) (string, error) {
	var items []string
	switch list := list.(type) {
	case []string:
		items = list
	case []any:
		for _, item := range list {
			items = append(items, fmt.Sprint(item))
		}
	case string:
		return list, nil
	default:
		return "", fmt.Errorf("join: %T is not a list", list)
	}
	comma, and := ", ", " and "
	if zh {
		comma, and = "、", "和"
	}
	if len(items) < 2 {
		return strings.Join(items, ""), nil
	}
	last := len(items) - 1
	return strings.Join(items[:last], comma) + and + items[last], nil
}

// percent writes a share of one: 0.934 is "93%".
func percent(value any) (string, error) {
	d, err := decimal.NewFromString(fmt.Sprint(value))
	if err != nil {
		return "", fmt.Errorf("percent: %v is not a number", value)
	}
	return d.Shift(2).StringFixed(0) + "%", nil
}

// plural writes a count with its noun: "1 file", "3 files".
func plural(count any, one, many string) string {
	if text := fmt.Sprint(count); text != "1" {
		return text + " " + many
	}
	return "1 " + one
}

// clock writes a time of day in a zone, with the date when that is not the day of reference.
func clock(at time.Time, zone string, reference time.Time) string {
	if location, err := time.LoadLocation(zone); err == nil {
		at, reference = at.In(location), reference.In(location)
	}
	if at.Format(time.DateOnly) != reference.Format(time.DateOnly) {
		return at.Format("2006-01-02 15:04")
	}
	return at.Format("15:04")
}
