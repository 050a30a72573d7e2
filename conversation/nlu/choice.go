package nlu

import (
	"strings"

	"github.com/hermes-orchestrator/hermes/conversation"
)

// choose understands an explicit choice; the text beside it can only say what "modify" is about.
func (m *message) choose(u conversation.Understanding) (conversation.Understanding, error) {
	choice := m.request.Message.Choice
	switch choice {
	case conversation.ChoiceConfirm, conversation.ChoiceResume, conversation.ChoiceRestart, conversation.ChoiceRetry:
	case conversation.ChoiceAccept:
		u.Event = conversation.EventReviewAccepted
	case conversation.ChoiceReject:
		u.Event = conversation.EventReviewRejected
	case conversation.ChoiceCancel:
		u.Event = conversation.EventCancel
	case conversation.ChoiceGoOn:
		u.Event = conversation.EventContinue
	case conversation.ChoiceModify:
		u.Event = conversation.EventModify
		u.Clear = m.named()
	default:
		if strings.HasPrefix(choice, sayPrefix) {
			return m.chooseReading(u)
		}
		return conversation.Understanding{}, notOffered(choice)
	}
	u.Choice = choice
	return u, nil
}

// named returns what the message names of the things that the flow lets a user change.
func (m *message) named() []string {
	if m.flow == nil {
		return nil
	}
	rules := m.flow.Modify()
	words := newPhrases()
	for i, rule := range rules {
		each(rule.Say, func(say []string) { words.add(i, say...) })
	}
	var clear []string
	seen := map[string]bool{}
	for _, h := range words.find(m.text) {
		for _, name := range rules[h.tag].Clear {
			if !seen[name] {
				seen[name] = true
				clear = append(clear, name)
			}
		}
	}
	return clear
}
