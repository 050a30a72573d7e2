package nlu

import (
	"sort"
)

// reading is one message, normalised, with what its words say about its clauses.
type reading struct {
	lexicon lexicon
	text    []rune
	clauses []clause
	found   map[category][]hit
}

func (r *Rules) read(text string) *reading {
	runes := []rune(normalize(text))
	return &reading{lexicon: r.lexicon, text: runes, clauses: clauses(runes), found: map[category][]hit{}}
}

// hits returns where words of a category stand; those that are only a part of another word do not count.
func (r *reading) hits(c category) []hit {
	if hits, ok := r.found[c]; ok {
		return hits
	}
	hits := r.lexicon[c].find(r.text)
	if c != compound {
		hits = r.whole(hits)
	}
	r.found[c] = hits
	return hits
}

func (r *reading) has(c category) bool { return len(r.hits(c)) > 0 }

// whole leaves out what is a part of a longer word of another meaning: the 报 in 天气预报.
func (r *reading) whole(hits []hit) []hit {
	compounds := r.hits(compound)
	if len(compounds) == 0 {
		return hits
	}
	kept := hits[:0:0]
	for _, h := range hits {
		if !insideAny(h, compounds) {
			kept = append(kept, h)
		}
	}
	return kept
}

func insideAny(h hit, others []hit) bool {
	for i := sort.Search(len(others), func(i int) bool { return others[i].end > h.start }); i < len(others); i++ {
		if others[i].start >= h.end {
			return false
		}
		if h.inside(others[i]) {
			return true
		}
	}
	return false
}

// clauseAt returns the clause that position i is in.
func (r *reading) clauseAt(i int) clause {
	at := sort.Search(len(r.clauses), func(k int) bool { return r.clauses[k].end > i })
	if at < len(r.clauses) {
		return r.clauses[at]
	}
	return clause{0, len(r.text), false}
}

// in returns the hits of a category in a clause.
func (r *reading) in(c category, within clause) []hit {
	hits := r.hits(c)
	first := sort.Search(len(hits), func(i int) bool { return hits[i].start >= within.start })
	last := sort.Search(len(hits), func(i int) bool { return hits[i].end > within.end })
	if last < first {
		return nil
	}
	return hits[first:last]
}

// asked reports whether the clause of h is a question.
func (r *reading) asked(h hit) bool {
	c := r.clauseAt(h.start)
	return c.asked || len(r.in(question, c)) > 0
}

// unsure reports whether the clause of h is hedged.
func (r *reading) unsure(h hit) bool { return len(r.in(hedge, r.clauseAt(h.start))) > 0 }

// before returns the last hit of a category that ends at most gap runes before start, in the clause of start.
func (r *reading) before(c category, start, gap int) (hit, bool) {
	hits := r.hits(c)
	at := sort.Search(len(hits), func(i int) bool { return hits[i].end > start }) - 1
	if at < 0 || start-hits[at].end > gap || hits[at].start < r.clauseAt(start).start {
		return hit{}, false
	}
	return hits[at], true
}

// negated reports whether h is denied: a negation of its clause stands close before it.
func (r *reading) negated(h hit) bool {
	const near, nearWords = 2, 12 // Runes: "不想要…", "don't want to …".
	n, ok := r.before(negate, h.start, nearWords)
	if !ok || insideAny(n, r.hits(question)) {
		return false
	}
	return h.start-n.end <= near || isAlphanumeric(r.text[n.end-1])
}

// states returns the hits that are said plainly: not denied, not asked, not doubted.
func (r *reading) states(hits []hit) []hit {
	var plain []hit
	for _, h := range hits {
		if !r.negated(h) && !r.asked(h) && !r.unsure(h) {
			plain = append(plain, h)
		}
	}
	return plain
}

// only reports whether the whole message is made of words of these categories, with at least one of must.
func (r *reading) only(must category, filler ...category) bool {
	return consists(r.text, []*phrases{r.lexicon[must]}, r.sets(filler...))
}

func (r *reading) sets(list ...category) []*phrases {
	sets := make([]*phrases, 0, len(list))
	for _, c := range list {
		sets = append(sets, r.lexicon[c])
	}
	return sets
}

// yes and no are plain answers, whatever was asked.
func (r *reading) yes() bool { return r.only(yes, particle) }
func (r *reading) no() bool  { return r.only(no, particle) }
