package ocr

import (
	"context"
	"image"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/hermes-orchestrator/hermes/examples/expense/tools/money"
)

// look is what one more reading of an amount gave; zero if it was no figure.
type look struct {
	value      money.Amount
	confidence float64
}

// reread reads the digits of an amount again: alone, with nothing but digits allowed, at several sizes. Clear print
// gives the same figure at every size, blurred print does not. The result is the mean confidence of the looks, in which
// one that saw something else counts as 0: tesseract's own figure for a single look says little about blur.
//
// It is not ok if no look confirms the figure, or if another one was seen with more confidence: then there is no
// telling which is right.
func (j *job) reread(ctx context.Context, region *image.Gray, row line, f figure) (float64, bool, error) {
	box := digitBox(region, row, f)
	if box.Empty() {
		return 0, false, nil
	}
	// Room to the right shows digits that the first reading left out.
	pad := max(2, box.Dy()/4)
	part := crop(region, image.Rect(box.Min.X-1, box.Min.Y-pad, box.Max.X+box.Dy(), box.Max.Y+pad))
	heights := [...]float64{28, 40, 60} // Pixels of a digit, around what recognition was trained with.
	var looks [len(heights)]look
	group, ctx := errgroup.WithContext(ctx)
	for i, height := range heights {
		group.Go(func() error {
			picture := enlarge(part, min(6, height/float64(box.Dy())))
			words, err := j.reader.engine.read(ctx, picture, modeLine, "eng", "0123456789.,")
			looks[i] = interpret(words, f.value)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return 0, false, err
	}
	weight := map[money.Amount]float64{}
	for _, l := range looks {
		weight[l.value] += l.confidence
	}
	agreed := weight[f.value]
	for value, w := range weight {
		if value != f.value && value != 0 && w >= agreed {
			return 0, false, nil
		}
	}
	return agreed / float64(len(looks)), agreed > 0, nil
}

// interpret makes a figure of the words of one look. A currency sign at the edge of the crop is forced into a digit by
// the list of letters: one digit too many in front of the expected figure is such a sign.
func interpret(words []word, expected money.Amount) look {
	text, confidence := "", 1.0
	for _, w := range words {
		text += w.text
		confidence = min(confidence, w.confidence)
	}
	digits := strings.TrimRight(strings.ReplaceAll(text, ",", ""), ".")
	value, err := money.Parse(digits)
	if err != nil {
		return look{}
	}
	if value != expected && len(digits) > 1 {
		if rest, err := money.Parse(digits[1:]); err == nil && rest == expected {
			return look{value: expected, confidence: max(confidence, signConfidence)}
		}
	}
	return look{value: value, confidence: confidence}
}

// signConfidence is the least confidence of a look whose word was spoilt by a currency sign.
const signConfidence = 0.8
