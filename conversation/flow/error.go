package flow

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Error is one thing that is wrong in a flow file: where, what, and what to write instead.
type Error struct {
	File    string
	Line    int // From 1; 0 when the whole file is meant.
	Column  int
	Path    string // As in "$.steps[0].tool".
	Message string
	Fix     string
}

func (e *Error) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s:%d:%d: ", e.File, e.Line, e.Column)
	if e.Path != "" && e.Path != "$" {
		fmt.Fprintf(&b, "%s: ", strings.TrimPrefix(e.Path, "$."))
	}
	b.WriteString(e.Message)
	if e.Fix != "" {
		fmt.Fprintf(&b, " (fix: %s)", e.Fix)
	}
	return b.String()
}

// Errors are all that is wrong in a file, in the order of its lines.
type Errors []*Error

func (e Errors) Error() string {
	lines := make([]string, len(e))
	for i, one := range e {
		lines[i] = one.Error()
	}
	return strings.Join(lines, "\n")
}

func (e Errors) sorted() Errors {
	slices.SortStableFunc(e, func(a, b *Error) int {
		return cmp.Or(
			a.Line-b.Line,
			a.Column-b.Column,
			strings.Compare(a.Path, b.Path),
			strings.Compare(a.Message, b.Message),
		)
	})
	return e
}

// nearest returns the candidate that is closest to name, for a suggestion; "" if none is close.
func nearest(name string, candidates []string) string {
	best, bestDistance := "", len([]rune(name))/2+1
	for _, candidate := range candidates {
		if d := distance(name, candidate); d < bestDistance {
			best, bestDistance = candidate, d
		}
	}
	return best
}

// distance is the Levenshtein distance in runes.
func distance(a, b string) int {
	from, to := []rune(a), []rune(b)
	row := make([]int, len(to)+1)
	for j := range row {
		row[j] = j
	}
	for i, x := range from {
		diagonal := row[0]
		row[0] = i + 1
		for j, y := range to {
			cost := diagonal
			if x != y {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j+1]+1, row[j]+1)
		}
	}
	return row[len(to)]
}

func suggestion(name string, candidates []string) string {
	if near := nearest(name, candidates); near != "" {
		return fmt.Sprintf("write %q", near)
	}
	switch len(candidates) {
	case 0:
		return ""
	case 1:
		return fmt.Sprintf("write %q", candidates[0])
	}
	return "write one of " + strings.Join(candidates, ", ")
}
