package rules_test

import (
	"context"
	"log/slog"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/hermes-orchestrator/hermes/conversation"
	"github.com/hermes-orchestrator/hermes/examples/expense/tools/internal/toolcall"
	"github.com/hermes-orchestrator/hermes/examples/expense/tools/rules"
	"github.com/hermes-orchestrator/hermes/tool"
)

type invoice map[string]any

// claim is the acceptance dialogue's, as the OCR tool reads it; change turns it into another one.
func claim(change func(arguments map[string]any, invoices []invoice)) map[string]any {
	invoices := []invoice{
		{
			"id": "24442000000031850627", "file": "invoices.png", "merchant": "深圳湾景酒店有限公司", "item": "住宿服务*住宿费",
			"date": "2024-05-15", "amount": "3200.00", "currency": "CNY", "confidence": 0.97,
		},
		{
			"id": "24312000000047291836", "file": "invoices.png", "merchant": "云鹏航空股份有限公司", "item": "运输服务*机票款",
			"date": "2024-05-12", "amount": "4560.00", "currency": "CNY", "confidence": 0.97,
		},
		{
			"id": "24442000000058163927", "file": "invoices.png", "merchant": "深圳市鹏行出租汽车有限公司",
			"date": "2024-05-14", "amount": "480.00", "currency": "CNY", "confidence": 0.64,
		},
	}
	arguments := map[string]any{
		"department": "采购部", "approval_chain": []string{"主管", "总监"}, "city": "深圳", "start": "2024-05-12",
		"end": "2024-05-15", "total": "8240.00",
	}
	change(arguments, invoices)
	if _, ok := arguments["invoices"]; !ok {
		arguments["invoices"] = invoices
	}
	return arguments
}

func TestCheck(t *testing.T) {
	t.Parallel()
	s, err := rules.New(rules.Config{Key: toolcall.Key(t), Logger: slog.New(slog.DiscardHandler)})
	require.NoError(t, err)
	caller := toolcall.New(t, rules.Name, s, map[string]tool.Operation{"check": toolcall.Read()}, "")
	const near = `"住宿费￥3200，接近标准上限￥3500"`
	tests := []struct {
		name   string
		change func(map[string]any, []invoice)
		want   string
	}{
		{
			"acceptance", func(map[string]any, []invoice) {},
			`{"valid":true,"warnings":[` + near + `],"errors":[],"approver":"张主管"}`,
		},
		{
			"well under the limit", func(a map[string]any, i []invoice) { i[0]["amount"], a["total"] = "3149.99", "8189.99" },
			`{"valid":true,"warnings":[],"errors":[],"approver":"张主管"}`,
		},
		{
			"exactly at the limit", func(a map[string]any, i []invoice) { i[0]["amount"], a["total"] = "3500.00", "8540.00" },
			`{"valid":true,"warnings":["住宿费￥3500，接近标准上限￥3500"],"errors":[],"approver":"张主管"}`,
		},
		{
			"over the limit", func(a map[string]any, i []invoice) { i[0]["amount"], a["total"] = "3500.01", "8540.01" },
			`{"valid":false,"warnings":[],"errors":["住宿费￥3500.01，超过标准上限￥3500"],"approver":"张主管"}`,
		},
		{"split over two invoices", func(_ map[string]any, i []invoice) {
			i[2]["merchant"] = "另一家酒店"
		}, `{"valid":false,"warnings":[],"errors":["住宿费￥3680，超过标准上限￥3500"],"approver":"张主管"}`},
		{
			"director above 10,000", func(a map[string]any, i []invoice) { i[1]["amount"], a["total"] = "6320.01", "10000.01" },
			`{"valid":true,"warnings":[` + near + `],"errors":[],"approver":"李总监"}`,
		},
		{
			"total does not add up", func(a map[string]any, _ []invoice) { a["total"] = "8000.00" },
			`{"valid":false,"warnings":[` + near + `],"errors":["申报金额￥8000与发票合计￥8240不一致"],"approver":"张主管"}`,
		},
		{
			"the same invoice twice", func(_ map[string]any, i []invoice) { i[2]["id"] = i[1]["id"] },
			`{"valid":false,"warnings":[` + near + `],"errors":["发票24312000000047291836重复"],"approver":"张主管"}`,
		},
		{
			"dollars", func(_ map[string]any, i []invoice) { i[1]["currency"] = "USD" },
			`{"valid":false,"warnings":[` + near + `],"errors":["机票款￥4560的币种是USD，只能报销人民币发票"],"approver":"张主管"}`,
		},
		{
			"a day after the trip", func(_ map[string]any, i []invoice) { i[1]["date"] = "2024-05-16" },
			`{"valid":true,"warnings":[` + near + `],"errors":[],"approver":"张主管"}`,
		},
		{
			"two days after the trip", func(_ map[string]any, i []invoice) { i[1]["date"] = "2024-05-17" },
			`{"valid":true,"warnings":[` + near + `,"机票款￥4560的开票日期2024-05-17不在行程前后一天之内"],"errors":[],"approver":"张主管"}`,
		},
		{
			"no date", func(_ map[string]any, i []invoice) { delete(i[1], "date") },
			`{"valid":true,"warnings":[` + near + `,"机票款￥4560的开票日期无法识别"],"errors":[],"approver":"张主管"}`,
		},
		{
			"figures instead of invoices", func(a map[string]any, _ []invoice) { a["invoices"] = []invoice{} },
			`{"valid":true,"warnings":["金额由申报人填写，未核对发票"],"errors":[],"approver":"张主管"}`,
		},
		{
			"city without a limit", func(a map[string]any, _ []invoice) { a["city"] = "" },
			`{"valid":true,"warnings":[],"errors":[],"approver":"张主管"}`,
		},
		{
			"nobody may approve", func(a map[string]any, _ []invoice) {
				a["department"], a["approval_chain"] = "行政部", []string{"主管"}
			},
			`{"valid":false,"warnings":[` + near + `],"errors":["行政部没有可以审批￥8240的审批人"],"approver":""}`,
		},
	}
	for _, tt := range tests {
		answer, err := caller.Invoke(context.Background(), "check", strings.ReplaceAll(tt.name, " ", "-"), claim(tt.change))
		require.NoError(t, err, tt.name)
		require.JSONEq(t, tt.want, string(answer.Output), tt.name)
	}
	_, err = caller.Invoke(context.Background(), "check", "not-exact", claim(func(a map[string]any, _ []invoice) {
		a["total"] = "8240.001"
	}))
	require.Equal(t, conversation.CodeToolRefused, conversation.CodeOf(err))
}

func TestNewEngineNamesTheWrongRule(t *testing.T) {
	t.Parallel()
	for give, want := range map[string]string{
		`rules: [{id: r1, level: fatal, when: "true", text: "''"}]`:             "r1",
		`rules: [{id: r2, level: error, when: total, text: "''"}]`:              "r2",
		`rules: [{id: r3, level: error, when: "true", text: nobody}]`:           "r3",
		`rules: [{id: r4, level: error, each: user, when: "true", text: "''"}]`: "r4",
		`limits: {hotel: {深圳: "3,500"}}`:                                        "深圳",
		`approvers: [{department: d, title: t, name: n5, when: "total + 1"}]`:   "n5",
		`regeln: []`: "regeln",
	} {
		_, err := rules.NewEngine([]byte("categories: [{name: other, label: 其他}]\n" + give))
		require.Equal(t, conversation.CodeInvalidConfig, conversation.CodeOf(err), give)
		require.ErrorContains(t, err, want)
	}
}

// A rule that cannot be evaluated gives no verdict: it must not count as "nothing found".
func TestRuleThatFailsGivesNoVerdict(t *testing.T) {
	t.Parallel()
	engine, err := rules.NewEngine([]byte(`
categories: [{name: other, label: 其他}]
rules: [{id: missing_key, level: error, when: 'limits.hotel["深圳"] > 0', text: '""'}]
`))
	require.NoError(t, err)
	_, err = engine.Check(rules.Claim{Department: "采购部"})
	require.ErrorContains(t, err, "missing_key")
}
