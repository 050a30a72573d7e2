package ocr

import (
	"regexp"
	"strings"
	"time"
)

// Dates is a range of days, both inclusive, in ISO form.
type Dates struct {
	Start string `json:"start"`
	End   string `json:"end"`
}

// Itinerary is what a travel itinerary says.
type Itinerary struct {
	File       string           `json:"file"`
	City       string           `json:"city,omitempty"` // Chinese name, "深圳".
	Dates      Dates            `json:"dates"`
	Confidence float64          `json:"confidence"` // Of the dates.
	Fields     map[string]Field `json:"fields"`
}

// cities are the destinations that are recognised, by their names in Chinese and in English.
var cities = []struct{ name, english string }{
	{"深圳", "Shenzhen"},
	{"北京", "Beijing"},
	{"上海", "Shanghai"},
	{"广州", "Guangzhou"},
	{"杭州", "Hangzhou"},
	{"成都", "Chengdu"},
	{"重庆", "Chongqing"},
	{"武汉", "Wuhan"},
	{"西安", "Xi'an"},
	{"南京", "Nanjing"},
	{"苏州", "Suzhou"},
	{"天津", "Tianjin"},
	{"厦门", "Xiamen"},
	{"长沙", "Changsha"},
	{"青岛", "Qingdao"},
	{"郑州", "Zhengzhou"},
	{"大连", "Dalian"},
	{"昆明", "Kunming"},
	{"宁波", "Ningbo"},
	{"合肥", "Hefei"},
}

var (
	itineraryWords = regexp.MustCompile(`(?i)行程单|行程安排|出差|\bitinerary\b|travel plan|trip plan`)
	// A flight's receipt is called 行程单 as well, but has a fare: it is an invoice.
	receiptWords     = regexp.MustCompile(`(?i)发票|發票|客票|票价|\binvoice\b|\breceipt\b`)
	destinationLabel = regexp.MustCompile(`(?i)目的地|到达城市|出差地|\bdestination|\bto:`)
	originLabel      = regexp.MustCompile(`(?i)出发地|出发城市|\bfrom:|\borigin`)
	fromLabel        = regexp.MustCompile(`(?i)出发日期|起始日期|开始日期|去程|departure date|start date|\bdepart`)
	toLabel          = regexp.MustCompile(`(?i)返回日期|结束日期|返程|回程|return date|end date|\breturn`)
	yearPattern      = regexp.MustCompile(`([0-9]{4}) ?年|\b(20[0-9]{2})\b`)
)

// isItinerary reports whether the document calls itself one.
func isItinerary(rows []line) bool {
	found := false
	for _, row := range rows {
		if receiptWords.MatchString(row.text) {
			return false
		}
		found = found || itineraryWords.MatchString(row.text)
	}
	return found
}

// readItinerary takes city and dates from the rows of a document. Without dates there is no itinerary.
func readItinerary(rows []line) (Itinerary, bool) {
	from, to, confidence, ok := tripDates(rows)
	if !ok {
		return Itinerary{}, false
	}
	city := destination(rows)
	dates := Dates{Start: from.Format(time.DateOnly), End: to.Format(time.DateOnly)}
	field := newField(dates.Start+"/"+dates.End, confidence)
	return Itinerary{
		City: city.Value, Dates: dates, Confidence: field.Confidence,
		Fields: map[string]Field{"city": city, "dates": field},
	}, true
}

// tripDates returns the first range that is printed, or the days by the labels of departure and return.
func tripDates(rows []line) (time.Time, time.Time, float64, bool) {
	year := singleYear(rows)
	for _, row := range rows {
		if p, ok := findRange(row.text, year); ok {
			return p.from, p.to, row.confidence(p.start, p.end), true
		}
	}
	var from, to time.Time
	confidence := 1.0
	for _, row := range rows {
		for _, d := range findDates(row.text) {
			before := row.text[:d.start]
			switch {
			case from.IsZero() && fromLabel.MatchString(before):
				from = d.day
			case to.IsZero() && toLabel.MatchString(before):
				to = d.day
			default:
				continue
			}
			confidence = min(confidence, row.confidence(d.start, d.end))
		}
	}
	if from.IsZero() || to.IsZero() || to.Before(from) {
		return time.Time{}, time.Time{}, 0, false
	}
	return from, to, confidence, true
}

// singleYear is the only year that the document names, or none.
func singleYear(rows []line) string {
	year := ""
	for _, row := range rows {
		for _, match := range yearPattern.FindAllStringSubmatch(row.text, -1) {
			found := either(match[1], match[2])
			if year != "" && year != found {
				return ""
			}
			year = found
		}
	}
	return year
}

// destination is the city by its label; or the only city that the document names besides the origin.
func destination(rows []line) Field {
	var candidate Field
	origin := ""
	ambiguous := false
	for _, row := range rows {
		for _, city := range cities {
			start, end := locate(row.text, city.name, city.english)
			if start < 0 {
				continue
			}
			field := newField(city.name, row.confidence(start, end))
			before := row.text[:start]
			switch {
			case destinationLabel.MatchString(before):
				return field
			case originLabel.MatchString(before):
				origin = city.name
			case candidate.Value == "" || candidate.Value == origin:
				candidate = field
			case candidate.Value != city.name && city.name != origin:
				ambiguous = true
			}
		}
	}
	if ambiguous || candidate.Value == origin {
		return Field{}
	}
	return candidate
}

// locate finds a city's name in a text, in either language.
func locate(text, chinese, english string) (int, int) {
	if at := strings.Index(text, chinese); at >= 0 {
		return at, at + len(chinese)
	}
	// Folding could change the length of other letters, but not of the ASCII names that are looked for.
	if at := strings.Index(asciiLower(text), strings.ToLower(english)); at >= 0 {
		return at, at + len(english)
	}
	return -1, -1
}

func asciiLower(text string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'A' && r <= 'Z' {
			return r + 'a' - 'A'
		}
		return r
	}, text)
}
