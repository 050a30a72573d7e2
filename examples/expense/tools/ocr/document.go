package ocr

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"image"
	"math"
)

// Document is one upload to be read.
type Document struct {
	Name string // As the user sees it; results refer to it.
	Data []byte
}

// Region is where on the upload a document lies, in pixels from its upper left corner.
type Region struct {
	X      int `json:"x"`
	Y      int `json:"y"`
	Width  int `json:"width"`
	Height int `json:"height"`
}

// Invoice is what one invoice says. It always has an amount.
type Invoice struct {
	// ID is the invoice's number if that was read with confidence, otherwise a digest of the region's picture. The same
	// upload always gives the same id.
	ID       string `json:"id"`
	File     string `json:"file"`
	Region   Region `json:"region"`
	Merchant string `json:"merchant,omitempty"`
	Item     string `json:"item,omitempty"`
	Date     string `json:"date,omitempty"` // ISO.
	Amount   string `json:"amount"`         // Decimal with two digits.
	Currency string `json:"currency,omitempty"`
	// Confidence is that of the amount, which is what a claim is about. The other fields have their own.
	Confidence float64          `json:"confidence"`
	Fields     map[string]Field `json:"fields"`
}

// Unreadable is an upload, or a part of one, from which nothing was taken, and why.
type Unreadable struct {
	File   string `json:"file"`
	Reason string `json:"reason"`
}

// Reading is what a batch of documents says.
type Reading struct {
	Invoices    []Invoice    `json:"invoices"`
	Itineraries []Itinerary  `json:"itineraries"`
	Unreadable  []Unreadable `json:"unreadable"`

	// Regions is how many separate documents were looked for, Confirmed how many totals equal net plus tax, InWords how
	// many equal the amount in words, and Reread how many were read twice with the same result.
	Regions, Confirmed, InWords, Reread int `json:"-"`
}

// Confidence is that of the least certain document, 1 if there is none.
func (r Reading) Confidence() float64 {
	least := 1.0
	for _, invoice := range r.Invoices {
		least = min(least, invoice.Confidence)
	}
	for _, itinerary := range r.Itineraries {
		least = min(least, itinerary.Confidence)
	}
	return least
}

// add appends the results of one upload.
func (r *Reading) add(other Reading) {
	r.Invoices = append(r.Invoices, other.Invoices...)
	r.Itineraries = append(r.Itineraries, other.Itineraries...)
	r.Unreadable = append(r.Unreadable, other.Unreadable...)
	r.Regions += other.Regions
	r.Confirmed += other.Confirmed
	r.InWords += other.InWords
	r.Reread += other.Reread
}

// identity is the id of an invoice.
func identity(number Field, region *image.Gray) string {
	const sure = 0.8
	if number.Confidence >= sure {
		return number.Value
	}
	digest := sha256.New()
	fmt.Fprintf(digest, "%dx%d\n", region.Rect.Dx(), region.Rect.Dy())
	digest.Write(region.Pix)
	return "R-" + hex.EncodeToString(digest.Sum(nil))[:16]
}

// regionOf maps an area of the reduced page back to pixels of the upload.
func regionOf(area image.Rectangle, scale float64) Region {
	at := func(v int) int { return int(math.Round(float64(v) * scale)) }
	return Region{X: at(area.Min.X), Y: at(area.Min.Y), Width: at(area.Dx()), Height: at(area.Dy())}
}
