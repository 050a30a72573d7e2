package timex_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/hermes-orchestrator/hermes/conversation/nlu/timex"
)

// monday is 2024-06-03, half an hour before midnight in Shanghai: in UTC it is the same day, in Auckland the next.
func monday() time.Time {
	return time.Date(2024, time.June, 3, 23, 30, 0, 0, time.FixedZone("CST", 8*3600))
}

// read writes what was found as "text=from..to", ambiguous readings with "|"; a single day without "..".
func read(text, locale string, ref time.Time) string {
	var all []string
	for _, e := range timex.Find(text, locale, ref) {
		readings := e.Ambiguous
		if len(readings) == 0 {
			readings = []timex.Reading{{From: e.From, To: e.To}}
		}
		var written []string
		for _, r := range readings {
			if e.Kind == timex.KindDate {
				written = append(written, r.From)
			} else {
				written = append(written, r.From+".."+r.To)
			}
		}
		all = append(all, e.Text+"="+strings.Join(written, "|"))
	}
	return strings.Join(all, "; ")
}

func TestFindChinese(t *testing.T) {
	t.Parallel()
	tests := []struct{ text, want string }{
		// Absolute.
		{"票是2024年5月12日开的", "2024年5月12日=2024-05-12"},
		{"２０２４年５月１２日", "２０２４年５月１２日=2024-05-12"},
		{"二〇二四年五月十二日", "二〇二四年五月十二日=2024-05-12"},
		{"二零二四年五月二十一号", "二零二四年五月二十一号=2024-05-21"},
		{"2024-05-12和2024/5/13", "2024-05-12=2024-05-12; 2024/5/13=2024-05-13"},
		{"2024.5.12", "2024.5.12=2024-05-12"},
		{"24年5月2日", "24年5月2日=2024-05-02"},
		{"99年5月2日", "99年5月2日=1999-05-02"},
		{"5月12日", "5月12日=2024-05-12|2025-05-12"},
		{"6月3日", "6月3日=2024-06-03"},
		{"12号", "12号=2024-06-12|2024-05-12"},
		{"31号", "31号=2024-05-31|2024-07-31"},
		{"2024年5月", "2024年5月=2024-05-01..2024-05-31"},
		{"五月份", "五月份=2024-05-01..2024-05-31|2025-05-01..2025-05-31"},
		{"2023年", "2023年=2023-01-01..2023-12-31"},
		{"2023年第四季度", "2023年第四季度=2023-10-01..2023-12-31"},
		{"去年下半年", "去年下半年=2023-07-01..2023-12-31"},
		{"民国113年5月1日", "民国113年5月1日=2024-05-01"},
		{"5月12日（周日）", "5月12日（周日）=2024-05-12"},
		{"2月29日", "2月29日=2024-02-29|2028-02-29"},
		// No such day, or not in this calendar.
		{"2月30日", "2月30日="},
		{"5月32日", "5月32日="},
		{"2023年2月29日", "2023年2月29日="},
		{"农历八月十五", "农历八月十五="},
		// Ranges.
		{"5月12日到15日去的", "5月12日到15日=2024-05-12..2024-05-15|2025-05-12..2025-05-15"},
		{"5月12–15日", "5月12–15日=2024-05-12..2024-05-15|2025-05-12..2025-05-15"},
		{"2024年5月12日至15日", "2024年5月12日至15日=2024-05-12..2024-05-15"},
		{"从2024年5月12号到5月15号", "从2024年5月12号到5月15号=2024-05-12..2024-05-15"},
		{"2024-05-12~2024-05-15", "2024-05-12~2024-05-15=2024-05-12..2024-05-15"},
		{"2023年12月28日到1月3日", "2023年12月28日到1月3日=2023-12-28..2024-01-03"},
		{"2024年5月12日（周日）到15日（周三）", "2024年5月12日（周日）到15日（周三）=2024-05-12..2024-05-15"},
		{"上个月12到15号", "上个月12到15号=2024-05-12..2024-05-15"},
		{"5-8月", "5-8月=2024-05-01..2024-08-31"},
		{"1995－1997年", "1995－1997年=1995-01-01..1997-12-31"},
		{"上周一到周五", "上周一到周五=2024-05-27..2024-05-31"},
		{"昨天到后天", "昨天到后天=2024-06-02..2024-06-05"},
		{"5.12-5.15", "5.12-5.15=2024-05-12..2024-05-15|2025-05-12..2025-05-15"},
		{"2024年5月12日和15日之间", "2024年5月12日和15日之间=2024-05-12..2024-05-15"},
		{"2024年5月12、13日", "2024年5月12=2024-05-12; 13日=2024-05-13"},
		{"2024年5月15日到12日", "2024年5月15日到12日=.."},
		{"自2024年5月12日起", "自2024年5月12日起=2024-05-12.."},
		{"2024年5月12日之前", "2024年5月12日之前=..2024-05-11"},
		{"2024年5月12日或之前", "2024年5月12日或之前=..2024-05-12"},
		{"2015年前", "2015年前=..2014-12-31"},
		{"5月12日至今", "5月12日至今=2024-05-12..2024-06-03"},
		// Relative.
		{"我上个月去深圳了", "上个月=2024-05-01..2024-05-31"},
		{"上個月", "上個月=2024-05-01..2024-05-31"},
		{"上月", "上月=2024-05-01..2024-05-31"},
		{"上上个月", "上上个月=2024-04-01..2024-04-30"},
		{"本月和下个月", "本月=2024-06-01..2024-06-30; 下个月=2024-07-01..2024-07-31"},
		{"上个月5号", "上个月5号=2024-05-05"},
		{"上个月底", "上个月底=2024-05-21..2024-05-31"},
		{"大前天前天昨天今天明天后天大后天", "大前天=2024-05-31; 前天=2024-06-01; 昨天=2024-06-02; " +
			"今天=2024-06-03; 明天=2024-06-04; 后天=2024-06-05; 大后天=2024-06-06"},
		{"上周三", "上周三=2024-05-29"},
		{"下下周日", "下下周日=2024-06-23"},
		{"这周", "这周=2024-06-03..2024-06-09"},
		{"上星期", "上星期=2024-05-27..2024-06-02"},
		{"下个礼拜天", "下个礼拜天=2024-06-16"},
		{"周五", "周五=2024-05-31|2024-06-07"},
		{"上周末", "上周末=2024-06-01..2024-06-02"},
		{"最近三天", "最近三天=2024-06-01..2024-06-03"},
		{"过去两周", "过去两周=2024-05-20..2024-06-02"},
		{"未来一个月", "未来一个月=2024-06-04..2024-07-03"},
		{"3天前", "3天前=2024-05-31"},
		{"两个星期后", "两个星期后=2024-06-17"},
		{"三个月前", "三个月前=2024-03-03"},
		{"半年前", "半年前=2023-12-03"},
		{"上季度", "上季度=2024-01-01..2024-03-31"},
		{"去年今年明年前年", "去年=2023-01-01..2023-12-31; 今年=2024-01-01..2024-12-31; " +
			"明年=2025-01-01..2025-12-31; 前年=2022-01-01..2022-12-31"},
		{"去年5月12号", "去年5月12号=2023-05-12"},
		{"last month 的", "last month=2024-05-01..2024-05-31"},
		// No dates at all.
		{"12号楼3号线", ""},
		{"3张，8240元，100日元", ""},
		{"一二三四五", ""},
		{"每周一次", ""},
		{"单号20240512001", ""},
		{"《明天之后》", ""},
		{"", ""},
	}
	for _, tt := range tests {
		t.Run(tt.text, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, tt.want, read(tt.text, "zh", monday()))
		})
	}
}

func TestFindEnglish(t *testing.T) {
	t.Parallel()
	tests := []struct{ text, want string }{
		// Absolute.
		{"It is dated May 12, 2024.", "May 12, 2024=2024-05-12"},
		{"MAY 12TH 2024", "MAY 12TH 2024=2024-05-12"},
		{"12th of May, 2024", "12th of May, 2024=2024-05-12"},
		{"12 May", "12 May=2024-05-12|2025-05-12"},
		{"Sept. 5, 2023", "Sept. 5, 2023=2023-09-05"},
		{"23/Sep/2023", "23/Sep/2023=2023-09-23"},
		{"2023-aug-01", "2023-aug-01=2023-08-01"},
		{"13/5/2024", "13/5/2024=2024-05-13"},
		{"5/12/2024", "5/12/2024=2024-05-12|2024-12-05"},
		{"may the twenty second, 2024", "may the twenty second, 2024=2024-05-22"},
		{"April 2024", "April 2024=2024-04-01..2024-04-30"},
		{"Q1 2023", "Q1 2023=2023-01-01..2023-03-31"},
		{"the second half of 2023", "the second half of 2023=2023-07-01..2023-12-31"},
		{"in 2023", "2023=2023-01-01..2023-12-31"},
		{"Friday, May 31", "Friday, May 31=2024-05-31"},
		{"the 5th", "the 5th=2024-06-05|2024-05-05"},
		{"Feb 30", "Feb 30="},
		// Ranges.
		{"from May 12 to 15, 2024", "from May 12 to 15, 2024=2024-05-12..2024-05-15"},
		{"May 12-15, 2024", "May 12-15, 2024=2024-05-12..2024-05-15"},
		{"12–15 May 2024", "12–15 May 2024=2024-05-12..2024-05-15"},
		{"between May 12 and May 15, 2024", "between May 12 and May 15, 2024=2024-05-12..2024-05-15"},
		{"from 2024-05-12 until 2024-05-15", "from 2024-05-12 until 2024-05-15=2024-05-12..2024-05-15"},
		{"Jan-Feb 2024", "Jan-Feb 2024=2024-01-01..2024-02-29"},
		{"Dec 28 to Jan 3, 2024", "Dec 28 to Jan 3, 2024=2023-12-28..2024-01-03"},
		{"Monday to Friday", "Monday to Friday=2024-06-03..2024-06-07"},
		{"since May 2024", "since May 2024=2024-05-01.."},
		{"before May 12, 2024", "before May 12, 2024=..2024-05-11"},
		{"by May 12, 2024", "by May 12, 2024=..2024-05-12"},
		// Relative.
		{"my trip of last month", "last month=2024-05-01..2024-05-31"},
		{"today, yesterday and tomorrow", "today=2024-06-03; yesterday=2024-06-02; tomorrow=2024-06-04"},
		{"the day before yesterday", "the day before yesterday=2024-06-01"},
		{"the past 3 days", "past 3 days=2024-05-31..2024-06-02"},
		{"2 weeks ago", "2 weeks ago=2024-05-20"},
		{"in three days", "in three days=2024-06-06"},
		{"next Friday", "next Friday=2024-06-14|2024-06-07"},
		{"last Monday", "last Monday=2024-05-27"},
		{"Monday of next week", "Monday of next week=2024-06-10"},
		{"last quarter", "last quarter=2024-01-01..2024-03-31"},
		{"last year", "last year=2023-01-01..2023-12-31"},
		{"the 5th of last month", "the 5th of last month=2024-05-05"},
		{"the last week of May 2024", "the last week of May 2024=2024-05-27..2024-06-02"},
		{"mid May 2024", "mid May 2024=2024-05-10..2024-05-20"},
		// No dates at all.
		{"May I submit? I may march on; the sun sat.", ""},
		{"a total of 2000", ""},
		{"3 pieces for $12 and 8240 yuan", ""},
		{"the first item, second one", ""},
		{"version 1.2.24, 80/90, 17:55", ""},
	}
	for _, tt := range tests {
		t.Run(tt.text, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, tt.want, read(tt.text, "en", monday()))
		})
	}
}

func TestFindUsesTheZoneOfTheReference(t *testing.T) {
	t.Parallel()
	auckland := monday().In(time.FixedZone("NZST", 12*3600))
	require.Equal(t, "今天=2024-06-04", read("今天", "zh", auckland))
	newYear := time.Date(2023, time.December, 31, 16, 30, 0, 0, time.UTC)
	require.Equal(t, "上个月=2023-11-01..2023-11-30", read("上个月", "zh", newYear))
	require.Equal(t, "上个月=2023-12-01..2023-12-31", read("上个月", "zh", newYear.In(time.FixedZone("CST", 8*3600))))
}

func TestYearOpen(t *testing.T) {
	t.Parallel()
	open := func(text string) bool {
		found := timex.Find(text, "en", monday())
		require.Len(t, found, 1)
		return found[0].YearOpen
	}
	require.True(t, open("5月12日到15日"), "only the year is left out")
	require.True(t, open("Feb 29"))
	require.False(t, open("12号"), "the month is left out as well")
	require.False(t, open("5/12"), "the order of day and month is not known")
	require.False(t, open("2024年5月12日"), "nothing is left out")
}

func ExampleFind() {
	sent := time.Date(2024, time.June, 3, 9, 0, 0, 0, time.FixedZone("CST", 8*3600))
	for _, e := range timex.Find("我上个月去深圳了，5月12日到15日", "zh", sent) {
		fmt.Println(e.Kind, e.Text, e.From, e.To, e.Ambiguous)
	}
	// Output:
	// daterange 上个月 2024-05-01 2024-05-31 []
	// daterange 5月12日到15日 2024-05-12 2024-05-15 [{2024-05-12 2024-05-15} {2025-05-12 2025-05-15}]
}

func BenchmarkFind(b *testing.B) {
	text := "我上个月去深圳了，5月12日到15日"
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		timex.Find(text, "zh", monday())
	}
}
