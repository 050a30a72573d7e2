package ocr

import (
	"regexp"
	"strings"

	"github.com/hermes-orchestrator/hermes/examples/expense/tools/money"
)

var wordsPattern = regexp.MustCompile(`[零壹贰叁肆伍陆柒捌玖拾佰仟万亿]+[圆元](?:[零壹贰叁肆伍陆柒捌玖角分]+|整|正)`)

// amountInWords finds the amount in Chinese financial numerals ("叁仟贰佰圆整"), which invoices repeat the total in.
// Only a complete reading counts; a document with two different ones has none.
func amountInWords(rows []line) (money.Amount, bool) {
	var found money.Amount
	for _, row := range rows {
		for _, text := range wordsPattern.FindAllString(row.text, -1) {
			value, ok := parseWords(text)
			if !ok || found != 0 && found != value {
				return 0, false
			}
			found = value
		}
	}
	return found, found != 0
}

const numerals = "零壹贰叁肆伍陆柒捌玖"

// parseWords reads financial numerals up to 亿, with 角 and 分. It refuses sequences that are not in falling order.
func parseWords(text string) (money.Amount, bool) {
	whole, fraction, ok := strings.Cut(strings.ReplaceAll(text, "元", "圆"), "圆")
	if !ok {
		return 0, false
	}
	var value int64
	rest := whole
	for _, scale := range []struct {
		mark   string
		factor int64
	}{{"亿", 1e8}, {"万", 1e4}} {
		if head, tail, found := strings.Cut(rest, scale.mark); found {
			group, valid := parseGroup(head)
			if !valid || group == 0 {
				return 0, false
			}
			value += group * scale.factor
			rest = tail
		}
	}
	group, valid := parseGroup(rest)
	if !valid {
		return 0, false
	}
	value += group
	minor, valid := parseMinor(fraction)
	if !valid {
		return 0, false
	}
	return money.Amount(value*100 + minor), true
}

// parseGroup reads up to four digits: 叁仟贰佰, 拾伍.
func parseGroup(text string) (int64, bool) {
	var value, digit int64
	pending, least := false, int64(10000)
	for _, r := range text {
		if at := strings.IndexRune(numerals, r); at >= 0 {
			if pending && digit != 0 {
				return 0, false
			}
			digit, pending = int64(at/len("零")), true
			continue
		}
		factor := map[rune]int64{'拾': 10, '佰': 100, '仟': 1000}[r]
		if factor == 0 || factor >= least || !pending && factor != 10 {
			return 0, false
		}
		if !pending {
			digit = 1 // 拾伍 is 15.
		}
		value, least, digit, pending = value+digit*factor, factor, 0, false
	}
	return value + digit, true
}

// parseMinor reads 角 and 分; 整 or 正 is none.
func parseMinor(text string) (int64, bool) {
	if text == "整" || text == "正" {
		return 0, true
	}
	var value, digit int64
	pending := false
	for _, r := range text {
		at := strings.IndexRune(numerals, r)
		switch {
		case at >= 0 && (!pending || digit == 0):
			digit, pending = int64(at/len("零")), true
		case r == '角' && pending && value == 0:
			value, pending = digit*10, false
		case r == '分' && pending:
			return value + digit, true
		case r == '整' || r == '正':
			return value, !pending
		default:
			return 0, false
		}
	}
	return value, !pending
}
