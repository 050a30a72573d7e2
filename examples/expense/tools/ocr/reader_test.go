package ocr_test

import (
	"bytes"
	"context"
	"image"
	"image/draw"
	"image/png"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/hermes-orchestrator/hermes/examples/expense/tools/ocr"
)

const samples = "../../files"

func read(t *testing.T, folder string, names ...string) ocr.Reading {
	t.Helper()
	reader, err := ocr.NewReader(ocr.Config{})
	require.NoError(t, err)
	documents := make([]ocr.Document, len(names))
	for i, name := range names {
		documents[i] = document(t, folder, name)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	reading, err := reader.Read(ctx, documents)
	require.NoError(t, err)
	return reading
}

// The two uploads of the acceptance dialogue (SPEC F): three invoices on one picture, one amount blurred.
func TestAcceptanceUploads(t *testing.T) {
	t.Parallel()
	requireTesseract(t)
	reading := read(t, samples, "invoices.png", "itinerary.png")
	require.Empty(t, reading.Unreadable)
	require.Len(t, reading.Invoices, 3)
	want := []struct{ id, merchant, date, amount string }{
		{"24442000000031850627", "深圳湾景酒店有限公司", "2024-05-15", "3200.00"},
		{"24312000000047291836", "云鹏航空股份有限公司", "2024-05-12", "4560.00"},
		{"24442000000058163927", "深圳市鹏行出租汽车有限公司", "2024-05-14", "480.00"},
	}
	for i, invoice := range reading.Invoices {
		require.Equal(t, want[i].id, invoice.ID)
		require.Equal(t, want[i].merchant, invoice.Merchant)
		require.Equal(t, want[i].date, invoice.Date)
		require.Equal(t, want[i].amount, invoice.Amount)
		require.Equal(t, "CNY", invoice.Currency)
		require.Equal(t, "invoices.png", invoice.File)
		require.InDelta(t, invoice.Confidence, invoice.Fields["amount"].Confidence, 0)
	}
	require.GreaterOrEqual(t, reading.Invoices[0].Confidence, 0.8)
	require.GreaterOrEqual(t, reading.Invoices[1].Confidence, 0.8)
	require.Greater(t, reading.Invoices[2].Confidence, 0.4, "the blurred amount")
	require.Less(t, reading.Invoices[2].Confidence, 0.7, "the blurred amount")

	require.Len(t, reading.Itineraries, 1)
	require.Equal(t, "深圳", reading.Itineraries[0].City)
	require.Equal(t, ocr.Dates{Start: "2024-05-12", End: "2024-05-15"}, reading.Itineraries[0].Dates)
	require.GreaterOrEqual(t, reading.Itineraries[0].Confidence, 0.8)
	require.Equal(t, 4, reading.Regions)
}

func TestSharpUploads(t *testing.T) {
	t.Parallel()
	requireTesseract(t)
	reading := read(t, samples, "invoices-sharp.png", "itinerary-june.png")
	require.Empty(t, reading.Unreadable)
	require.Len(t, reading.Invoices, 3)
	for _, invoice := range reading.Invoices {
		require.GreaterOrEqual(t, invoice.Confidence, 0.8, invoice.Merchant)
	}
	require.Equal(t, ocr.Dates{Start: "2024-06-12", End: "2024-06-15"}, reading.Itineraries[0].Dates)
}

func TestEnglishUploads(t *testing.T) {
	t.Parallel()
	requireTesseract(t)
	reading := read(t, samples, "invoices-en.png", "itinerary-en.png")
	require.Empty(t, reading.Unreadable)
	require.Len(t, reading.Invoices, 3)
	for i, want := range []struct{ id, amount, date string }{
		{"BH-2024-051877", "3200.00", "2024-05-15"},
		{"YP-2024-229310", "4560.00", "2024-05-12"},
		{"PX-2024-660452", "480.00", "2024-05-14"},
	} {
		invoice := reading.Invoices[i]
		require.Equal(t, want.id, invoice.ID)
		require.Equal(t, want.amount, invoice.Amount)
		require.Equal(t, want.date, invoice.Date)
		require.Equal(t, "CNY", invoice.Currency)
		require.GreaterOrEqual(t, invoice.Confidence, 0.8)
	}
	require.Equal(t, "深圳", reading.Itineraries[0].City)
	require.Equal(t, ocr.Dates{Start: "2024-05-12", End: "2024-05-15"}, reading.Itineraries[0].Dates)
}

// What cannot be read is named with a reason, and does not disturb the rest of the batch.
func TestUnreadableUploads(t *testing.T) {
	t.Parallel()
	requireTesseract(t)
	reading := read(t, samples, "not-an-image.png", "photo.jpg", "itinerary.png", "empty.png")
	require.Equal(t, []ocr.Unreadable{
		{File: "not-an-image.png", Reason: "不是PNG或JPEG图片"},
		{File: "photo.jpg", Reason: "图片中没有可识别的文字"},
		{File: "empty.png", Reason: "文件为空"},
	}, reading.Unreadable)
	require.Empty(t, reading.Invoices)
	require.Len(t, reading.Itineraries, 1)
}

// Documents are found below one another as well, and without frames around them.
func TestSeveralOnOnePicture(t *testing.T) {
	t.Parallel()
	requireTesseract(t)
	cards, err := png.Decode(bytes.NewReader(document(t, samples, "invoices-sharp.png").Data))
	require.NoError(t, err)
	receipt, err := png.Decode(bytes.NewReader(document(t, ".", "selftest.png").Data))
	require.NoError(t, err)
	const wide, high = 820, 640
	stacked := paper(wide, 2*high)
	draw.Draw(stacked, image.Rect(0, 0, wide, high), cards, image.Point{}, draw.Src)
	draw.Draw(stacked, image.Rect(20, high, wide, 2*high), cards, image.Pt(wide, 0), draw.Src)
	frameless := paper(900, 220)
	draw.Draw(frameless, image.Rect(0, 0, 420, 220), receipt, image.Point{}, draw.Src)
	draw.Draw(frameless, image.Rect(480, 0, 900, 220), receipt, image.Point{}, draw.Src)

	reader, err := ocr.NewReader(ocr.Config{})
	require.NoError(t, err)
	reading, err := reader.Read(t.Context(), []ocr.Document{
		{Name: "stacked.png", Data: encode(t, stacked)}, {Name: "frameless.png", Data: encode(t, frameless)},
	})
	require.NoError(t, err)
	require.Empty(t, reading.Unreadable)
	amounts := make([]string, len(reading.Invoices))
	for i, invoice := range reading.Invoices {
		amounts[i] = invoice.File + " " + invoice.Amount
	}
	require.Equal(t, []string{
		"stacked.png 3200.00", "stacked.png 4560.00", "frameless.png 58.00", "frameless.png 58.00",
	}, amounts)
}

func paper(width, height int) *image.Gray {
	sheet := image.NewGray(image.Rect(0, 0, width, height))
	draw.Draw(sheet, sheet.Rect, image.White, image.Point{}, draw.Src)
	return sheet
}

func encode(t *testing.T, picture image.Image) []byte {
	t.Helper()
	var buffer bytes.Buffer
	require.NoError(t, png.Encode(&buffer, picture))
	return buffer.Bytes()
}

func TestSameBytesGiveTheSameReading(t *testing.T) {
	t.Parallel()
	requireTesseract(t)
	once := read(t, ".", "selftest.png")
	again := read(t, ".", "selftest.png")
	require.Equal(t, once, again)
}

// Two pictures made by others. They are not part of the repository: HERMES_TESTDATA names the folder that has them.
func TestPicturesOfOthers(t *testing.T) {
	t.Parallel()
	folder := os.Getenv("HERMES_TESTDATA")
	if folder == "" {
		t.Skip("requires test data: set HERMES_TESTDATA to the folder that has receipts/invoice_ch.png")
	}
	requireTesseract(t)
	reading := read(t, filepath.Join(folder, "receipts"), "invoice_ch.png", "invoice_en.png")
	require.Empty(t, reading.Unreadable)
	require.Len(t, reading.Invoices, 2)
	require.Equal(t, "487200.00", reading.Invoices[0].Amount)
	require.Equal(t, "TWD", reading.Invoices[0].Currency)
	require.Equal(t, "81917.50", reading.Invoices[1].Amount)
	require.Equal(t, "USD", reading.Invoices[1].Currency)
}
