package ocr

import (
	"cmp"
	"image"
	"slices"
)

// split proposes where the documents of a page are: frames that stand apart, or areas between wide white gutters. It
// only proposes: the reader keeps the proposal if there is a document in more than one of the parts, otherwise it
// reads the page as one. A nil answer is "one document".
func (l *layout) split() []image.Rectangle {
	if l.print == 0 {
		return nil
	}
	if frames := l.frames(); len(frames) > 1 {
		return frames
	}
	ink := l.inkBox()
	if columns := l.cut(ink, true); len(columns) > 1 {
		return columns
	}
	if rows := l.cut(ink, false); len(rows) > 1 {
		return rows
	}
	return nil
}

// frames lists large ruled boxes that do not lie in one another, in reading order.
func (l *layout) frames() []image.Rectangle {
	page := l.grey.Rect
	var boxes []image.Rectangle
	for _, part := range l.parts {
		if part.box.Dx()*6 < page.Dx() || part.box.Dy()*6 < page.Dy() || part.fill() >= 0.2 || l.isBand(part) {
			continue
		}
		boxes = append(boxes, part.box)
	}
	var outer []image.Rectangle
	for i, box := range boxes {
		inside := false
		for j, other := range boxes {
			if i == j {
				continue
			}
			if box.In(other) && box != other {
				inside = true
			} else if box.Overlaps(other) && !other.In(box) {
				return nil // Boxes that cross are a drawing, not a row of documents.
			}
		}
		if !inside {
			outer = append(outer, box)
		}
	}
	slices.SortFunc(outer, func(a, b image.Rectangle) int {
		if a.Max.Y <= b.Min.Y || b.Max.Y <= a.Min.Y {
			return cmp.Compare(a.Min.Y, b.Min.Y)
		}
		return cmp.Compare(a.Min.X, b.Min.X)
	})
	return widen(outer, page)
}

// widen grows each frame to half of the way to its neighbours, or to the edge of the page: titles and numbers of an
// invoice are often printed outside of its frame.
func widen(frames []image.Rectangle, page image.Rectangle) []image.Rectangle {
	wide := make([]image.Rectangle, len(frames))
	for i, frame := range frames {
		grown := page
		for j, other := range frames {
			if i == j {
				continue
			}
			switch {
			case other.Min.X >= frame.Max.X:
				grown.Max.X = min(grown.Max.X, (frame.Max.X+other.Min.X)/2)
			case other.Max.X <= frame.Min.X:
				grown.Min.X = max(grown.Min.X, (frame.Min.X+other.Max.X)/2)
			case other.Min.Y >= frame.Max.Y:
				grown.Max.Y = min(grown.Max.Y, (frame.Max.Y+other.Min.Y)/2)
			default:
				grown.Min.Y = max(grown.Min.Y, (frame.Min.Y+other.Max.Y)/2)
			}
		}
		wide[i] = grown
	}
	return wide
}

func (l *layout) inkBox() image.Rectangle {
	var box image.Rectangle
	for _, part := range l.parts {
		box = box.Union(part.box)
	}
	return box
}

// cut divides an area at white gutters that run through it from edge to edge: columns, or rows. Paragraphs of one
// document are set apart as well, so that a gutter between rows must be much wider than one between columns.
func (l *layout) cut(area image.Rectangle, columns bool) []image.Rectangle {
	lo, hi := area.Min.Y, area.Max.Y
	gutter, least := max(3*l.print, area.Dy()*6/100), area.Dy()/5
	if columns {
		lo, hi = area.Min.X, area.Max.X
		gutter, least = max(3*l.print/2, area.Dx()*15/1000), area.Dx()/8
	}
	occupied := make([]bool, hi+1)
	for _, part := range l.parts {
		from, to := part.box.Min.Y, part.box.Max.Y
		if columns {
			from, to = part.box.Min.X, part.box.Max.X
		}
		for v := max(from, lo); v < min(to, hi); v++ {
			occupied[v] = true
		}
	}
	var parts []image.Rectangle
	start, last := lo, lo
	add := func(end int) {
		r := image.Rect(area.Min.X, start, area.Max.X, end)
		if columns {
			r = image.Rect(start, area.Min.Y, end, area.Max.Y)
		}
		parts = append(parts, r)
	}
	for v := lo; v < hi; v++ {
		if !occupied[v] {
			continue
		}
		if v-last > gutter {
			add(last + 1)
			start = v
		}
		last = v
	}
	add(hi)
	for _, part := range parts {
		if size := part.Dy(); !columns && size < least {
			return nil
		}
		if size := part.Dx(); columns && size < least {
			return nil
		}
	}
	return parts
}
