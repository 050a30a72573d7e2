package flow_test

import (
	"encoding/json"
	"regexp"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/hermes-orchestrator/hermes/conversation"
	"github.com/hermes-orchestrator/hermes/conversation/flow"
)

func fact(name, value string) conversation.Fact {
	return conversation.Fact{Name: name, Value: json.RawMessage(value)}
}

// full is a reply request with everything that any kind of reply may show.
func full(f *flow.Flow, kind conversation.ReplyKind, locale string) conversation.ReplyRequest {
	request := conversation.ReplyRequest{
		Kind: kind, Flow: f.Ref(), Zone: "Asia/Shanghai", Missing: []string{"invoices", "itinerary"}, Key: "receipt-1",
		Snapshot: conversation.Snapshot{EnteredAt: time.Date(2024, 6, 3, 2, 0, 0, 0, time.UTC), Facts: []conversation.Fact{
			fact("invoice_count", "1"), fact("blurred_count", "1"), fact("total", `"8240.50"`), fact("currency", `"CNY"`),
			fact("trip_dates", `{"start":"2024-05-12","end":"2024-05-15"}`), fact("budget_remaining", `"125000.00"`),
			fact("approver", `"Zhang"`), fact("expense_record", `"E-1"`),
		}},
		Failed: &conversation.FailedStep{Step: "budget", Tool: "finance_tool", Code: conversation.CodeToolUnavailable, Reason: "503"},
		Offer:  &conversation.Unfinished{Flow: f.Ref(), Summary: "x"},
		Reply: conversation.Reply{Locale: locale, EstimatedTime: "30s", Degraded: []conversation.Degraded{
			{Component: "tool:finance_tool", Strategy: "cache", AsOf: "2024-06-03T06:22:00Z", Step: "budget"},
			{Component: "memory:midterm", Strategy: "absent"},
		}},
	}
	if kind == conversation.ReplyReview {
		request.About = "blurred"
	}
	return request
}

var (
	chinese = regexp.MustCompile(`\p{Han}`)
	// A tool's, step's or fact's own name has no place in a text for people.
	technical = regexp.MustCompile(`[a-z]+_[a-z]+|<no value>|\{\{`)
)

// Every kind of reply can be rendered in every locale, in that language alone, with labels for its options.
func TestRenderEveryKindInEveryLocale(t *testing.T) {
	t.Parallel()
	f := expense(t)
	for _, locale := range []string{"zh", "en"} {
		for _, kind := range flow.ReplyKinds {
			t.Run(locale+" "+string(kind), func(t *testing.T) {
				t.Parallel()
				rendered, err := f.Render(full(f, kind, locale))
				require.NoError(t, err)
				require.NotEmpty(t, rendered.Text)
				require.NotRegexp(t, technical, rendered.Text)
				require.Equal(t, locale == "zh", chinese.MatchString(rendered.Text), rendered.Text)
				for _, option := range rendered.Options {
					require.NotEmpty(t, option.ID)
					require.Equal(t, locale == "zh", chinese.MatchString(option.Label), option.Label)
				}
				core, err := flow.RenderCore(full(f, kind, locale), []string{"x"})
				require.NoError(t, err)
				require.NotRegexp(t, technical, core.Text)
			})
		}
	}
}

func TestRenderEnglish(t *testing.T) {
	t.Parallel()
	f := expense(t)
	request := full(f, conversation.ReplyConfirmation, "en")
	request.Reply.Degraded = request.Reply.Degraded[:1]
	request.Findings = []conversation.Finding{{ID: "warning:rules:1", Kind: conversation.FindingWarning, Text: "住宿费￥3200，接近标准上限￥3500"}}
	rendered, err := f.Render(request)
	require.NoError(t, err)
	require.Equal(t, "The claim is checked: 1 invoice (CNY 8,240.50), trip May 12–15, 2024, the budget is sufficient; "+
		"the hotel is close to the limit. Approver: Zhang. Submit it?\n"+
		"Note: 住宿费￥3200，接近标准上限￥3500\n"+ // A tool's own words are passed on unchanged.
		"The budget has not been updated; it was last refreshed at 14:22", rendered.Text)
}

// What a tool or a cache holds cannot reach the user: a fact that the snapshot lacks is not shown, and what cannot be
// shown cannot be confirmed.
func TestRenderReadsTheSnapshotAlone(t *testing.T) {
	t.Parallel()
	f := expense(t)
	request := full(f, conversation.ReplyConfirmation, "zh")
	request.Snapshot.Facts = request.Snapshot.Facts[:5]
	_, err := f.Render(request)
	require.Equal(t, conversation.CodeInvalidFlow, conversation.CodeOf(err))
	require.ErrorContains(t, err, "approver")

	request = full(f, conversation.ReplyCommitted, "zh")
	request.Snapshot.Facts = nil
	rendered, err := f.Render(request)
	require.NoError(t, err)
	require.Equal(t, "已提交。", rendered.Text, "a reply must reach the user: the core's text takes the place of the flow's")
}

func TestRenderFatalFindingInTheReadersLanguage(t *testing.T) {
	t.Parallel()
	f := expense(t)
	request := full(f, conversation.ReplyFailed, "en")
	request.Findings = []conversation.Finding{{ID: "over_budget", Kind: conversation.FindingFatal, Text: "金额超出预算"}}
	rendered, err := f.Render(request)
	require.NoError(t, err)
	require.Equal(t, "It cannot be submitted: CNY 8,240.50 is more than the remaining budget of CNY 125,000", rendered.Text)
}

func TestRenderDegradedNotices(t *testing.T) {
	t.Parallel()
	f := expense(t)
	for name, tt := range map[string]struct {
		degraded conversation.Degraded
		want     string
	}{
		"the flow's words":       {conversation.Degraded{Strategy: "cache", AsOf: "2024-06-03T06:22:00Z", Step: "budget"}, "预算数据暂未更新，最新刷新时间为14:22"},
		"of another day":         {conversation.Degraded{Strategy: "cache", AsOf: "2024-06-01T06:22:00Z", Step: "budget"}, "预算数据暂未更新，最新刷新时间为2024-06-01 14:22"},
		"the core's words":       {conversation.Degraded{Strategy: "cache", AsOf: "2024-06-03T06:22:00Z", Step: "rules"}, "规则检查暂未更新，最新刷新时间为14:22"},
		"a step that is unknown": {conversation.Degraded{Strategy: "cache", AsOf: "2024-06-03T06:22:00Z"}, "部分数据暂未更新，最新刷新时间为14:22"},
		"absent":                 {conversation.Degraded{Strategy: "absent", Step: "rules"}, "规则检查暂时无法使用，以下内容不含其数据"},
		"preset answer":          {conversation.Degraded{Strategy: "mock", Step: "rules"}, "规则检查暂时无法使用，以下采用备用数据"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			request := full(f, conversation.ReplyMaterials, "zh")
			request.Reply.Degraded = []conversation.Degraded{tt.degraded}
			rendered, err := f.Render(request)
			require.NoError(t, err)
			require.Equal(t, "请提供发票照片和行程单\n"+tt.want, rendered.Text)
		})
	}
}

func TestFormats(t *testing.T) {
	t.Parallel()
	text := func(text string, err error) string {
		require.NoError(t, err)
		return text
	}
	require.Equal(t, "￥8,240", text(flow.Money(true, "8240.00", "CNY")))
	require.Equal(t, "CNY 8,240", text(flow.Money(false, "8240.00", "CNY")))
	require.Equal(t, "￥0.10", text(flow.Money(true, "0.1", "CNY")))
	require.Equal(t, "-￥1,234,567.125", text(flow.Money(true, "-1234567.125", "CNY")), "no digit is rounded away")
	require.Equal(t, "CHF 12", text(flow.Money(true, int64(12), "CHF")))
	_, err := flow.Money(true, "twelve", "CNY")
	require.Error(t, err)
	_, err = flow.Money(true, "1e999999", "CNY")
	require.Error(t, err)

	span := func(start, end string) map[string]any { return map[string]any{"start": start, "end": end} }
	for _, tt := range []struct {
		value  any
		zh, en string
	}{
		{span("2024-05-12", "2024-05-15"), "5月12-15日", "May 12–15, 2024"},
		{span("2024-05-12", "2024-05-12"), "5月12日", "May 12, 2024"},
		{"2024-05-12", "5月12日", "May 12, 2024"},
		{span("2024-05-30", "2024-06-02"), "5月30日至6月2日", "May 30 to June 2, 2024"},
		{span("2024-12-30", "2025-01-02"), "2024年12月30日至2025年1月2日", "December 30, 2024 to January 2, 2025"},
	} {
		require.Equal(t, tt.zh, text(flow.Dates(true, tt.value, false)))
		require.Equal(t, tt.en, text(flow.Dates(false, tt.value, false)))
	}
	require.Equal(t, "2024年5月12-15日", text(flow.Dates(true, span("2024-05-12", "2024-05-15"), true)))
	_, err = flow.Dates(true, span("2024-05-12", "soon"), false)
	require.Error(t, err)

	require.Equal(t, "a、b和c", text(flow.Join(true, []any{"a", "b", "c"})))
	require.Equal(t, "a, b and c", text(flow.Join(false, []string{"a", "b", "c"})))
	require.Equal(t, "a", text(flow.Join(true, []string{"a"})))
	require.Empty(t, text(flow.Join(true, []string{})))
	require.Equal(t, "93%", text(flow.Percent(0.934)))
	require.Equal(t, "100%", text(flow.Percent(int64(1))))
	require.Equal(t, "1 file", flow.Plural(int64(1), "file", "files"))
	require.Equal(t, "0 files", flow.Plural(0, "file", "files"))
}
