package main

import (
	"image"
	"image/color"
	"math"
)

// landscape paints hills under a sun: a picture in which there is nothing to read.
func landscape() image.Image {
	const width, height = 800, 600
	picture := image.NewRGBA(image.Rect(0, 0, width, height))
	for y := range height {
		for x := range width {
			fx, fy := float64(x), float64(y)
			shade := color.RGBA{R: uint8(120 + y/8), G: uint8(170 + y/12), B: 235, A: 255}
			if math.Hypot(fx-620, fy-120) < 60 {
				shade = color.RGBA{R: 255, G: 226, B: 120, A: 255}
			}
			for i, hill := range []float64{330, 400, 480} {
				crest := hill + 40*math.Sin(fx/(90+30*float64(i))+float64(i)*2) + 12*math.Sin(fx/31)
				if fy > crest {
					dim := uint8(math.Min(90, (fy-crest)/3))
					shade = color.RGBA{R: uint8(90-20*i) - dim/3, G: uint8(170-30*i) - dim/2, B: uint8(100 - 20*i), A: 255}
				}
			}
			picture.SetRGBA(x, y, shade)
		}
	}
	return picture
}
