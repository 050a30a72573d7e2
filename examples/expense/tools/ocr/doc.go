// Package ocr is the tool ocr_tool of the expense example: it reads invoices and itineraries from pictures with the
// program tesseract. It reports what is printed, each field with a confidence, and never fills a gap: a field that was
// not found is absent, and an invoice without a readable amount is listed as unreadable, with the reason.
//
// A picture is decoded under size limits, cut into the documents that it shows (side by side or stacked), cleaned of
// rules and dark bands, enlarged to the size of print that tesseract reads best, and read. The amount that is found
// is read a second time, alone. Nothing is remembered between calls but the measured time per document.
//
// It imports tool/server and libraries; tools and cmd/expense-tools import it.
package ocr
