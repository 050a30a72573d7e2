package nlu

import (
	"slices"
	"strings"

	"github.com/hermes-orchestrator/hermes/conversation"
	"github.com/hermes-orchestrator/hermes/conversation/flow"
)

// The sides of a review.
const (
	sideAccept = iota
	sideReject
)

// review understands a message in S3.1. Only an explicit answer to the finding decides (SPEC C2); a doubtful one has no
// event, and the question is asked again.
func (m *message) review(u *conversation.Understanding) {
	finding := m.finding()
	words := m.sideWords(finding)
	side, explicit := m.side(words)
	switch {
	case m.refuses(m.verbs, m.objects) && !explicit:
		u.Event = conversation.EventCancel
	case m.stops() && !explicit:
		u.Event = conversation.EventCancel
	case m.request.Asked == conversation.ReplyStillThere && m.no() && !explicit:
		u.Event = conversation.EventCancel
	case len(m.states(m.hits(retry))) > 0 && !explicit:
		u.Choice = conversation.ChoiceRetry
	case explicit && side == sideAccept:
		u.Event = conversation.EventReviewAccepted
	case explicit:
		u.Event = conversation.EventReviewRejected
		u.Clear = m.named()
	case m.request.Asked == conversation.ReplyStillThere && (m.yes() || len(m.states(m.hits(goOn))) > 0):
		u.Event = conversation.EventContinue
	}
}

// finding is the one that the user was asked about.
func (m *message) finding() *flow.FindingDef {
	if m.flow == nil {
		return nil
	}
	id := m.request.AskedOf
	if m.request.Asked != conversation.ReplyReview || id == "" {
		open := m.request.Case.OpenReviews()
		if len(open) == 0 {
			return nil
		}
		id = open[0].ID
	}
	findings := m.flow.Findings()
	i := slices.IndexFunc(findings, func(f flow.FindingDef) bool { return f.ID == id })
	if i < 0 {
		return nil
	}
	return &findings[i]
}

// sideWords are the flow's words for both answers, and the few of the core that mean the same whatever was asked: "好的"
// does not, "接受" does. A word of the flow goes before the same word of the core.
func (m *message) sideWords(finding *flow.FindingDef) *phrases {
	words := newPhrases()
	names := []string{sideAccept: "accept", sideReject: "reject"}
	if finding != nil {
		for side, name := range names {
			each(finding.Say[name], func(say []string) { words.add(side, say...) })
			each(finding.Options[name], func(label string) { words.add(side, label) })
		}
	}
	for side, c := range []category{sideAccept: accept, sideReject: reject} {
		for first, list := range m.lexicon[c].byFirst {
			for _, p := range list {
				if !slices.ContainsFunc(words.byFirst[first], func(own phrase) bool { return slices.Equal(own.runes, p.runes) }) {
					words.byFirst[first] = append(words.byFirst[first], phrase{p.runes, side})
				}
			}
		}
	}
	return words
}

// side tells which answer the message gives; explicit is false if it gives none, both, or one with doubt.
func (m *message) side(words *phrases) (side int, explicit bool) {
	const longest = 200
	if len(m.text) > longest || m.has(hedge) || m.has(condition) || m.has(wait) {
		return 0, false
	}
	if side, ok := m.wholeSide(words); ok {
		return side, true
	}
	if m.asksAnything() {
		return 0, false
	}
	given := map[int]bool{}
	hits := words.find(m.text)
	for i, h := range hits {
		if m.isShort(h) && !m.standsAlone(h, words) {
			continue // The 要 in 主要 answers nothing.
		}
		if bothSides(words, phrase{m.text[h.start:h.end], h.tag}) {
			return 0, false
		}
		// "不用就这样": the 不用 accepts by itself.
		same := i > 0 && h.tag == sideAccept && hits[i-1].tag == sideAccept && hits[i-1].end == h.start
		if same || !m.negated(h) {
			given[h.tag] = true
			continue
		}
		if h.tag == sideReject && !m.isShort(h) && !m.doubleNegation(h) {
			given[sideAccept] = true // "不要重新上传"
			continue
		}
		return 0, false
	}
	if len(given) != 1 {
		return 0, false
	}
	return map[bool]int{true: sideAccept, false: sideReject}[given[sideAccept]], true
}

// wholeSide matches a message that is one phrase as it stands, such as the label of an option.
func (m *message) wholeSide(words *phrases) (int, bool) {
	text := strings.TrimRight(string(m.text), " .!。")
	for _, list := range words.byFirst {
		for _, p := range list {
			if string(p.runes) == text && !bothSides(words, p) {
				return p.tag, true
			}
		}
	}
	return 0, false
}

// bothSides reports whether a flow gives a phrase both meanings.
func bothSides(words *phrases, p phrase) bool {
	return slices.ContainsFunc(words.byFirst[p.runes[0]], func(other phrase) bool {
		return other.tag != p.tag && slices.Equal(other.runes, p.runes)
	})
}

// isShort reports whether h is a single character or a word like "no": they are too small to mean much in a sentence.
func (m *message) isShort(h hit) bool {
	if isAlphanumeric(m.text[h.start]) {
		return h.end-h.start <= 3
	}
	return h.end-h.start == 1
}

// standsAlone reports whether the clause of h is made of answers and particles.
func (m *message) standsAlone(h hit, words *phrases) bool {
	c := m.clauseAt(h.start)
	return consists(m.text[c.start:c.end], []*phrases{words}, m.sets(particle, polite))
}

// doubleNegation reports whether two negations stand before h: what that means is asked again.
func (m *message) doubleNegation(h hit) bool {
	n, ok := m.before(negate, h.start, correctionGap)
	if !ok {
		return false
	}
	_, again := m.before(negate, n.start, correctionGap)
	return again
}
