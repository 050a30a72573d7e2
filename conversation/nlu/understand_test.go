package nlu_test

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/stretchr/testify/require"

	"github.com/hermes-orchestrator/hermes/conversation"
	"github.com/hermes-orchestrator/hermes/conversation/flow"
	"github.com/hermes-orchestrator/hermes/conversation/nlu"
)

// sentence is one line of testdata/*.yaml: what is said, where, and all that it means.
type sentence struct {
	Say   string `yaml:"say"`
	Asked string `yaml:"asked"`
	About string `yaml:"about"`
	Want  struct {
		Event   string            `yaml:"event"`
		Choice  string            `yaml:"choice"`
		Intent  string            `yaml:"intent"`
		Locale  string            `yaml:"locale"`
		Facts   map[string]string `yaml:"facts"`
		Clear   []string          `yaml:"clear"`
		Options int               `yaml:"options"`
	} `yaml:"want"`
}

func load[T any](t testing.TB, name string) T {
	t.Helper()
	data, err := os.ReadFile("testdata/" + name)
	require.NoError(t, err)
	var v T
	require.NoError(t, yaml.Unmarshal(data, &v))
	return v
}

func rules(t testing.TB) *nlu.Rules {
	t.Helper()
	r, err := nlu.NewRules()
	require.NoError(t, err)
	return r
}

// example is the flow of examples/expense: its definition is data, and so are the sentences of testdata.
func example(t testing.TB) *flow.Flow {
	t.Helper()
	f, err := flow.Load(os.DirFS("../../examples/expense"), "flow.yaml")
	require.NoError(t, err)
	return f
}

// request is a message of Monday 2024-06-03, 09:00 in Shanghai.
func request(f *flow.Flow, state conversation.State, text string) conversation.UnderstandRequest {
	r := conversation.UnderstandRequest{
		Flow: f.Ref(), Flows: []conversation.FlowRef{f.Ref()}, State: state, Asked: conversation.ReplyConfirmation,
		Message: conversation.UserMessage{
			MessageID: "m-1", Text: text, SentAt: time.Date(2024, time.June, 3, 1, 0, 0, 0, time.UTC), Zone: "Asia/Shanghai",
		},
	}
	if state == conversation.StateIntent {
		r.Flow = conversation.FlowRef{}
	}
	return r
}

func TestUnderstand(t *testing.T) {
	t.Parallel()
	tables := []struct {
		file  string
		state conversation.State
		asked conversation.ReplyKind
	}{
		{"intent.yaml", conversation.StateIntent, ""},
		{"materials.yaml", conversation.StateMaterials, conversation.ReplyMaterials},
		{"review.yaml", conversation.StateReview, conversation.ReplyReview},
		{"confirmation.yaml", conversation.StateConfirmation, conversation.ReplyConfirmation},
	}
	understander, f := rules(t), example(t)
	for _, table := range tables {
		for _, s := range load[[]sentence](t, table.file) {
			t.Run(table.file+"/"+s.Asked+"/"+s.About+"/"+s.Say, func(t *testing.T) {
				t.Parallel()
				r := request(f, table.state, s.Say)
				r.Asked, r.AskedOf = table.asked, s.About
				if s.Asked != "" {
					r.Asked = conversation.ReplyKind(s.Asked)
				}
				if s.About != "" {
					r.Case.Findings = []conversation.Finding{{ID: s.About, Kind: conversation.FindingReview}}
				}
				u, err := understander.Understand(context.Background(), flow.NewLibrary(f), r)
				require.NoError(t, err)
				require.Equal(t, s.Want.Event, string(u.Event), "event")
				require.Equal(t, s.Want.Choice, u.Choice, "choice")
				require.Equal(t, s.Want.Intent, u.Intent, "intent")
				require.Equal(t, s.Want.Locale, u.Locale, "locale")
				require.Len(t, u.Ambiguous, s.Want.Options, "options %v", u.Ambiguous)
				require.Equal(t, s.Want.Clear, u.Clear, "clear")
				facts := map[string]string{}
				for _, fact := range u.Facts {
					facts[fact.Name] = string(fact.Value)
					require.Equal(t, conversation.FactDeclared, fact.Status)
					require.Equal(t, "user", fact.Source)
					require.Equal(t, "m-1", fact.MessageID)
					require.Equal(t, r.Message.SentAt, fact.At)
				}
				if s.Want.Facts == nil {
					s.Want.Facts = map[string]string{}
				}
				require.Equal(t, s.Want.Facts, facts, "facts")
			})
		}
	}
}

func TestNothingButConsentConfirms(t *testing.T) {
	t.Parallel()
	understander, f := rules(t), example(t)
	library := flow.NewLibrary(f)
	for _, text := range load[[]string](t, "no_confirm.yaml") {
		for _, variant := range []string{text, strings.ToUpper(text), text + "。", " " + text + "\n", "，" + text} {
			u, err := understander.Understand(context.Background(), library, request(f, conversation.StateConfirmation, variant))
			require.NoError(t, err)
			require.Empty(t, u.Choice, variant)
		}
	}
}
