package ocr

import (
	"image"
	"slices"
)

// component is a connected patch of ink: a stroke, a letter, a rule, a frame, or a dark band with light print.
type component struct {
	box  image.Rectangle
	area int
	// start is one of its pixels, as an index into the mask.
	start int
}

// fill is the share of its box that is ink.
func (c component) fill() float64 {
	return float64(c.area) / float64(c.box.Dx()*c.box.Dy())
}

// layout is what lies on a page: a map of the ink and its connected patches.
type layout struct {
	grey  *image.Gray
	label []int32 // Per pixel: 0 paper, otherwise 1 + index of the component.
	parts []component
	// print is the usual height of a letter or figure in pixels; 0 if there is no print at all.
	print int
}

// analyse finds the patches of ink of a picture whose bounds begin at (0, 0).
func analyse(grey *image.Gray) *layout {
	width, height := grey.Rect.Dx(), grey.Rect.Dy()
	l := &layout{grey: grey, label: make([]int32, width*height)}
	level := threshold(grey)
	for i, v := range grey.Pix {
		if v < level {
			l.label[i] = -1
		}
	}
	var stack []int
	for start := range l.label {
		if l.label[start] != -1 {
			continue
		}
		id := int32(len(l.parts) + 1)
		part := component{box: image.Rectangle{Min: image.Pt(width, height)}, start: start} // Inside out: grows.
		l.label[start] = id
		stack = append(stack[:0], start)
		for len(stack) > 0 {
			at := stack[len(stack)-1]
			stack = stack[:len(stack)-1]
			x, y := at%width, at/width
			part.area++
			part.box.Min.X, part.box.Min.Y = min(part.box.Min.X, x), min(part.box.Min.Y, y)
			part.box.Max.X, part.box.Max.Y = max(part.box.Max.X, x+1), max(part.box.Max.Y, y+1)
			for ny := max(0, y-1); ny <= min(height-1, y+1); ny++ {
				for nx := max(0, x-1); nx <= min(width-1, x+1); nx++ {
					if next := ny*width + nx; l.label[next] == -1 {
						l.label[next] = id
						stack = append(stack, next)
					}
				}
			}
		}
		l.parts = append(l.parts, part)
	}
	l.print = printHeight(l.parts)
	return l
}

// printHeight estimates the height of figures from the heights of all patches of a letter's shape. Chinese characters
// fall into strokes, which pulls the middle down: hence not the median.
func printHeight(parts []component) int {
	var heights []int
	for _, part := range parts {
		w, h := part.box.Dx(), part.box.Dy()
		if h >= 6 && h <= 160 && w <= 4*h && h <= 10*w && part.area >= 8 {
			heights = append(heights, h)
		}
	}
	const least = 8 // Fewer patches are specks, not print.
	if len(heights) < least {
		return 0
	}
	slices.Sort(heights)
	return heights[len(heights)*65/100]
}

// threshold is Otsu's level between ink and paper, kept within what print on paper can be.
func threshold(grey *image.Gray) uint8 {
	var histogram [256]int
	for _, v := range grey.Pix {
		histogram[v]++
	}
	var sum int
	for v, n := range histogram {
		sum += v * n
	}
	total := len(grey.Pix)
	var below, belowSum int
	best, level := -1.0, 128
	for v, n := range histogram {
		below += n
		belowSum += v * n
		if below == 0 || below == total {
			continue
		}
		low := float64(belowSum) / float64(below)
		high := float64(sum-belowSum) / float64(total-below)
		if between := float64(below) * float64(total-below) * (high - low) * (high - low); between > best {
			best, level = between, v+1
		}
	}
	return uint8(min(max(level, 110), 190))
}
