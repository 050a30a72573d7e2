package ocr

import (
	"context"
	"fmt"
	"image"
	"math"
	"runtime"

	"golang.org/x/sync/errgroup"
)

// Reader reads documents with the program tesseract. It is safe for concurrent use; all its calls together run at most
// Config.MaxProcesses processes.
type Reader struct {
	engine *tesseract
}

// NewReader returns a reader. The program need not be installed yet: Read says so if it is missing.
func NewReader(config Config) (*Reader, error) {
	config = config.withDefaults()
	if err := config.validateReader(); err != nil {
		return nil, err
	}
	return &Reader{engine: &tesseract{
		path: config.Tesseract, languages: config.Languages,
		slots: make(chan struct{}, config.MaxProcesses), timeout: config.PageTimeout,
	}}, nil
}

// Version returns the version of tesseract, or an error that says what to install.
func (r *Reader) Version(ctx context.Context) (string, error) { return r.engine.version(ctx) }

// Read reads a batch. Results stand in the order of the documents and, within one, from left to right and top to
// bottom. What cannot be read is part of the result; an error means that reading itself was not possible.
func (r *Reader) Read(ctx context.Context, documents []Document) (Reading, error) {
	results := make([]Reading, len(documents))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(runtime.GOMAXPROCS(0)) // Bounds the pictures that are in memory at once.
	for i, document := range documents {
		group.Go(func() error {
			result, err := r.readDocument(ctx, document)
			results[i] = result
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return Reading{}, err
	}
	reading := Reading{Invoices: []Invoice{}, Itineraries: []Itinerary{}, Unreadable: []Unreadable{}}
	for _, result := range results {
		reading.add(result)
	}
	return reading, nil
}

// readDocument reads one upload, which may show several documents.
func (r *Reader) readDocument(ctx context.Context, document Document) (Reading, error) {
	unreadable := func(reason string) Reading {
		return Reading{Unreadable: []Unreadable{{File: document.Name, Reason: reason}}}
	}
	sheet, err := decode(document.Data)
	if err != nil {
		return unreadable(err.Error()), nil
	}
	plan := analyse(sheet.grey)
	if plan.print == 0 {
		return unreadable(reasonNoPrint), nil
	}
	job := &job{reader: r, file: document.Name, scale: sheet.scale, grey: plan.clean(), print: plan.print}
	parts, err := job.readAll(ctx, plan.split())
	if err != nil {
		return Reading{}, err
	}
	if documents := len(parts.Invoices) + len(parts.Itineraries); documents < 2 {
		whole, err := job.readAll(ctx, []image.Rectangle{sheet.grey.Rect})
		if err != nil {
			return Reading{}, err
		}
		if len(whole.Invoices)+len(whole.Itineraries) >= documents {
			return whole, nil
		}
	}
	return parts, nil
}

// The reasons why a region gave nothing, as they are told to the user.
const (
	reasonNoPrint  = "图片中没有可识别的文字"
	reasonNoAmount = "未能识别出金额"
	reasonNoDates  = "未能识别出行程日期"
	reasonBlurred  = "金额过于模糊，无法可靠识别"
	reasonNeither  = "既不是发票也不是行程单"
)

// job is the reading of one upload.
type job struct {
	reader *Reader
	file   string
	scale  float64
	grey   *image.Gray // Cleaned.
	print  int
}

// readAll reads the regions in parallel and keeps their order.
func (j *job) readAll(ctx context.Context, areas []image.Rectangle) (Reading, error) {
	results := make([]Reading, len(areas))
	group, ctx := errgroup.WithContext(ctx)
	for i, area := range areas {
		group.Go(func() error {
			result, err := j.readRegion(ctx, area)
			if len(areas) > 1 {
				for k := range result.Unreadable {
					result.Unreadable[k].Reason = fmt.Sprintf("第%d部分%s", i+1, result.Unreadable[k].Reason)
				}
			}
			results[i] = result
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return Reading{}, err
	}
	reading := Reading{Regions: len(areas)}
	for _, result := range results {
		reading.add(result)
	}
	return reading, nil
}

// reading is what one mode made of a region.
type reading struct {
	rows  []line
	total total
}

// readRegion reads one document. A block is tried first, because it keeps the cells of a row together; other modes
// follow only if the document is not understood.
func (j *job) readRegion(ctx context.Context, area image.Rectangle) (Reading, error) {
	region := crop(j.grey, area)
	factor := zoom(j.print)
	picture := enlarge(region, factor)
	reason := reasonNoPrint
	var doubtful *reading
	for _, mode := range []int{modeBlock, modeColumn, modeSparse} {
		words, err := j.reader.engine.read(ctx, picture, mode, j.reader.engine.languages, "")
		if err != nil {
			return Reading{}, err
		}
		for i := range words {
			words[i].box = shrink(words[i].box, factor, image.Point{})
		}
		rows := lines(words)
		if isItinerary(rows) {
			reason = reasonNoDates
			if itinerary, ok := readItinerary(rows); ok {
				itinerary.File = j.file
				return Reading{Itineraries: []Itinerary{itinerary}}, nil
			}
			continue
		}
		sum, ok := findTotal(rows)
		if !ok {
			reason = j.reason(rows)
			continue
		}
		if sum.agreement == refuted {
			if doubtful == nil {
				doubtful = &reading{rows, sum}
			}
			continue
		}
		return j.invoice(ctx, area, region, rows, sum)
	}
	if doubtful != nil {
		return j.invoice(ctx, area, region, doubtful.rows, doubtful.total)
	}
	return Reading{Unreadable: []Unreadable{{File: j.file, Reason: reason}}}, nil
}

func (j *job) reason(rows []line) string {
	print := false
	for _, row := range rows {
		if receiptWords.MatchString(row.text) || len(findLabels(row.text)) > 0 {
			return reasonNoAmount
		}
		print = print || len(row.text) > 3 && row.confidence(0, len(row.text)) > 0.6
	}
	if print {
		return reasonNeither
	}
	return reasonNoPrint
}

// invoice puts together what was found, after a second look at the amount.
func (j *job) invoice(
	ctx context.Context, area image.Rectangle, region *image.Gray, rows []line, sum total,
) (Reading, error) {
	confidence, ok, err := j.reread(ctx, region, rows[sum.line], sum.figure)
	if err != nil {
		return Reading{}, err
	}
	if !ok {
		return Reading{Unreadable: []Unreadable{{File: j.file, Reason: reasonBlurred}}}, nil
	}
	sum.confidence = min(confidence, sum.limit)
	number, merchant, date, item := findNumber(rows), findMerchant(rows), findDate(rows), findItem(rows)
	amount := newField(sum.value.String(), sum.confidence)
	fields := map[string]Field{
		"amount": amount, "number": number, "merchant": merchant, "date": date, "item": item,
		"currency": newField(sum.currency, sum.confidence),
	}
	reading := Reading{Reread: 1, Invoices: []Invoice{{
		ID: identity(number, region), File: j.file, Region: regionOf(area, j.scale), Merchant: merchant.Value,
		Item: item.Value, Date: date.Value, Amount: amount.Value, Currency: sum.currency,
		Confidence: amount.Confidence, Fields: fields,
	}}}
	if sum.agreement == confirmed {
		reading.Confirmed = 1
	}
	if sum.inWords {
		reading.InWords = 1
	}
	return reading, nil
}

// zoom is how much a region is enlarged for print of the given height. Steps keep the result the same for pages that
// differ a little.
func zoom(print int) float64 {
	const best = 28
	return min(4, max(0.5, math.Round(2*best/float64(max(1, print)))/2))
}
