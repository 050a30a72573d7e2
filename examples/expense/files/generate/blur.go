package main

import (
	"image"
	"image/color"
	"math"
)

// blur softens a rectangle of the picture with a Gaussian of the given standard deviation in pixels and pulls its
// contrast towards white: what a camera out of focus makes of print.
func (c *canvas) blur(r image.Rectangle, sigma, contrast float64) {
	r = r.Intersect(c.Bounds())
	radius := int(math.Ceil(3 * sigma))
	kernel := make([]float64, 2*radius+1)
	var sum float64
	for i := range kernel {
		d := float64(i - radius)
		kernel[i] = math.Exp(-d * d / (2 * sigma * sigma))
		sum += kernel[i]
	}
	for i := range kernel {
		kernel[i] /= sum
	}
	// One pass along each axis; the first result is kept unrounded.
	width, height := r.Dx(), r.Dy()+2*radius
	rows := make([][3]float64, width*height)
	for y := range height {
		for x := range width {
			for i, weight := range kernel {
				at := c.clamped(r.Min.X+x+i-radius, r.Min.Y+y-radius)
				rows[y*width+x][0] += weight * float64(at.R)
				rows[y*width+x][1] += weight * float64(at.G)
				rows[y*width+x][2] += weight * float64(at.B)
			}
		}
	}
	for y := range r.Dy() {
		for x := range width {
			var total [3]float64
			for i, weight := range kernel {
				for channel := range total {
					total[channel] += weight * rows[(y+i)*width+x][channel]
				}
			}
			for channel := range total {
				total[channel] = 255 - contrast*(255-total[channel])
			}
			c.SetRGBA(r.Min.X+x, r.Min.Y+y, color.RGBA{
				R: uint8(total[0] + 0.5), G: uint8(total[1] + 0.5), B: uint8(total[2] + 0.5), A: 255,
			})
		}
	}
}

func (c *canvas) clamped(x, y int) color.RGBA {
	b := c.Bounds()
	return c.RGBAAt(min(max(x, b.Min.X), b.Max.X-1), min(max(y, b.Min.Y), b.Max.Y-1))
}
