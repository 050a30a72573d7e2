package nlu

// refuses reports whether the user says not to do it: "先不提交", "don't submit", "不报了". It is evaluated in any state
// and stops whatever is going on (SPEC C6); the verbs are those of the core and of the flow.
func (r *reading) refuses(verbs *phrases) bool {
	acts := append(r.hits(act)[:len(r.hits(act)):len(r.hits(act))], r.whole(verbs.find(r.text))...)
	for _, h := range acts {
		c := r.clauseAt(h.start)
		if c.asked || len(r.in(question, c)) > 0 {
			continue
		}
		for _, n := range r.in(refuse, c) {
			gap := h.start - n.end
			if gap < 0 {
				break
			}
			if gap == 1 && r.text[n.end] == ' ' {
				gap = 0
			}
			// "要不提交吧" proposes.
			if gap == 0 && (n.start == 0 || r.text[n.start-1] != '要') {
				return true
			}
		}
	}
	return false
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

// waits reports whether a word to stop only asks for a moment: "hold on, let me find it".
func (r *reading) waits(h hit) bool {
	for _, w := range r.hits(wait) {
		if h.overlaps(w) {
			return true
		}
	}
	return false
}
