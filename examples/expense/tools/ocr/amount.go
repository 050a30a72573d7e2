package ocr

import (
	"slices"

	"github.com/hermes-orchestrator/hermes/examples/expense/tools/money"
)

// agreement says whether other figures of a document confirm its total.
type agreement int

const (
	unproven  agreement = iota // Nothing to compare with.
	confirmed                  // Net and tax, or the sum in words, give the same amount.
	refuted                    // They give another one.
)

// total is the amount of a document.
type total struct {
	figure
	agreement agreement
	inWords   bool    // Confirmed by the amount in words.
	limit     float64 // The most confidence that it may have, however clear its digits are.
}

// The most confidence that a total may have which was found without a label, or which other figures refute. Both are
// under the limit of 0.7 at which the expense flow asks a person.
const (
	unlabelledConfidence = 0.6
	refutedConfidence    = 0.5
)

// findTotal chooses the total among the figures of one document:
//
//  1. the figure with the highest label; two different ones at the highest label are ambiguous, and nothing is chosen;
//  2. 合计 alone, unless tax is shown apart: then it is the net sum;
//  3. the figure that is the sum of a subtotal and all that stands between: proven, even if its label is unreadable;
//  4. the only figure with a currency; or the largest one if it is also the last: with little confidence.
func findTotal(rows []line) (total, bool) {
	all := figures(rows)
	taxed := slices.ContainsFunc(rows, func(row line) bool {
		return slices.ContainsFunc(findLabels(row.text), func(s labelSpan) bool { return s.kind == labelPart })
	})
	least := labelTotal
	if !taxed {
		least = labelSum
	}
	if best, ok := highest(all, least); ok {
		return best.verify(rows, all), true
	}
	for _, f := range all {
		if sum, ok := subtotals(all, f); ok && sum == f.value && f.label != labelSubtotal {
			return total{figure: f, agreement: confirmed, limit: 1}, true
		}
	}
	if slices.ContainsFunc(all, func(f figure) bool { return f.label >= least }) {
		return total{}, false // Ambiguous.
	}
	var priced []figure
	for _, f := range all {
		if f.currency != "" {
			priced = append(priced, f)
		}
	}
	if len(priced) == 0 || taxed && len(priced) < 3 {
		return total{}, false // Net and tax alone do not make a total.
	}
	last := priced[len(priced)-1]
	for _, f := range priced {
		if f.value > last.value {
			return total{}, false
		}
	}
	return total{figure: last, limit: unlabelledConfidence}.verify(rows, all), true
}

// highest returns the figure with the highest label of at least the given kind.
func highest(all []figure, least label) (total, bool) {
	var best []figure
	for _, f := range all {
		if f.label < least {
			continue
		}
		if len(best) > 0 && f.label > best[0].label {
			best = best[:0]
		}
		if len(best) == 0 || f.label == best[0].label {
			best = append(best, f)
		}
	}
	if len(best) == 0 {
		return total{}, false
	}
	choice := best[0]
	for _, f := range best[1:] {
		if f.value != choice.value {
			return total{}, false
		}
		if f.confidence > choice.confidence {
			choice = f
		}
	}
	return total{figure: choice, limit: 1}, true
}

// verify compares the total with what else the document says about it.
func (t total) verify(rows []line, all []figure) total {
	if sum, ok := t.parts(all); ok {
		t.agreement = refuted
		if sum == t.value {
			t.agreement = confirmed
		}
	}
	if words, ok := amountInWords(rows); ok && words == t.value {
		t.agreement, t.inWords = confirmed, true
	}
	if t.agreement == refuted {
		t.limit = min(t.limit, refutedConfidence)
	}
	return t
}

// parts adds up what the total consists of: the figures of the row 合计 (net and tax), or a subtotal and what follows.
func (t total) parts(all []figure) (money.Amount, bool) {
	for i, f := range all {
		if f.label != labelSum || f.line == t.line || i+1 == len(all) || all[i+1].line != f.line {
			continue
		}
		if sum, err := f.value.Add(all[i+1].value); err == nil {
			return sum, true
		}
	}
	return subtotals(all, t.figure)
}

// subtotals adds the last subtotal before a figure and every figure between the two.
func subtotals(all []figure, f figure) (money.Amount, bool) {
	at := slices.Index(all, f)
	for i := at - 1; i >= 0; i-- {
		if all[i].label != labelSubtotal {
			continue
		}
		if i == at-1 {
			return 0, false // Nothing between: equal amounts would prove nothing.
		}
		var sum money.Amount
		for _, part := range all[i:at] {
			next, err := sum.Add(part.value)
			if err != nil {
				return 0, false
			}
			sum = next
		}
		return sum, true
	}
	return 0, false
}
