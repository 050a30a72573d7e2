package nlu

import "unicode"

// phrases are words and expressions to look for, each with a tag that says whose it is.
type phrases struct {
	byFirst map[rune][]phrase
}

type phrase struct {
	runes []rune
	tag   int
}

// hit is an occurrence of a phrase: rune offsets.
type hit struct {
	start, end int
	tag        int
}

func (h hit) inside(other hit) bool {
	return h.start >= other.start && h.end <= other.end && h.end-h.start < other.end-other.start
}

func (h hit) overlaps(other hit) bool { return h.start < other.end && other.start < h.end }

func newPhrases() *phrases { return &phrases{byFirst: map[rune][]phrase{}} }

// add takes in texts as they are written; they are normalised like messages.
func (p *phrases) add(tag int, texts ...string) {
	for _, text := range texts {
		if runes := []rune(normalize(text)); len(runes) > 0 {
			p.byFirst[runes[0]] = append(p.byFirst[runes[0]], phrase{runes, tag})
		}
	}
}

// find returns the occurrences from left to right: the longest at each place, none overlapping another.
func (p *phrases) find(text []rune) []hit {
	var hits []hit
	for i := 0; i < len(text); {
		best := hit{}
		for _, candidate := range p.byFirst[text[i]] {
			if end := i + len(candidate.runes); end > best.end && candidate.at(text, i) {
				best = hit{i, end, candidate.tag}
			}
		}
		if best.end > i {
			hits = append(hits, best)
			i = best.end
			continue
		}
		i++
	}
	return hits
}

// at reports whether the phrase stands at i: a word of letters only where words begin and end.
func (p phrase) at(text []rune, i int) bool {
	end := i + len(p.runes)
	if end > len(text) {
		return false
	}
	for j, r := range p.runes {
		if text[i+j] != r {
			return false
		}
	}
	if isAlphanumeric(p.runes[0]) && i > 0 && isAlphanumeric(text[i-1]) {
		return false
	}
	return !(isAlphanumeric(p.runes[len(p.runes)-1]) && end < len(text) && isAlphanumeric(text[end]))
}

// maxShort is the length in runes of a message that can be an answer and nothing else.
const maxShort = 60

// consists reports whether a text is made of these phrases and punctuation alone, with at least one of must. A question
// mark is not punctuation here: who asks does not state.
func consists(text []rune, must, filler []*phrases) bool {
	if len(text) == 0 || len(text) > maxShort {
		return false
	}
	const reached, withMust = 1, 2
	state := make([]uint8, len(text)+1)
	state[0] = reached
	step := func(i int, sets []*phrases, mask uint8) {
		for _, set := range sets {
			for _, candidate := range set.byFirst[text[i]] {
				if candidate.at(text, i) {
					state[i+len(candidate.runes)] |= mask
				}
			}
		}
	}
	for i := range text {
		if state[i] == 0 {
			continue
		}
		if separates(text[i]) {
			state[i+1] |= state[i]
		}
		step(i, must, withMust)
		step(i, filler, state[i])
	}
	return state[len(text)]&withMust != 0
}

func separates(r rune) bool {
	switch r {
	case '?', '？', '%', '#', '@', '&', '*', '/', '\\', '"', '\'', '(', ')', '-':
		return false
	}
	return unicode.IsSpace(r) || unicode.IsPunct(r)
}
