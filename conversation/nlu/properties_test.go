package nlu_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/hermes-orchestrator/hermes/conversation"
	"github.com/hermes-orchestrator/hermes/conversation/flow"
)

// TestPoisonedConsent puts one word that is no consent anywhere among consent: it must never confirm.
func TestPoisonedConsent(t *testing.T) {
	t.Parallel()
	understander, f := rules(t), example(t)
	library := flow.NewLibrary(f)
	consents := []string{"确认", "提交", "是的", "好的", "可以", "请", "，", "yes ", "submit ", "ok ", "please ", "confirm ", ", "}
	poisons := []string{
		"不", "别", "先", "吗", "？", "?", "如果", "可能", "但是", "改", "一下", "多少", "明天", "没", "再", "等", "取消", "谁", "的话", "第一张",
		"not ", "don't ", "if ", "maybe ", "but ", "later ", "wait ", "cancel ", "nothing ", "when ", "8240 ", "%",
	}
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.SliceOfN(rapid.SampledFrom(consents), 1, 6).Draw(t, "consents")
		at := rapid.IntRange(0, len(words)).Draw(t, "at")
		text := strings.Join(slices.Insert(words, at, rapid.SampledFrom(poisons).Draw(t, "poison")), "")
		u, err := understander.Understand(context.Background(), library, request(f, conversation.StateConfirmation, text))
		require.NoError(t, err)
		require.NotEqual(t, conversation.ChoiceConfirm, u.Choice, text)
	})
}

func TestAmountsAreReadExactly(t *testing.T) {
	t.Parallel()
	understander, f := rules(t), example(t)
	library := flow.NewLibrary(f)
	rapid.Check(t, func(t *rapid.T) {
		cents := rapid.Int64Range(1, 99_999_999_99).Draw(t, "cents")
		want := fmt.Sprintf("%d.%02d", cents/100, cents%100)
		whole := fmt.Sprint(cents / 100)
		for i := len(whole) - 3; i > 0; i -= 3 {
			whole = whole[:i] + "," + whole[i:]
		}
		for _, text := range []string{
			want + "元", "¥" + want, fmt.Sprintf("%s.%02d yuan", whole, cents%100), fmt.Sprintf("总共%s.%02d块钱", whole, cents%100),
		} {
			r := request(f, conversation.StateMaterials, text)
			r.Asked = conversation.ReplyManual
			u, err := understander.Understand(context.Background(), library, r)
			require.NoError(t, err)
			require.Len(t, u.Facts, 1, text)
			require.Equal(t, `"`+want+`"`, string(u.Facts[0].Value), text)
		}
	})
}

func FuzzUnderstand(f *testing.F) {
	for i, table := range []string{"intent.yaml", "materials.yaml", "review.yaml", "confirmation.yaml"} {
		for _, s := range load[[]sentence](f, table) {
			f.Add(s.Say, uint8(i), "")
		}
	}
	f.Add("\xff\u200b", uint8(0), "")
	f.Add("", uint8(1), "say:fact.city=%22%E6%B7%B1%E5%9C%B3%22")
	understander, definition := rules(f), example(f)
	library := flow.NewLibrary(definition)
	asked := []conversation.ReplyKind{
		conversation.ReplyManual, conversation.ReplyReview, conversation.ReplyStillThere, conversation.ReplyResumeOffer,
		conversation.ReplyCancelOffer, conversation.ReplyToolFailed, conversation.ReplyModify, "",
	}
	f.Fuzz(func(t *testing.T, text string, where uint8, choice string) {
		states := conversation.States()
		r := request(definition, states[int(where)%len(states)], text)
		r.Asked, r.AskedOf, r.Message.Choice = asked[int(where)%len(asked)], "blurred", choice
		u, err := understander.Understand(context.Background(), library, r)
		if err != nil {
			var coded *conversation.Error
			require.ErrorAs(t, err, &coded)
			return
		}
		require.True(t, u.Event == "" || slices.Contains(conversation.Events(), u.Event))
		for _, fact := range u.Facts {
			require.NotEmpty(t, fact.Value)
		}
		for _, option := range u.Ambiguous { // What is offered can be chosen.
			r.Message.Choice = option.ID
			_, err := understander.Understand(context.Background(), library, r)
			require.NoError(t, err, option.ID)
		}
	})
}

func TestLongTextsAreRead(t *testing.T) {
	t.Parallel()
	understander, f := rules(t), example(t)
	asked := map[conversation.State]conversation.ReplyKind{
		conversation.StateIntent: "", conversation.StateMaterials: conversation.ReplyManual,
		conversation.StateReview: conversation.ReplyReview, conversation.StateConfirmation: conversation.ReplyConfirmation,
	}
	// Each would take minutes if any part of it were compared with every other.
	for _, piece := range []string{
		"不", "确认", "取消", "，", "8", "一", "1,", "5月12日", "北京和", "don't ", "maybe ", "没有", "two ", "?",
		load[[]sentence](t, "intent.yaml")[0].Say, load[[]sentence](t, "materials.yaml")[0].Say,
	} {
		text := strings.Repeat(piece, 100<<10/len(piece))
		for state, kind := range asked {
			r := request(f, state, text)
			r.Asked, r.AskedOf = kind, "blurred"
			u, err := understander.Understand(context.Background(), flow.NewLibrary(f), r)
			require.NoError(t, err)
			require.NotEqual(t, conversation.ChoiceConfirm, u.Choice)
			require.NotEqual(t, conversation.EventReviewAccepted, u.Event)
		}
	}
}
