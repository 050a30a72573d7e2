// Command generate draws the sample uploads of the expense example: invoices, itineraries and pictures that are
// neither. All names and numbers are invented. The result depends on the font alone, so the committed files can be
// drawn again:
//
//	go run ./examples/expense/files/generate --font /usr/share/fonts/opentype/noto/NotoSansCJK-Regular.ttc \
//	    --out examples/expense/files --selftest examples/expense/tools/ocr/selftest.png
//
// Noto Sans CJK is Debian's package fonts-noto-cjk. Nothing of Hermes is imported.
package main
