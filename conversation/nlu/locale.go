package nlu

import (
	"unicode"

	"github.com/hermes-orchestrator/hermes/conversation"
)

// certainLocale returns the language of a text if there is no doubt about it, else "". "OK" is said in both, and a name
// in Latin letters does not make a Chinese sentence English.
func certainLocale(text string) string {
	han, words, inWord := 0, 0, false
	for _, r := range text {
		switch {
		case unicode.In(r, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Cyrillic, unicode.Arabic):
			return ""
		case unicode.Is(unicode.Han, r):
			han++
			inWord = false
		case (r >= 'a' && r <= 'z') || (r >= 'A' && r <= 'Z'):
			if !inWord {
				words++
			}
			inWord = true
		case r == '\'' || r == '’':
		case unicode.IsLetter(r):
			return ""
		default:
			inWord = false
		}
	}
	switch {
	case han >= 2 && words <= han/2:
		return conversation.LocaleChinese
	case han == 0 && words >= 3:
		return conversation.LocaleEnglish
	}
	return ""
}
