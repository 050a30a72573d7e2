package nlu

import (
	"context"
	"time"

	"github.com/hermes-orchestrator/hermes/conversation"
	"github.com/hermes-orchestrator/hermes/conversation/flow"
)

// Rules understands messages by the words of the core and of the flows. Make it with NewRules; it is safe for
// concurrent use.
type Rules struct {
	lexicon lexicon
}

// NewRules loads the words of the core. The error is a fault of the build.
func NewRules() (*Rules, error) {
	lex, err := loadLexicon()
	if err != nil {
		return nil, err
	}
	return &Rules{lexicon: lex}, nil
}

// Understand proposes what a message means in the present state (SPEC C1). An explicit choice goes before the text. A
// text that means nothing there has an Understanding without event; that is no error. Errors: invalid_argument for a
// message without its time, with an unknown zone or a choice that nobody offered; unknown_flow.
func (r *Rules) Understand(
	ctx context.Context, library *flow.Library, request conversation.UnderstandRequest,
) (conversation.Understanding, error) {
	if err := ctx.Err(); err != nil {
		return conversation.Understanding{}, conversation.Errorf(conversation.CodeUnavailable, "understand message %q: %w",
			request.Message.MessageID, err)
	}
	m, err := r.newMessage(library, request)
	if err != nil {
		return conversation.Understanding{}, err
	}
	u := conversation.Understanding{Locale: certainLocale(request.Message.Text)}
	if request.Message.Choice != "" {
		return m.choose(u)
	}
	if len(m.text) == 0 {
		return u, nil
	}
	switch request.State {
	case conversation.StateIntent:
		m.intent(&u)
	case conversation.StateMaterials:
		m.materials(&u)
	case conversation.StateReview:
		m.review(&u)
	case conversation.StateConfirmation:
		m.confirmation(&u)
	case conversation.StateValidation:
		if m.refuses(m.verbs, m.objects) || m.stops() {
			u.Event = conversation.EventCancel
		}
	case conversation.StateEnd: // Nothing is asked any more.
	}
	return u, nil
}

// message is one message together with what may be said about it.
type message struct {
	*reading
	request conversation.UnderstandRequest
	sent    time.Time // In the zone of the message.
	flow    *flow.Flow
	flows   []*flow.Flow // To choose from in S1.
	verbs   *phrases     // Of the flow's intents.
	objects *phrases

	timeList   []timed // Of times, once they have been looked for.
	timesKnown bool
}

func (r *Rules) newMessage(library *flow.Library, request conversation.UnderstandRequest) (*message, error) {
	m := &message{reading: r.read(request.Message.Text), request: request, verbs: newPhrases(), objects: newPhrases()}
	if request.Message.SentAt.IsZero() {
		return nil, conversation.Errorf(conversation.CodeInvalidArgument,
			"message %q has no sent_at: relative dates are resolved against it", request.Message.MessageID)
	}
	m.sent = request.Message.SentAt
	if zone := request.Message.Zone; zone != "" {
		location, err := time.LoadLocation(zone)
		if err != nil {
			return nil, conversation.Errorf(conversation.CodeInvalidArgument,
				"message %q: zone %q is not an IANA time zone such as \"Asia/Shanghai\": %w", request.Message.MessageID, zone, err)
		}
		m.sent = m.sent.In(location)
	}
	refs := request.Flows
	if request.Flow.ID != "" {
		f, err := library.Get(request.Flow)
		if err != nil {
			return nil, err
		}
		m.flow = f
		if len(refs) == 0 || request.State != conversation.StateIntent {
			refs = []conversation.FlowRef{request.Flow}
		}
	} else if len(refs) == 0 {
		refs = library.Refs()
	}
	for _, ref := range refs {
		if m.flow != nil && ref == request.Flow {
			m.flows = append(m.flows, m.flow)
			continue
		}
		f, err := library.Get(ref)
		if err != nil {
			return nil, err
		}
		m.flows = append(m.flows, f)
	}
	for _, f := range m.flows {
		for _, intent := range f.Intents() {
			each(intent.Say, func(words flow.IntentWords) {
				m.verbs.add(0, words.Verbs...)
				m.objects.add(0, words.Objects...)
			})
		}
	}
	return m, nil
}

// fact is something that the user declares with this message.
func (m *message) fact(name string, value []byte) conversation.Fact {
	return conversation.Fact{
		Name: name, Value: value, Status: conversation.FactDeclared, Source: "user",
		MessageID: m.request.Message.MessageID, At: m.request.Message.SentAt,
	}
}

// each walks words of all locales in a fixed order.
func each[T any](words map[string]T, visit func(T)) {
	for _, locale := range []string{conversation.LocaleChinese, conversation.LocaleEnglish} {
		if w, ok := words[locale]; ok {
			visit(w)
		}
	}
}
