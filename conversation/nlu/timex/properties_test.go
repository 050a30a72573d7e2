package timex_test

import (
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/hermes-orchestrator/hermes/conversation/nlu/timex"
)

// pieces are what texts of the property tests are made of: every word of the grammars next to every other.
func pieces() []string {
	return []string{
		"上", "下", "这", "本", "个", "月", "周", "星期", "礼拜", "年", "日", "号", "天", "前", "后", "最近", "过去", "未来", "去年",
		"今天", "大后天", "季度", "半年", "第", "最后", "末", "底", "初", "从", "到", "至", "-", "–", "~", "/", ".", "，", ",", " ",
		"1", "2", "5", "12", "15", "29", "30", "31", "32", "0", "2024", "9999", "24", "十", "二十", "三", "〇", "零", "两", "百", "万",
		"之前", "以后", "或之后", "起", "自", "和", "之间", "农历", "民国", "至今", "（", "）", "周日", "旬", "中", "１", "２", "\u200b",
		"May", "february", "Mar", "Friday", "sat", "last", "next", "this", "past", "week", "month", "quarter", "year", "days",
		"ago", "in", "the", "of", "from", "to", "between", "and", "since", "before", "until", "th", "first", "twenty",
		"Q1", "H2",
		"end", "mid", "weekend", "now", "$", "\xff", "😀",
	}
}

func TestFindProperties(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces()), 0, 14).Draw(t, "pieces"), "")
		year := rapid.IntRange(1, 9999).Draw(t, "year")
		days := rapid.IntRange(0, 366).Draw(t, "days")
		locale := rapid.SampledFrom([]string{"zh", "en", ""}).Draw(t, "locale")
		requireSound(t, text, locale, time.Date(year, time.January, 1+days, 12, 0, 0, 0, time.UTC))
	})
}

func FuzzFind(f *testing.F) {
	for _, seed := range []string{
		"我上个月去深圳了", "5月12–15日", "二〇二四年五月十二日", "from May 12 to 15", "10/1/2017-11/2/2017", "最近三天",
		"the last week of 2019", "农历八月初一", "9999年12月31日之后", "0001-01-01", "\xff\xfe5月", "5月\u200b12日",
	} {
		f.Add(seed, int64(1717401600))
	}
	f.Fuzz(func(t *testing.T, text string, unix int64) {
		ref := time.Unix(unix%(1<<37), 0).UTC()
		requireSound(t, text, "zh", ref)
		requireSound(t, text, "en", ref)
	})
}

// requireSound checks what holds for any text: dates of the calendar, in order, at places that exist.
func requireSound(t require.TestingT, text, locale string, ref time.Time) {
	end := 0
	for _, e := range timex.Find(text, locale, ref) {
		context := fmt.Sprintf("%q at %s: %+v", text, ref, e)
		require.GreaterOrEqual(t, e.Start, end, context)
		require.Greater(t, e.End, e.Start, context)
		require.LessOrEqual(t, e.End, len(text), context)
		require.Equal(t, text[e.Start:e.End], e.Text, context)
		require.True(t, utf8.RuneStart(text[e.Start]) || !utf8.ValidString(text), context)
		require.True(t, e.End == len(text) || utf8.RuneStart(text[e.End]) || !utf8.ValidString(text), context)
		require.NotEqual(t, 1, len(e.Ambiguous), context)
		requireReading(t, timex.Reading{From: e.From, To: e.To}, e.Kind, context)
		for i, r := range e.Ambiguous {
			requireReading(t, r, e.Kind, context)
			require.NotContains(t, e.Ambiguous[i+1:], r, context)
		}
		if len(e.Ambiguous) > 0 {
			require.Equal(t, timex.Reading{From: e.From, To: e.To}, e.Ambiguous[0], context)
		}
		end = e.End
	}
}

func requireReading(t require.TestingT, r timex.Reading, kind timex.Kind, context string) {
	for _, iso := range []string{r.From, r.To} {
		if iso != "" {
			_, err := time.Parse(time.DateOnly, iso)
			require.NoError(t, err, context)
		}
	}
	if kind == timex.KindDate {
		require.Equal(t, r.From, r.To, context)
	}
	if r.From != "" && r.To != "" {
		require.LessOrEqual(t, r.From, r.To, context)
	}
}

func TestFindIsLinear(t *testing.T) {
	t.Parallel()
	// Texts that would take minutes if any piece of them were read again for each of the others.
	for _, piece := range []string{"5月12日到", "1", "一", " ", "上", "《", "May ", "the ", "从", "2024-"} {
		text := strings.Repeat(piece, 128<<10/len(piece))
		timex.Find(text, "zh", monday())
	}
}
