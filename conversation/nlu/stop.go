package nlu

import "slices"

// refuses reports whether the user says not to do it: "先不提交", "don't submit". It is evaluated in any state and stops
// whatever is going on (SPEC C6). The verbs of a flow count as well, but only where nothing else is said beside them:
// "我不办了" stops, "这张不办" and "不办北京的" are about a part.
func (r *reading) refuses(verbs *phrases, objects *phrases) bool {
	if slices.ContainsFunc(r.hits(act), r.refused) {
		return true
	}
	must := append(r.sets(refuse), verbs)
	filler := append(r.sets(particle, polite, wait, aside), objects)
	for _, h := range r.whole(verbs.find(r.text)) {
		c := r.clauseAt(h.start)
		if r.refused(h) && consists(r.text[c.start:c.end], must, filler) {
			return true
		}
	}
	return false
}

// refused reports whether a refusing word stands directly before h, in a statement about the whole.
func (r *reading) refused(h hit) bool {
	n, ok := r.before(refuse, h.start, 1)
	if !ok || (n.end < h.start && r.text[n.end] != ' ') {
		return false
	}
	c := r.clauseAt(h.start)
	proposed := n.start > 0 && r.text[n.start-1] == '要' // "要不提交吧"
	return !proposed && !c.asked && len(r.in(question, c)) == 0 && len(r.in(partial, c)) == 0
}

// stops reports whether the user plainly cancels.
func (r *reading) stops() bool {
	if r.has(condition) {
		return false
	}
	for _, h := range r.states(r.hits(cancel)) {
		if !r.waits(h) {
			return true
		}
	}
	return false
}

// waits reports whether a word to stop only asks for a moment: "hold on a second", "hold on, let me find it".
func (r *reading) waits(h hit) bool {
	for _, w := range r.hits(wait) {
		if h.inside(w) || (h.overlaps(w) && r.has(searching)) {
			return true
		}
	}
	return false
}
