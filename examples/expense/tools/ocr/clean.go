package ocr

import (
	"image"
)

// isBand reports whether a patch is a dark area with light print on it: a table's head, a total on a dark ground.
func (l *layout) isBand(c component) bool {
	return c.box.Dx() >= 4*l.print && c.box.Dy() >= l.print*5/4 && c.fill() >= 0.6
}

// isRule reports whether a patch is a line or a frame of lines.
func (l *layout) isRule(c component) bool {
	w, h := c.box.Dx(), c.box.Dy()
	line := min(w, h) <= max(3, l.print/4) && max(w, h) >= 5*l.print
	frame := max(w, h) >= 10*l.print && min(w, h) >= 2*l.print && c.fill() < 0.2
	return line || frame
}

// clean returns a copy in which rules and frames are paper, and dark bands are turned to dark print on white.
// Tesseract takes frames for letters, and does not see light print inside of a page of dark print.
func (l *layout) clean() *image.Gray {
	target := crop(l.grey, l.grey.Rect)
	if l.print == 0 {
		return target
	}
	width, height := l.grey.Rect.Dx(), l.grey.Rect.Dy()
	erase := make([]bool, len(l.parts)+1)
	for i, part := range l.parts {
		switch {
		case l.isBand(part):
			for y := part.box.Min.Y; y < part.box.Max.Y; y++ {
				for x := part.box.Min.X; x < part.box.Max.X; x++ {
					at := y*width + x
					target.Pix[at] = 255 - l.grey.Pix[at]
				}
			}
			l.whiten(target, part.box)
		case l.isRule(part):
			erase[i+1] = true
		}
	}
	// The soft edge of a rule is lighter than ink: it goes with its neighbour, unless it belongs to print.
	for y := range height {
		for x := range width {
			at := y*width + x
			if id := l.label[at]; id > 0 && !erase[id] || !l.near(x, y, erase) {
				continue
			}
			target.Pix[at] = 255
		}
	}
	return target
}

// near reports whether the pixel or one of its eight neighbours belongs to a patch that is erased.
func (l *layout) near(x, y int, erase []bool) bool {
	width, height := l.grey.Rect.Dx(), l.grey.Rect.Dy()
	for ny := max(0, y-1); ny <= min(height-1, y+1); ny++ {
		for nx := max(0, x-1); nx <= min(width-1, x+1); nx++ {
			if erase[l.label[ny*width+nx]] {
				return true
			}
		}
	}
	return false
}

// whiten stretches a turned band so that its ground, which was merely dark, becomes white.
func (l *layout) whiten(target *image.Gray, box image.Rectangle) {
	var histogram [256]int
	width := target.Rect.Dx()
	for y := box.Min.Y; y < box.Max.Y; y++ {
		for x := box.Min.X; x < box.Max.X; x++ {
			histogram[target.Pix[y*width+x]]++
		}
	}
	ground := 0
	for v, n := range histogram {
		if n > histogram[ground] {
			ground = v
		}
	}
	if ground == 0 {
		return
	}
	for y := box.Min.Y; y < box.Max.Y; y++ {
		for x := box.Min.X; x < box.Max.X; x++ {
			at := y*width + x
			target.Pix[at] = uint8(min(255, int(target.Pix[at])*255/ground))
		}
	}
}
