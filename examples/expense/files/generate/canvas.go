package main

import (
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"os"

	"golang.org/x/image/font"
	"golang.org/x/image/font/opentype"
	"golang.org/x/image/math/fixed"
)

// Inks of a printed Chinese invoice: brown for the form, black for what the printer fills in.
var (
	paper = color.RGBA{R: 255, G: 255, B: 255, A: 255}
	form  = color.RGBA{R: 128, G: 62, B: 30, A: 255}
	ink   = color.RGBA{R: 20, G: 20, B: 24, A: 255}
)

// typeface opens faces of one font at any size, in pixels.
type typeface struct {
	font  *opentype.Font
	faces map[float64]font.Face
}

func loadFont(path string, index int) (*typeface, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	collection, err := opentype.ParseCollection(data)
	if err != nil {
		return nil, fmt.Errorf("parse font %q: %w", path, err)
	}
	parsed, err := collection.Font(min(index, collection.NumFonts()-1))
	if err != nil {
		return nil, fmt.Errorf("open face %d of font %q: %w", index, path, err)
	}
	return &typeface{font: parsed, faces: map[float64]font.Face{}}, nil
}

func (t *typeface) face(size float64) font.Face {
	if face, ok := t.faces[size]; ok {
		return face
	}
	face, err := opentype.NewFace(t.font, &opentype.FaceOptions{Size: size, DPI: 72, Hinting: font.HintingNone})
	if err != nil {
		// NewFace fails for a nil font only, and loadFont returns none.
		panic(err)
	}
	t.faces[size] = face
	return face
}

// canvas is a white picture to write and rule on.
type canvas struct {
	*image.RGBA
	typeface *typeface
}

func newCanvas(t *typeface, width, height int) *canvas {
	picture := image.NewRGBA(image.Rect(0, 0, width, height))
	draw.Draw(picture, picture.Bounds(), image.NewUniform(paper), image.Point{}, draw.Src)
	return &canvas{RGBA: picture, typeface: t}
}

// write draws text with its left end of the base line at (x, y) and returns the x after it.
func (c *canvas) write(x, y int, size float64, shade color.Color, text string) int {
	drawer := font.Drawer{Dst: c, Src: image.NewUniform(shade), Face: c.typeface.face(size), Dot: fixed.P(x, y)}
	drawer.DrawString(text)
	return drawer.Dot.X.Ceil()
}

// writeRight draws text that ends at x.
func (c *canvas) writeRight(x, y int, size float64, shade color.Color, text string) {
	width := font.MeasureString(c.typeface.face(size), text).Ceil()
	c.write(x-width, y, size, shade, text)
}

// writeCentre draws text centred on x.
func (c *canvas) writeCentre(x, y int, size float64, shade color.Color, text string) {
	width := font.MeasureString(c.typeface.face(size), text).Ceil()
	c.write(x-width/2, y, size, shade, text)
}

// fill paints a rectangle.
func (c *canvas) fill(r image.Rectangle, shade color.Color) {
	draw.Draw(c, r, image.NewUniform(shade), image.Point{}, draw.Src)
}

// frame rules the border of a rectangle.
func (c *canvas) frame(r image.Rectangle, shade color.Color) {
	const width = 2
	c.fill(image.Rect(r.Min.X, r.Min.Y, r.Max.X, r.Min.Y+width), shade)
	c.fill(image.Rect(r.Min.X, r.Max.Y-width, r.Max.X, r.Max.Y), shade)
	c.fill(image.Rect(r.Min.X, r.Min.Y, r.Min.X+width, r.Max.Y), shade)
	c.fill(image.Rect(r.Max.X-width, r.Min.Y, r.Max.X, r.Max.Y), shade)
}

// rule draws a horizontal line.
func (c *canvas) rule(x0, x1, y int, shade color.Color) {
	c.fill(image.Rect(x0, y, x1, y+2), shade)
}
