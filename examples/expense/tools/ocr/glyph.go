package ocr

import (
	"cmp"
	"image"
	"slices"
)

// digitBox is where the digits of a figure stand on the region. Tesseract often takes the currency sign into the same
// word; it is cut off at the white between it and the first digit.
func digitBox(region *image.Gray, row line, f figure) image.Rectangle {
	box := row.place(f.start, f.end)
	first := row.from[f.start]
	if first < 0 {
		return box
	}
	start := f.start
	for start > 0 && row.from[start-1] == first {
		start--
	}
	prefix := len([]rune(row.text[start:f.start]))
	if prefix == 0 {
		return box
	}
	w := row.words[first]
	glyphs := glyphColumns(region, w.box)
	letters := len([]rune(w.text))
	if len(glyphs) == letters && prefix < letters {
		box.Min.X = (glyphs[prefix-1].Max.X + glyphs[prefix].Min.X) / 2
	} else {
		box.Min.X = w.box.Min.X + w.box.Dx()*prefix/max(1, letters)
	}
	return box
}

// glyphColumns finds the letters of a word as patches of ink, from left to right; patches above one another are one
// letter. Specks are ignored, but not a point.
func glyphColumns(region *image.Gray, box image.Rectangle) []image.Rectangle {
	part := crop(region, box)
	if part.Rect.Empty() {
		return nil
	}
	patches := analyse(part).parts
	slices.SortFunc(patches, func(a, b component) int { return cmp.Compare(a.box.Min.X, b.box.Min.X) })
	var columns []image.Rectangle
	for _, patch := range patches {
		if patch.area < 3 {
			continue
		}
		at := patch.box.Add(box.Min)
		if last := len(columns) - 1; last >= 0 && at.Min.X < columns[last].Max.X {
			columns[last] = columns[last].Union(at)
			continue
		}
		columns = append(columns, at)
	}
	return columns
}
