package nlu_test

import (
	"context"
	"fmt"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/hermes-orchestrator/hermes/conversation"
	"github.com/hermes-orchestrator/hermes/conversation/flow"
	"github.com/hermes-orchestrator/hermes/conversation/nlu"
)

// other loads a flow of testdata/flows.
func other(t testing.TB, name string) *flow.Flow {
	t.Helper()
	f, err := flow.Load(os.DirFS("testdata/flows"), name+".yaml")
	require.NoError(t, err)
	return f
}

func understand(t testing.TB, library *flow.Library, r conversation.UnderstandRequest) conversation.Understanding {
	t.Helper()
	u, err := rules(t).Understand(context.Background(), library, r)
	require.NoError(t, err)
	return u
}

func factsOf(u conversation.Understanding) map[string]string {
	facts := map[string]string{}
	for _, fact := range u.Facts {
		facts[fact.Name] = string(fact.Value)
	}
	return facts
}

func TestChoiceGoesBeforeText(t *testing.T) {
	t.Parallel()
	tests := map[string]conversation.Event{
		conversation.ChoiceConfirm: "", conversation.ChoiceResume: "", conversation.ChoiceRestart: "",
		conversation.ChoiceRetry: "", conversation.ChoiceAccept: conversation.EventReviewAccepted,
		conversation.ChoiceReject: conversation.EventReviewRejected, conversation.ChoiceCancel: conversation.EventCancel,
		conversation.ChoiceGoOn: conversation.EventContinue, conversation.ChoiceModify: conversation.EventModify,
	}
	f := other(t, "borrow")
	for choice, event := range tests {
		for _, state := range conversation.States() {
			r := request(f, state, "取消")
			r.Message.Choice = choice
			u := understand(t, flow.NewLibrary(f), r)
			require.Equal(t, choice, u.Choice)
			require.Equal(t, event, u.Event)
			require.Empty(t, u.Facts)
		}
	}
}

func TestChoiceThatNobodyOffered(t *testing.T) {
	t.Parallel()
	f := other(t, "borrow")
	ref := f.Ref()
	for _, choice := range []string{
		"nonsense", "say:", "say:%zz", "say:fact.unknown=%221.00%22", "say:fact.site=%22Atlantis%22", "say:fact.period=1",
		"say:fact.deposit=-3", "say:fact.deposit=%221e9%22", "say:intent=x&flow=unknown&version=1",
		"say:intent=other&flow=" + ref.ID + "&version=" + ref.Version,
		`say:fact.period={"start":"2024-05-12","end":"2024-05-01"}`,
	} {
		r := request(f, conversation.StateMaterials, "")
		r.Message.Choice = choice
		_, err := rules(t).Understand(context.Background(), flow.NewLibrary(f), r)
		require.ErrorIs(t, err, &conversation.Error{Code: conversation.CodeInvalidArgument}, choice)
	}
}

func TestTwoFlowsClaimASentence(t *testing.T) {
	t.Parallel()
	borrow, repair := other(t, "borrow"), other(t, "repair")
	library := flow.NewLibrary(borrow, repair)
	r := request(borrow, conversation.StateIntent, "我要申请深圳的设备")
	r.Flows = library.Refs()
	u := understand(t, library, r)
	require.Empty(t, u.Intent)
	require.Empty(t, u.Event)
	require.Len(t, u.Ambiguous, 2)
	labels := []string{u.Ambiguous[0].Label, u.Ambiguous[1].Label}
	require.ElementsMatch(t, []string{"借用设备", "修设备"}, labels)

	// The option that is chosen carries what the sentence said.
	r.Message.Text, r.Message.Choice = "", u.Ambiguous[slices.Index(labels, "借用设备")].ID
	u = understand(t, library, r)
	require.Equal(t, borrow.Ref(), u.Flow)
	require.Equal(t, conversation.EventIntentRecognized, u.Event)
	require.Equal(t, map[string]string{"site": `"深圳"`}, factsOf(u))

	// The longer object decides by itself, and so does the kind of act.
	r.Message.Text, r.Message.Choice = "我要申请设备维修，6月20日要用", ""
	u = understand(t, library, r)
	require.Equal(t, "repair_submit", u.Intent)
	require.Equal(t, map[string]string{"due": `"2024-06-20"`}, factsOf(u))
	r.Message.Text = "查一下我的设备"
	require.Equal(t, "borrow_query", understand(t, library, r).Intent)
}

func TestAmbiguousDateIsAsked(t *testing.T) {
	t.Parallel()
	f := other(t, "borrow")
	library := flow.NewLibrary(f)
	u := understand(t, library, request(f, conversation.StateIntent, "我要借设备，12号到15号，押金2千元"))
	require.Len(t, u.Ambiguous, 2)
	require.Equal(t, "2024-06-12 – 2024-06-15", u.Ambiguous[0].Label)
	require.Equal(t, "2024-05-12 – 2024-05-15", u.Ambiguous[1].Label)
	r := request(f, conversation.StateIntent, "")
	r.Message.Choice = u.Ambiguous[1].ID
	u = understand(t, library, r)
	require.Equal(t, "borrow_submit", u.Intent)
	require.Equal(t, map[string]string{
		"deposit": `"2000.00"`, "period": `{"start":"2024-05-12","end":"2024-05-15"}`,
	}, factsOf(u))
}

func TestDatesArePinnedToTheMessage(t *testing.T) {
	t.Parallel()
	f := other(t, "borrow")
	r := request(f, conversation.StateIntent, "借上个月的设备")
	r.Message.SentAt = time.Date(2024, time.May, 31, 16, 30, 0, 0, time.UTC) // June already in Shanghai.
	u := understand(t, flow.NewLibrary(f), r)
	require.Equal(t, map[string]string{"period": `{"start":"2024-05-01","end":"2024-05-31"}`}, factsOf(u))
	r.Message.Zone = "America/New_York"
	u = understand(t, flow.NewLibrary(f), r)
	require.Equal(t, map[string]string{"period": `{"start":"2024-04-01","end":"2024-04-30"}`}, factsOf(u))
}

func TestAttachmentsAloneMeanNothing(t *testing.T) {
	t.Parallel()
	f := other(t, "borrow")
	for _, state := range conversation.States() {
		r := request(f, state, "")
		r.Message.Attachments = []conversation.Attachment{{Name: "a.png", URI: "blob:sha256/0", SHA256: "0"}}
		require.Equal(t, conversation.Understanding{}, understand(t, flow.NewLibrary(f), r))
	}
}

func TestUnderstandRefuses(t *testing.T) {
	t.Parallel()
	f := other(t, "borrow")
	tests := map[string]struct {
		change func(*conversation.UnderstandRequest)
		code   conversation.Code
	}{
		"no time": {
			func(r *conversation.UnderstandRequest) { r.Message.SentAt = time.Time{} }, conversation.CodeInvalidArgument,
		},
		"unknown zone": {
			func(r *conversation.UnderstandRequest) { r.Message.Zone = "Mars/Olympus" }, conversation.CodeInvalidArgument,
		},
		"unknown flow": {
			func(r *conversation.UnderstandRequest) { r.Flow.Version = "0" }, conversation.CodeUnknownFlow,
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := request(f, conversation.StateMaterials, "你好")
			tt.change(&r)
			_, err := rules(t).Understand(context.Background(), flow.NewLibrary(f), r)
			require.ErrorIs(t, err, &conversation.Error{Code: tt.code})
		})
	}
	ctx, stop := context.WithCancel(context.Background())
	stop()
	_, err := rules(t).Understand(ctx, flow.NewLibrary(f), request(f, conversation.StateMaterials, "你好"))
	require.ErrorIs(t, err, context.Canceled)
}

func ExampleRules_Understand() {
	understander, err := nlu.NewRules()
	if err != nil {
		fmt.Println(err)
		return
	}
	definition, err := flow.Load(os.DirFS("testdata/flows"), "borrow.yaml")
	if err != nil {
		fmt.Println(err)
		return
	}
	u, err := understander.Understand(context.Background(), flow.NewLibrary(definition), conversation.UnderstandRequest{
		State: conversation.StateIntent,
		Message: conversation.UserMessage{
			MessageID: "m-1", Text: "我想借下周去北京用的设备", Zone: "Asia/Shanghai",
			SentAt: time.Date(2024, time.June, 3, 1, 0, 0, 0, time.UTC),
		},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(u.Intent, u.Event, u.Locale)
	for _, fact := range u.Facts {
		fmt.Println(fact.Name, string(fact.Value), fact.Status)
	}
	// Output:
	// borrow_submit intent_recognized zh
	// site "北京" declared
	// period {"start":"2024-06-10","end":"2024-06-16"} declared
}
