package flow_test

import (
	"context"
	"encoding/json"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/hermes-orchestrator/hermes/conversation"
	"github.com/hermes-orchestrator/hermes/conversation/flow"
)

func expense(t require.TestingT) *flow.Flow {
	f, err := flow.Load(os.DirFS("../../examples/expense"), "flow.yaml")
	require.NoError(t, err)
	return f
}

// tools is a registry whose health a test sets by "<tool>.<operation>".
type tools map[string]flow.Capability

func (c tools) Capability(_ context.Context, tool, operation string, _ json.RawMessage) (flow.Capability, error) {
	if capability, ok := c[tool+"."+operation]; ok {
		return capability, nil
	}
	effect := "read"
	if operation == "debit" {
		effect = "write"
	}
	return flow.Capability{Effect: effect, TimeoutMS: 1000, MaxAttempts: 2, BackoffMS: 10}, nil
}

func answer(step, tool, output string) conversation.Answer {
	return conversation.Answer{
		Step: step, Tool: tool, MessageID: "m-" + step, Status: conversation.AnswerOK, Output: json.RawMessage(output),
		Proof: &conversation.Proof{Tool: tool}, Diagnostics: conversation.Diagnostics{ConfidenceScore: 0.9},
	}
}

var (
	departmentAnswer = answer("department", "org_tool", `{"dept":"采购部","approval_chain":["主管","总监"]}`)
	budgetAnswer     = answer("budget", "finance_tool", `{"budget_remaining":"125000.00","currency":"CNY"}`)
	uploadsAnswer    = answer("read_uploads", "ocr_tool", `{"invoices":[
		{"id":"i1","amount":"3200.00","confidence":0.93},{"id":"i2","amount":"4560.00","confidence":0.91},{"id":"i3","amount":"480.00","confidence":0.52}],
		"itineraries":[{"file":"itinerary.png","city":"深圳","dates":{"start":"2024-05-12","end":"2024-05-15"},"confidence":0.9}],"unreadable":[]}`)
	tripAnswer  = answer("trip", "trip_tool", `{"valid":true,"trip_id":"T-1","reason":""}`)
	rulesAnswer = answer("rules", "rule_engine_tool", `{"valid":true,"warnings":["住宿费￥3200，接近标准上限￥3500"],"errors":[],"approver":"张主管"}`)
	debitAnswer = answer("debit", "finance_tool", `{"record_id":"E-1","budget_remaining":"116760.00","approved_by":"张主管"}`)
)

// walk plays a phase with literal answers in the given order until nothing is left to call.
type walk struct {
	t       require.TestingT
	flow    *flow.Flow
	tools   tools
	answers map[string]conversation.Answer
	plan    conversation.Plan
	writes  []conversation.Write
	called  []string
}

func newWalk(t require.TestingT) *walk {
	w := &walk{t: t, flow: expense(t), tools: tools{}, answers: map[string]conversation.Answer{}}
	for _, a := range []conversation.Answer{departmentAnswer, budgetAnswer, uploadsAnswer, tripAnswer, rulesAnswer, debitAnswer} {
		w.answers[a.Step] = a
	}
	w.plan.Case = conversation.Case{Intent: "expense_submit", Facts: []conversation.Fact{
		{Name: "city", Value: json.RawMessage(`"深圳"`), Status: conversation.FactDeclared},
		{Name: "period", Value: json.RawMessage(`{"start":"2024-05-01","end":"2024-05-31"}`), Status: conversation.FactDeclared},
	}}
	return w
}

func (w *walk) request(phase conversation.Phase) conversation.PlanRequest {
	return conversation.PlanRequest{
		Flow: w.flow.Ref(), Phase: phase, Now: time.Date(2024, 6, 3, 2, 0, 0, 0, time.UTC), Zone: "Asia/Shanghai",
		Locale: "zh", Case: w.plan.Case, MessageID: "m",
	}
}

func (w *walk) step(request conversation.PlanRequest) {
	plan, err := w.flow.Plan(context.Background(), request, flow.User{ID: "u-1"}, w.tools)
	require.NoError(w.t, err)
	w.plan = plan
	w.writes = append(w.writes, plan.Writes...)
}

func (w *walk) phase(phase conversation.Phase) {
	w.step(w.request(phase))
	for len(w.plan.Calls) > 0 {
		request := w.request(phase)
		for _, call := range w.plan.Calls {
			w.called = append(w.called, call.Step)
			request.Answers = append(request.Answers, w.answers[call.Step])
		}
		w.step(request)
	}
}

func (w *walk) upload(names ...string) {
	for _, name := range names {
		w.plan.Case.Materials = append(w.plan.Case.Materials, conversation.Material{Attachment: conversation.Attachment{Name: name, SHA256: name}})
	}
}

func (w *walk) render(kind conversation.ReplyKind, about string) conversation.Rendered {
	rendered, err := w.flow.Render(conversation.ReplyRequest{
		Kind: kind, About: about, Flow: w.flow.Ref(), Missing: w.plan.Missing, Findings: w.plan.Case.Findings, Zone: "Asia/Shanghai",
		Snapshot: conversation.Snapshot{Facts: w.plan.Case.Facts, EnteredAt: time.Date(2024, 6, 3, 2, 0, 0, 0, time.UTC)},
		Reply:    conversation.Reply{Locale: "zh", Degraded: w.plan.Case.Degraded},
	})
	require.NoError(w.t, err)
	return rendered
}

// The worked example of SPEC F, from the first sentence to what is remembered.
func TestAcceptanceWalk(t *testing.T) {
	t.Parallel()
	w := newWalk(t)
	w.phase(conversation.PhasePrepare)
	require.Equal(t, []string{"department", "budget"}, w.called, "finance needs the department")
	require.Equal(t, []string{"invoices", "itinerary"}, w.plan.Missing)
	require.Equal(t, "请提供发票照片和行程单", w.render(conversation.ReplyMaterials, "").Text)

	w.upload("invoices.png", "itinerary.png")
	w.phase(conversation.PhaseInspect)
	require.Empty(t, w.plan.Missing)
	require.True(t, w.plan.SymbolsChanged || len(w.plan.Case.Symbols) == 2)

	w.phase(conversation.PhaseValidate)
	require.Equal(t, []string{"department", "budget", "read_uploads", "trip", "rules"}, w.called)
	open := w.plan.Case.OpenReviews()
	require.Len(t, open, 1)
	require.Equal(t, "检测到3张发票，其中1张金额模糊，是否重新上传？", w.render(conversation.ReplyReview, open[0].ID).Text)

	accepted, tolerance := w.flow.Accept(w.plan.Case, "blurred", "m-7")
	require.Equal(t, []conversation.Write{{Kind: conversation.WritePreference, Name: "ocr_confidence_min", Value: json.RawMessage("0.4"), ConfirmedBy: "m-7"}}, tolerance)
	w.plan.Case = accepted
	w.phase(conversation.PhaseValidate)
	require.Empty(t, w.plan.Case.OpenReviews())
	require.NotEmpty(t, w.plan.Digest)
	shown := w.plan.Digest
	confirmation := w.render(conversation.ReplyConfirmation, "")
	require.Equal(t, "报销单已校验通过，含3张发票（￥8,240），行程5月12-15日，预算余额充足，住宿费接近上限。审批人：张主管。是否提交？\n提示：住宿费￥3200，接近标准上限￥3500", confirmation.Text)
	require.Equal(t, []conversation.Option{{ID: "confirm", Label: "确认"}, {ID: "modify", Label: "修改"}, {ID: "cancel", Label: "取消"}}, confirmation.Options)

	w.step(w.request(conversation.PhaseCommit))
	require.Equal(t, shown, w.plan.Digest, "what would be done is what was shown")
	require.JSONEq(t, `{"user_id":"u-1","department":"采购部","amount":"8240.00","currency":"CNY","approver":"张主管","trip_id":"T-1"}`, string(w.plan.Calls[0].Arguments))
	w.phase(conversation.PhaseCommit)
	require.Equal(t, "报销单已提交，单号E-1，金额￥8,240，审批人：张主管。", w.render(conversation.ReplyCommitted, "").Text)

	relations := map[string]int{}
	for _, write := range w.writes {
		if write.Relation != nil {
			require.NotNil(t, write.Proof)
			relations[write.Relation.From.Type+" "+write.Relation.Type+" "+write.Relation.To.Type]++
		}
	}
	require.Equal(t, map[string]int{
		"invoice belongs_to user": 3, "trip belongs_to user": 1, "invoice occurred_during trip": 3, "expense_record approved_by approver": 1,
	}, relations)
}

func TestToleranceRelaxesLaterChecks(t *testing.T) {
	t.Parallel()
	w := newWalk(t)
	w.phase(conversation.PhasePrepare)
	w.upload("a")
	request := w.request(conversation.PhaseInspect)
	request.Preferences = map[string]json.RawMessage{"ocr_confidence_min": json.RawMessage("0.4")}
	request.Answers = []conversation.Answer{uploadsAnswer}
	w.step(request)
	blurred, _ := w.plan.Case.Fact("blurred_count")
	require.JSONEq(t, "0", string(blurred.Value))
}

func TestUnreadableUploadsAskForFigures(t *testing.T) {
	t.Parallel()
	w := newWalk(t)
	w.tools["ocr_tool.read"] = flow.Capability{Effect: "read", Unhealthy: "tesseract is not installed"}
	w.phase(conversation.PhasePrepare)
	w.upload("a.png")
	w.phase(conversation.PhaseInspect)
	require.Equal(t, "read_uploads", w.plan.Manual)
	require.Contains(t, w.render(conversation.ReplyManual, "read_uploads").Text, "发票总金额、发票张数和行程起止日期")
	for name, value := range map[string]string{"declared_total": `"8240.00"`, "declared_count": "3", "trip_dates": `{"start":"2024-05-12","end":"2024-05-15"}`} {
		w.plan.Case.SetFact(conversation.Fact{Name: name, Value: json.RawMessage(value), Status: conversation.FactDeclared})
	}
	w.phase(conversation.PhaseInspect)
	require.Empty(t, w.plan.Manual)
	require.Empty(t, w.plan.Missing)
	total, _ := w.plan.Case.Fact("total")
	require.JSONEq(t, `"8240.00"`, string(total.Value))
}

func TestFailedToolNeedsAPersonAndIsTriedAgain(t *testing.T) {
	t.Parallel()
	w := newWalk(t)
	w.phase(conversation.PhasePrepare)
	w.upload("a", "b")
	w.phase(conversation.PhaseInspect)
	request := w.request(conversation.PhaseValidate)
	request.Answers = []conversation.Answer{tripAnswer}
	request.Failed = []conversation.FailedStep{{Step: "rules", Tool: "rule_engine_tool", Code: conversation.CodeToolUnavailable, Reason: "down"}}
	w.step(request)
	require.Empty(t, w.plan.Calls, "what failed is not called again by itself")
	require.Equal(t, "tool_failed:rules", w.plan.Case.OpenReviews()[0].ID)
	require.Empty(t, w.plan.Digest, "nothing can be confirmed")
	w.phase(conversation.PhaseValidate)
	require.Equal(t, "blurred", w.plan.Case.OpenReviews()[0].ID)
}

// A check that cannot be evaluated must reach a person, whatever the reason.
func TestCheckThatCannotBeDoneIsAReview(t *testing.T) {
	t.Parallel()
	w := newWalk(t)
	w.phase(conversation.PhasePrepare)
	w.upload("a", "b")
	w.phase(conversation.PhaseInspect)
	w.answers["trip"] = answer("trip", "trip_tool", `{"valid":null,"trip_id":"T","reason":""}`)
	w.phase(conversation.PhaseValidate)
	require.Equal(t, "cannot_check:trip_unknown", w.plan.Case.OpenReviews()[1].ID)
	require.Contains(t, w.render(conversation.ReplyReview, "cannot_check:trip_unknown").Text, "出差记录")
}

func TestDegradedAnswerIsNamedAndProvesNothing(t *testing.T) {
	t.Parallel()
	w := newWalk(t)
	cached := budgetAnswer
	cached.Proof, cached.Degraded = nil, &conversation.Degraded{Component: "tool:finance_tool", Strategy: "cache", Reason: "503", AsOf: "2024-06-03T06:22:00Z"}
	w.answers["budget"] = cached
	w.phase(conversation.PhasePrepare)
	fact, _ := w.plan.Case.Fact("budget_remaining")
	require.Equal(t, conversation.FactDegraded, fact.Status)
	require.Equal(t, "请提供发票照片和行程单\n预算数据暂未更新，最新刷新时间为14:22", w.render(conversation.ReplyMaterials, "").Text)
	require.Empty(t, w.writes)
}

func TestResetForgetsWhatWasBuiltOnIt(t *testing.T) {
	t.Parallel()
	w := newWalk(t)
	w.phase(conversation.PhasePrepare)
	w.upload("a", "b")
	w.phase(conversation.PhaseInspect)
	w.phase(conversation.PhaseValidate)
	w.plan.Case = w.flow.Reset(w.plan.Case, []string{"invoices"})
	require.Empty(t, w.plan.Case.Findings)
	for _, gone := range []string{"invoices", "total", "approver", "trip_id"} {
		_, found := w.plan.Case.Fact(gone)
		require.False(t, found, gone)
	}
	_, kept := w.plan.Case.Fact("trip_dates")
	require.True(t, kept)
	w.phase(conversation.PhaseInspect)
	require.Equal(t, []string{"invoices"}, w.plan.Missing)
}

func TestWriteBeforeConfirmationIsRefused(t *testing.T) {
	t.Parallel()
	w := newWalk(t)
	w.tools["org_tool.lookup"] = flow.Capability{Effect: "write"}
	_, err := w.flow.Plan(context.Background(), w.request(conversation.PhasePrepare), flow.User{ID: "u"}, w.tools)
	require.Equal(t, conversation.CodeInvalidFlow, conversation.CodeOf(err))
}

// The order in which independent answers arrive, and whether they come together, does not change what is known.
func TestAnswersCommute(t *testing.T) {
	t.Parallel()
	w := newWalk(t)
	w.phase(conversation.PhasePrepare)
	w.upload("invoices.png", "itinerary.png")
	w.phase(conversation.PhaseInspect)
	base := w.plan.Case
	w.phase(conversation.PhaseValidate)
	want := w.plan
	rapid.Check(t, func(t *rapid.T) {
		other := newWalk(t)
		other.plan.Case = base
		answers := rapid.Permutation([]conversation.Answer{tripAnswer, rulesAnswer}).Draw(t, "answers")
		waves := [][]conversation.Answer{answers}
		if rapid.Bool().Draw(t, "one by one") {
			waves = [][]conversation.Answer{answers[:1], answers[1:]}
		}
		for _, wave := range waves {
			request := other.request(conversation.PhaseValidate)
			request.Answers = wave
			other.step(request)
		}
		require.Equal(t, want.Digest, other.plan.Digest)
		require.ElementsMatch(t, want.Case.Facts, other.plan.Case.Facts)
		require.ElementsMatch(t, want.Case.Findings, other.plan.Case.Findings)
		require.ElementsMatch(t, want.Case.Done, other.plan.Case.Done)
	})
}

// Whatever answers and failures come in whatever phase, a plan never loses a fact that is not derived, never calls what
// is done, and gives the same for the same request.
func TestPlanIsPure(t *testing.T) {
	t.Parallel()
	f := expense(t)
	all := []conversation.Answer{departmentAnswer, budgetAnswer, uploadsAnswer, tripAnswer, rulesAnswer}
	rapid.Check(t, func(t *rapid.T) {
		w := newWalk(t)
		w.flow = f
		for range rapid.IntRange(1, 6).Draw(t, "rounds") {
			if rapid.Bool().Draw(t, "upload") {
				w.upload(rapid.SampledFrom([]string{"invoices.png", "itinerary.png", "x.png"}).Draw(t, "file"))
			}
			phase := rapid.SampledFrom([]conversation.Phase{conversation.PhasePrepare, conversation.PhaseInspect, conversation.PhaseValidate}).Draw(t, "phase")
			request := w.request(phase)
			request.Answers = append(request.Answers, rapid.SliceOfNDistinct(rapid.SampledFrom(all), 0, 3, func(a conversation.Answer) string { return a.Step }).Draw(t, "answers")...)
			before := request.Case.Clone()
			first, err := f.Plan(context.Background(), request, flow.User{ID: "u-1"}, w.tools)
			second, again := f.Plan(context.Background(), request, flow.User{ID: "u-1"}, w.tools)
			require.Equal(t, first, second)
			require.Equal(t, err, again)
			require.Equal(t, before, request.Case, "a request is not changed")
			if err != nil { // Arguments of a step that needs what is not known yet.
				require.Equal(t, conversation.CodeInvalidFlow, conversation.CodeOf(err))
				continue
			}
			for _, fact := range before.Facts {
				_, kept := first.Case.Fact(fact.Name)
				require.True(t, kept || fact.Status == conversation.FactDerived, fact.Name)
			}
			for _, call := range first.Calls {
				require.NotContains(t, first.Case.Done, call.Step)
			}
			w.plan = first
		}
	})
}

func TestUploadsAreReadInRounds(t *testing.T) {
	t.Parallel()
	w := newWalk(t)
	w.phase(conversation.PhasePrepare)
	w.upload("invoices.png")
	invoicesOnly := answer("read_uploads", "ocr_tool", `{"invoices":[{"id":"i1","file":"invoices.png","amount":"3200.00","confidence":0.9}],"itineraries":[],"unreadable":[]}`)
	w.answers["read_uploads"] = invoicesOnly
	w.phase(conversation.PhaseInspect)
	require.Equal(t, []string{"itinerary"}, w.plan.Missing)
	require.Equal(t, "invoices", w.plan.Case.Materials[0].Name)
	require.True(t, w.plan.Case.Materials[0].Inspected)
	w.phase(conversation.PhaseInspect)
	require.Equal(t, []string{"department", "budget", "read_uploads"}, w.called, "nothing new, nothing to read")

	w.upload("itinerary.png", "again.png")
	w.step(w.request(conversation.PhaseInspect))
	require.Equal(t, "已上传2个文件，待识别", w.plan.Summary)
	var arguments struct {
		Documents []struct {
			Name string `json:"name"`
		} `json:"documents"`
	}
	require.NoError(t, json.Unmarshal(w.plan.Calls[0].Arguments, &arguments))
	require.Len(t, arguments.Documents, 2, "only what is new")
	w.answers["read_uploads"] = answer("read_uploads", "ocr_tool", `{"invoices":[{"id":"i1","file":"again.png","amount":"3200.00","confidence":0.95}],
		"itineraries":[{"file":"itinerary.png","dates":{"start":"2024-05-12","end":"2024-05-15"}}],"unreadable":[]}`)
	w.phase(conversation.PhaseInspect)
	require.Empty(t, w.plan.Missing)
	total, _ := w.plan.Case.Fact("total")
	require.JSONEq(t, `"3200.00"`, string(total.Value), "one invoice photographed twice counts once")
	require.Equal(t, "itinerary", w.plan.Case.Materials[1].Name)

	w.plan.Case = w.flow.Reset(w.plan.Case, []string{"itinerary"})
	require.Len(t, w.plan.Case.Materials, 2, "the upload goes with its material")
}

func TestSlowToolIsNotAskedTwice(t *testing.T) {
	t.Parallel()
	w := newWalk(t)
	w.phase(conversation.PhasePrepare)
	w.upload("invoices.png", "itinerary.png")
	slow := uploadsAnswer
	slow.Status, slow.Output = conversation.AnswerProcessing, nil
	request := w.request(conversation.PhaseInspect)
	request.Answers = []conversation.Answer{slow}
	w.step(request)
	require.Empty(t, w.plan.Calls)
	w.step(w.request(conversation.PhaseInspect))
	require.Empty(t, w.plan.Calls, "the files are in its hands")
	request = w.request(conversation.PhaseInspect)
	request.Answers = []conversation.Answer{uploadsAnswer}
	w.step(request)
	require.Empty(t, w.plan.Missing)
}

func TestUnreadableUploadIsNamedUntilTheNext(t *testing.T) {
	t.Parallel()
	w := newWalk(t)
	w.phase(conversation.PhasePrepare)
	w.upload("cat.png")
	w.answers["read_uploads"] = answer("read_uploads", "ocr_tool", `{"invoices":[],"itineraries":[],"unreadable":[{"file":"cat.png","reason":"看不清"}]}`)
	w.phase(conversation.PhaseInspect)
	require.Equal(t, "cat.png: 看不清。请提供发票照片和行程单", w.render(conversation.ReplyNotUsable, "").Text)
	w.upload("invoices.png")
	w.answers["read_uploads"] = uploadsAnswer
	w.phase(conversation.PhaseInspect)
	require.Empty(t, w.plan.Case.Findings)
}

// An acceptance holds as long as what was accepted is what it was.
func TestAcceptedStaysAcceptedWhileFactsAreTheSame(t *testing.T) {
	t.Parallel()
	w := newWalk(t)
	w.phase(conversation.PhasePrepare)
	w.upload("invoices.png", "itinerary.png")
	w.phase(conversation.PhaseInspect)
	w.phase(conversation.PhaseValidate)
	w.plan.Case, _ = w.flow.Accept(w.plan.Case, "blurred", "m-7")

	w.plan.Case = w.flow.Reset(w.plan.Case, nil)
	w.phase(conversation.PhaseValidate)
	require.Empty(t, w.plan.Case.OpenReviews(), "the checks ran again over the same invoices")
	require.Equal(t, []string{"department", "budget", "read_uploads", "trip", "rules", "trip", "rules"}, w.called)

	w.plan.Case = w.flow.Reset(w.plan.Case, []string{"invoices"})
	w.upload("others.png")
	w.answers["read_uploads"] = answer("read_uploads", "ocr_tool", `{"invoices":[{"id":"i9","amount":"10.00","confidence":0.1}],"itineraries":[],"unreadable":[]}`)
	w.phase(conversation.PhaseInspect)
	w.phase(conversation.PhaseValidate)
	require.Equal(t, "blurred", w.plan.Case.OpenReviews()[0].ID, "one amount is blurred as before, but of another invoice")
}

func TestCheckThatCannotBeDoneCanBeAccepted(t *testing.T) {
	t.Parallel()
	w := newWalk(t)
	w.phase(conversation.PhasePrepare)
	w.upload("invoices.png", "itinerary.png")
	w.phase(conversation.PhaseInspect)
	w.answers["trip"] = answer("trip", "trip_tool", `{"valid":null,"trip_id":"T","reason":""}`)
	w.phase(conversation.PhaseValidate)
	for _, open := range w.plan.Case.OpenReviews() {
		w.plan.Case, _ = w.flow.Accept(w.plan.Case, open.ID, "m-8")
	}
	w.phase(conversation.PhaseValidate)
	require.Empty(t, w.plan.Case.OpenReviews())
}

// An answer that does not fit is a failed call where a person can decide, and an error where nobody can.
func TestMisfittingAnswer(t *testing.T) {
	t.Parallel()
	w := newWalk(t)
	request := w.request(conversation.PhasePrepare)
	request.Answers = []conversation.Answer{answer("department", "org_tool", `{"department":"采购部"}`)}
	_, err := w.flow.Plan(context.Background(), request, flow.User{ID: "u"}, w.tools)
	require.Equal(t, conversation.CodeToolMisbehaved, conversation.CodeOf(err))

	w.phase(conversation.PhasePrepare)
	w.upload("invoices.png", "itinerary.png")
	w.phase(conversation.PhaseInspect)
	request = w.request(conversation.PhaseValidate)
	request.Answers = []conversation.Answer{tripAnswer, answer("rules", "rule_engine_tool", `{"valid":true}`)}
	w.step(request)
	require.Equal(t, "tool_failed:rules", w.plan.Case.OpenReviews()[0].ID)
	_, half := w.plan.Case.Fact("rules_valid")
	require.False(t, half, "an answer is taken as a whole or not at all")
	require.Empty(t, w.writes[len(w.writes)-1].ConfirmedBy)
	require.Equal(t, "规则检查暂时无法使用，已保留您提供的内容。请稍后重试。", w.render(conversation.ReplyToolFailed, "tool_failed:rules").Text)
}

// What another step of the same tool answered later does not make an old answer fresh.
func TestDegradedNoticeBelongsToItsStep(t *testing.T) {
	t.Parallel()
	w := newWalk(t)
	cached := budgetAnswer
	cached.Proof, cached.Degraded = nil, &conversation.Degraded{Strategy: "cache", AsOf: "2024-06-03T06:22:00Z"}
	w.answers["budget"] = cached
	for _, phase := range []conversation.Phase{conversation.PhasePrepare, conversation.PhaseInspect, conversation.PhaseValidate, conversation.PhaseCommit} {
		if phase == conversation.PhaseInspect {
			w.upload("invoices.png", "itinerary.png")
		}
		w.phase(phase)
	}
	require.Equal(t, "E-1", factText(t, w, "expense_record"))
	require.Len(t, w.plan.Case.Degraded, 1)
	require.Equal(t, "budget", w.plan.Case.Degraded[0].Step)
}

func factText(t *testing.T, w *walk, name string) string {
	fact, found := w.plan.Case.Fact(name)
	require.True(t, found, name)
	var text string
	require.NoError(t, json.Unmarshal(fact.Value, &text))
	return text
}

func TestPlanRefusesWhatIsNotForIt(t *testing.T) {
	t.Parallel()
	w := newWalk(t)
	request := w.request(conversation.PhasePrepare)
	request.Flow.Version = "other"
	_, err := w.flow.Plan(context.Background(), request, flow.User{}, w.tools)
	require.Equal(t, conversation.CodeUnknownFlow, conversation.CodeOf(err))
	_, err = w.flow.Plan(context.Background(), w.request("later"), flow.User{}, w.tools)
	require.Equal(t, conversation.CodeInvalidArgument, conversation.CodeOf(err))
}

// The digest binds the receipt to everything that the user was shown, however it was spelled on the way.
func TestDigestBindsWhatIsShown(t *testing.T) {
	t.Parallel()
	shown := func(change func(*walk)) string {
		w := newWalk(t)
		w.phase(conversation.PhasePrepare)
		w.upload("invoices.png", "itinerary.png")
		w.phase(conversation.PhaseInspect)
		change(w)
		w.phase(conversation.PhaseValidate)
		return w.plan.Digest
	}
	base := shown(func(*walk) {})
	require.Len(t, base, 64)
	require.Equal(t, base, shown(func(w *walk) {
		w.plan.Case.SetFact(conversation.Fact{Name: "trip_dates", Value: json.RawMessage(`{"end": "2024-05-15", "start": "2024-05-12"}`)})
	}), "order and space of JSON mean nothing")
	require.NotEqual(t, base, shown(func(w *walk) {
		w.answers["rules"] = answer("rules", "rule_engine_tool", `{"valid":true,"warnings":[],"errors":[],"approver":"张主管"}`)
	}), "a warning fewer")
	require.NotEqual(t, base, shown(func(w *walk) {
		w.answers["rules"] = answer("rules", "rule_engine_tool", `{"valid":true,"warnings":["住宿费￥3200，接近标准上限￥3500"],"errors":[],"approver":"李总监"}`)
	}), "another approver")
}
