package ocr

import (
	"bytes"
	"errors"
	"image"
	"image/color"
	_ "image/jpeg" // Decoder of one of the two media types that are accepted.
	_ "image/png"  // Decoder of the other.
	"math"

	"golang.org/x/image/draw"
)

// Limits of one picture. The pixel limit is checked on the header, before any pixel is decoded: a small file can
// otherwise unfold into gigabytes.
const (
	maxFileBytes = 20 << 20
	maxPixels    = 40_000_000
	maxSide      = 20_000
	// workPixels is what a picture is reduced to before it is searched: more adds time and no legibility.
	workPixels = 8_000_000
)

// page is a decoded picture in grey, and how much it was reduced.
type page struct {
	grey  *image.Gray
	scale float64 // Pixels of the upload per pixel of grey, ≥ 1.
}

// The reasons why an upload is no picture, as they are told to the user.
var (
	errEmptyFile  = errors.New("文件为空")
	errFileTooBig = errors.New("文件超过20MB")
	errNoPicture  = errors.New("不是PNG或JPEG图片")
	errTooLarge   = errors.New("图片尺寸过大")
	errDamaged    = errors.New("图片已损坏，无法解码")
)

// decode reads a PNG or JPEG picture. Its errors are reasons for the user, not failures of the tool.
func decode(data []byte) (page, error) {
	if len(data) == 0 {
		return page{}, errEmptyFile
	}
	if len(data) > maxFileBytes {
		return page{}, errFileTooBig
	}
	header, _, err := image.DecodeConfig(bytes.NewReader(data))
	if err != nil {
		return page{}, errNoPicture
	}
	if header.Width > maxSide || header.Height > maxSide || header.Width*header.Height > maxPixels {
		return page{}, errTooLarge
	}
	picture, _, err := image.Decode(bytes.NewReader(data))
	if err != nil {
		return page{}, errDamaged
	}
	bounds := picture.Bounds()
	scale := math.Max(1, math.Sqrt(float64(bounds.Dx()*bounds.Dy())/workPixels))
	size := image.Rect(0, 0, int(float64(bounds.Dx())/scale), int(float64(bounds.Dy())/scale))
	if size.Empty() {
		return page{}, errTooLarge
	}
	// Transparent parts are paper.
	grey := image.NewGray(size)
	draw.Draw(grey, size, image.NewUniform(color.White), image.Point{}, draw.Src)
	if scale == 1 {
		draw.Draw(grey, size, picture, bounds.Min, draw.Over)
	} else {
		draw.ApproxBiLinear.Scale(grey, size, picture, bounds, draw.Over, nil)
	}
	return page{grey: grey, scale: scale}, nil
}

// enlarge returns the picture scaled by factor, with a white margin around it: tesseract misses print at the edge.
func enlarge(source *image.Gray, factor float64) *image.Gray {
	const border = 20
	bounds := source.Bounds()
	width, height := int(float64(bounds.Dx())*factor), int(float64(bounds.Dy())*factor)
	target := image.NewGray(image.Rect(0, 0, width+2*border, height+2*border))
	draw.Draw(target, target.Bounds(), image.NewUniform(color.White), image.Point{}, draw.Src)
	inner := image.Rect(border, border, border+width, border+height)
	draw.CatmullRom.Scale(target, inner, source, bounds, draw.Src, nil)
	return target
}

// shrink maps a rectangle of an enlarged picture back to its source.
func shrink(r image.Rectangle, factor float64, origin image.Point) image.Rectangle {
	const border = 20
	at := func(v int) int { return int(math.Round(float64(v-border) / factor)) }
	return image.Rect(at(r.Min.X), at(r.Min.Y), at(r.Max.X), at(r.Max.Y)).Add(origin)
}

// crop copies a part of the picture, so that it may be changed.
func crop(source *image.Gray, r image.Rectangle) *image.Gray {
	r = r.Intersect(source.Bounds())
	target := image.NewGray(image.Rect(0, 0, r.Dx(), r.Dy()))
	draw.Draw(target, target.Bounds(), source, r.Min, draw.Src)
	return target
}
