package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"image"
	"image/jpeg"
	"image/png"
	"os"
	"path/filepath"
)

func main() {
	fontPath := flag.String("font", "", "TrueType or OpenType font or collection with Chinese glyphs (required)")
	index := flag.Int("font-index", 2, "index of the face in a collection; 2 is Simplified Chinese in Noto Sans CJK")
	selfTest := flag.String("selftest", "", "file that the picture of ocr_tool's self-test is written to, if not empty")
	out := flag.String("out", ".", "directory that the files are written to")
	flag.Parse()
	if err := run(*fontPath, *index, *out, *selfTest); err != nil {
		fmt.Fprintln(os.Stderr, "generate:", err)
		os.Exit(1)
	}
}

// run draws every file into the directory out.
func run(fontPath string, index int, out, selfTest string) error {
	if fontPath == "" {
		return errors.New("--font is required, for example the .ttc file of the Debian package fonts-noto-cjk")
	}
	typeface, err := loadFont(fontPath, index)
	if err != nil {
		return err
	}
	pictures := map[string]image.Image{
		"invoices.png":       chineseInvoices(typeface, taxi),
		"invoices-sharp.png": chineseInvoices(typeface, none),
		"invoices-en.png":    englishInvoices(typeface),
		"itinerary.png":      chineseItinerary(typeface, "2024", 5),
		"itinerary-june.png": chineseItinerary(typeface, "2024", 6),
		"itinerary-en.png":   englishItinerary(typeface),
	}
	for name, picture := range pictures {
		if err := writePNG(filepath.Join(out, name), picture); err != nil {
			return err
		}
	}
	if selfTest != "" {
		if err := writePNG(selfTest, receipt(typeface)); err != nil {
			return err
		}
	}
	var photo bytes.Buffer
	if err := jpeg.Encode(&photo, landscape(), &jpeg.Options{Quality: 85}); err != nil {
		return fmt.Errorf("encode %q: %w", "photo.jpg", err)
	}
	if err := os.WriteFile(filepath.Join(out, "photo.jpg"), photo.Bytes(), 0o644); err != nil {
		return err
	}
	text := []byte("This is a text file whose name ends in .png: 住宿费 ￥3200.00\n")
	if err := os.WriteFile(filepath.Join(out, "not-an-image.png"), text, 0o644); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(out, "empty.png"), nil, 0o644)
}

func writePNG(path string, picture image.Image) error {
	var buffer bytes.Buffer
	encoder := png.Encoder{CompressionLevel: png.BestCompression}
	if err := encoder.Encode(&buffer, picture); err != nil {
		return fmt.Errorf("encode %q: %w", path, err)
	}
	return os.WriteFile(path, buffer.Bytes(), 0o644)
}
