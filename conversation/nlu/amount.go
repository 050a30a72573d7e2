package nlu

import (
	"fmt"
	"strings"
)

// Limits of figures. What is larger is a mistake or no figure.
const (
	maxCents = 1_000_000_000_000_00
	maxCount = 10_000
)

// writeCents writes an amount as a decimal string with two digits.
func writeCents(cents int64) string { return fmt.Sprintf("%d.%02d", cents/100, cents%100) }

// isAmount reports whether text is what writeCents writes.
func isAmount(text string) bool {
	whole, fraction, ok := strings.Cut(text, ".")
	if !ok || len(fraction) != 2 || whole == "" || len(whole) > 13 || (whole[0] == '0' && whole != "0") {
		return false
	}
	return strings.Trim(whole+fraction, "0123456789") == ""
}

// scanNumber reads a number at i as hundredths: 8240, 8,240.50, 1.2万, 3千5, 八千二百四十, 捌仟贰佰肆拾. ok is false for
// what is no number that money or things are counted in; end is then where it ends.
func scanNumber(text []rune, i int) (cents int64, end int, ok bool) {
	if isASCIIDigit(text[i]) {
		return scanDigits(text, i)
	}
	return scanHan(text, i)
}

func isASCIIDigit(r rune) bool { return r >= '0' && r <= '9' }

func scanDigits(text []rune, i int) (cents int64, end int, ok bool) {
	const longest = 13
	var whole int64
	digits, end := 0, i
	grouped := false
	for end < len(text) {
		r := text[end]
		if isASCIIDigit(r) {
			if digits++; digits > longest {
				return 0, endOfDigits(text, end), false
			}
			whole = whole*10 + int64(r-'0')
			end++
			continue
		}
		if r == ',' && threeDigits(text, end+1) && (grouped || digits <= 3) {
			grouped = true
			end++
			continue
		}
		break
	}
	cents, fraction, end, ok := scanFraction(text, end)
	if !ok {
		return 0, end, false
	}
	cents += whole * 100
	factor, after := magnitude(text, end)
	if after == end {
		// A third decimal is not rounded away silently.
		return cents, end, fraction <= 2 && cents <= maxCents
	}
	if fraction > 2 { // "1.235万"
		var hundredths int64
		if hundredths, ok = exact(text[i:end], factor); !ok {
			return 0, after, false
		}
		return hundredths, after, hundredths <= maxCents
	}
	if whole > maxCents/100/factor {
		return 0, after, false
	}
	cents *= factor
	// "1万2" is twelve thousand, "1万2千" is as well.
	if after < len(text) && isASCIIDigit(text[after]) && fraction == 0 && factor > 1 && text[after-1] != 'k' {
		rest := int64(text[after] - '0')
		switch {
		case after+1 == len(text) || (!isASCIIDigit(text[after+1]) && text[after+1] != '.' && text[after+1] != ','):
			if f, next := magnitude(text, after+1); next > after+1 && f < factor {
				return cents + rest*f*100, next, cents <= maxCents
			}
			return cents + rest*factor/10*100, after + 1, cents <= maxCents
		default:
			return 0, endOfDigits(text, after), false
		}
	}
	return cents, after, cents <= maxCents
}

// scanFraction reads the point at i and up to four digits after it; cents are the first two of them. Without a point,
// or without a digit after it, there is nothing to read, and that is ok.
func scanFraction(text []rune, i int) (cents int64, digits, end int, ok bool) {
	if i+1 >= len(text) || text[i] != '.' || !isASCIIDigit(text[i+1]) {
		return 0, 0, i, true
	}
	scale := int64(10)
	for end = i + 1; end < len(text) && isASCIIDigit(text[end]); end++ {
		digits++
		if digits > 4 {
			return 0, digits, endOfDigits(text, end), false
		}
		if digits <= 2 {
			cents += int64(text[end]-'0') * scale
			scale /= 10
		}
	}
	return cents, digits, end, true
}

// exact multiplies a decimal with up to four digits after the point by a factor of at least ten thousand.
func exact(number []rune, factor int64) (cents int64, ok bool) {
	if factor%10000 != 0 {
		return 0, false
	}
	var units, scale int64 = 0, 1
	seen := false
	for _, r := range number {
		switch {
		case r == '.':
			seen = true
		case isASCIIDigit(r):
			units = units*10 + int64(r-'0')
			if seen {
				scale *= 10
			}
		}
	}
	if units > maxCents/factor {
		return 0, false
	}
	return units * factor / scale * 100, true
}

func threeDigits(text []rune, i int) bool {
	for k := range 3 {
		if i+k >= len(text) || !isASCIIDigit(text[i+k]) {
			return false
		}
	}
	return i+3 >= len(text) || !isASCIIDigit(text[i+3])
}

func endOfDigits(text []rune, i int) int {
	for i < len(text) && (isASCIIDigit(text[i]) || text[i] == '.' || text[i] == ',') {
		i++
	}
	return i
}

// magnitude matches 万, 千, 亿 and k after a number.
func magnitude(text []rune, i int) (factor int64, end int) {
	if i >= len(text) {
		return 1, i
	}
	switch text[i] {
	case '百', '佰':
		return 100, i + 1
	case '千', '仟':
		return 1000, i + 1
	case '万':
		return 10_000, i + 1
	case '亿':
		return 100_000_000, i + 1
	case 'k':
		if i+1 == len(text) || !isAlphanumeric(text[i+1]) {
			return 1000, i + 1
		}
	}
	return 1, i
}

func hanDigit(r rune) int64 {
	switch r {
	case '零', '〇':
		return 0
	case '一', '壹':
		return 1
	case '二', '两', '贰', '貳':
		return 2
	case '三', '叁', '參':
		return 3
	case '四', '肆':
		return 4
	case '五', '伍':
		return 5
	case '六', '陆':
		return 6
	case '七', '柒':
		return 7
	case '八', '捌':
		return 8
	case '九', '玖':
		return 9
	}
	return -1
}

func hanUnit(r rune) int64 {
	switch r {
	case '十', '拾':
		return 10
	case '百', '佰':
		return 100
	case '千', '仟':
		return 1000
	}
	return 0
}

func isHanNumeral(r rune) bool { return hanDigit(r) >= 0 || hanUnit(r) > 0 || r == '万' || r == '亿' }

// scanHan reads Chinese numerals as they are spoken: 八千二 is 8200, 八千零二 is 8002, 一万五 is 15000, 八二四零 is 8240.
func scanHan(text []rune, i int) (cents int64, end int, ok bool) {
	const longest = 24
	end = i
	for end < len(text) && isHanNumeral(text[end]) {
		end++
	}
	run := text[i:end]
	if len(run) == 0 || len(run) > longest {
		return 0, max(end, i+1), false
	}
	value, ok := digitByDigit(run)
	if !ok {
		value, ok = spoken(run)
	}
	if !ok || value > maxCents/100 {
		return 0, end, false
	}
	return value * 100, end, true
}

func digitByDigit(run []rune) (value int64, ok bool) {
	const longest = 13
	for _, r := range run {
		d := hanDigit(r)
		if d < 0 || len(run) > longest || (r == '两' && len(run) > 1) {
			return 0, false
		}
		value = value*10 + d
	}
	return value, true
}

func spoken(run []rune) (value int64, ok bool) {
	const none = int64(1) << 40
	var sum, section int64
	digit, before, big := int64(-1), none, none // before is the unit before in this section, big the last 万 or 亿.
	last, zero := int64(0), false               // last is the unit that a final digit continues.
	for i, r := range run {
		if d := hanDigit(r); d >= 0 {
			if digit >= 0 {
				return 0, false
			}
			if d == 0 {
				zero = true
			} else {
				digit = d
			}
			continue
		}
		if unit := hanUnit(r); unit > 0 {
			if digit < 0 && (unit != 10 || (i > 0 && !zero && before != none)) {
				return 0, false
			}
			if unit >= before {
				return 0, false
			}
			section += max(digit, 1) * unit
			digit, before, last, zero = -1, unit, unit, false
			continue
		}
		factor := int64(10_000)
		if r == '亿' {
			factor = 100_000_000
		}
		section += max(digit, 0)
		if section == 0 || factor >= big {
			return 0, false
		}
		sum += section * factor
		section, digit, before, big, last, zero = 0, -1, none, factor, factor, false
	}
	tail := max(digit, 0)
	if !zero && last >= 100 {
		tail *= last / 10
	}
	return sum + section + tail, true
}
