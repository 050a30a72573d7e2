package ocr_test

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"image"
	"image/png"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/hermes-orchestrator/hermes/examples/expense/tools/ocr"
)

func TestFindTotal(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name             string
		rows             []string
		amount, currency string
		confirmed        bool
		refuted          bool
	}{
		{
			"Chinese invoice",
			[]string{"合计\t￥3018.87\t￥181.13", "价税合计（大写） 叁仟贰佰圆整\t（小写） ￥3200.00"},
			"3200.00", "CNY", true, false,
		},
		{"net sum is not the total", []string{"金额\t税率\t税额", "合计\t￥3018.87\t￥181.13"}, "", "", false, false},
		{"sum without tax", []string{"餐费\t￥48.00", "合计：￥48.00"}, "48.00", "CNY", false, false},
		{"the parts say otherwise", []string{"合计\t￥3018.87\t￥181.13", "（小写） ￥320.00"}, "320.00", "CNY", false, true},
		{
			"English",
			[]string{"Subtotal\tCNY 3,018.87", "Tax\tCNY 181.13", "Total\tCNY 3,200.00"},
			"3200.00", "CNY", true, false,
		},
		{"subtotal is not the total", []string{"Subtotal:\t$75,500.00", "Tax (8.5%):\t$6,417.50"}, "", "", false, false},
		{
			"unreadable label, proven by the parts",
			[]string{"小计：\tNT$ 464,000", "SAE(5%):\tNT$ 23,200", "NT$ 487,200"},
			"487200.00", "TWD", true, false,
		},
		{"amount due before total", []string{"Total\t$100.00", "Amount due\t$60.00"}, "60.00", "USD", false, false},
		{"two totals that differ", []string{"Total\t$100.00", "Total\t$60.00"}, "", "", false, false},
		{"torn figure", []string{"（小写） ￥48 0.00"}, "", "", false, false},
		{"no figure", []string{"Total", "2024年05月15日 18号"}, "", "", false, false},
		{"phone and percentage are no money", []string{"电话 0755-8888.00", "Total 6%"}, "", "", false, false},
		{"the only price", []string{"咖啡\t￥32.50"}, "32.50", "CNY", false, false},
		{"largest is not last", []string{"茶\t￥32.50", "水\t￥3.00"}, "", "", false, false},
	}
	for _, tt := range tests {
		amount, currency, confirmed, refuted := ocr.FindTotal(ocr.Rows(tt.rows...))
		require.Equal(t, tt.amount, amount, tt.name)
		require.Equal(t, tt.currency, currency, tt.name)
		require.Equal(t, tt.confirmed, confirmed, tt.name)
		require.Equal(t, tt.refuted, refuted, tt.name)
	}
}

func TestFindRange(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][2]string{
		"出差日期:2024年5月12日至15日":          {"2024-05-12", "2024-05-15"},
		"2024年5月12日至2024年5月15日":        {"2024-05-12", "2024-05-15"},
		"2024 年 5 月 12 日 到 6月2日":       {"2024-05-12", "2024-06-02"},
		"5月12-15日":                     {"2024-05-12", "2024-05-15"},
		"5月12日–5月15日":                  {"2024-05-12", "2024-05-15"},
		"2024-05-12 ~ 2024-05-15":      {"2024-05-12", "2024-05-15"},
		"2024/05/12 至 05/15":           {"2024-05-12", "2024-05-15"},
		"May 12–15, 2024":              {"2024-05-12", "2024-05-15"},
		"May 12 - June 2, 2024":        {"2024-05-12", "2024-06-02"},
		"May 12, 2024 to May 15, 2024": {"2024-05-12", "2024-05-15"},
		"12–15 May 2024":               {"2024-05-12", "2024-05-15"},
		"30 Dec 2024 – 2 Jan 2025":     {"2024-12-30", "2025-01-02"},
		"2024年2月30日至31日":               {},
		"2024年5月15日至12日":               {},
		"2024年5月12日":                   {},
	} {
		from, to := ocr.FindRange(text, "2024")
		require.Equal(t, want, [2]string{from, to}, text)
	}
	from, _ := ocr.FindRange("5月12-15日", "")
	require.Empty(t, from, "a range without a year is not completed by guessing")
}

func TestAmountInWords(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"叁仟贰佰圆整": "3200.00", "肆仟伍佰陆拾元正": "4560.00", "肆佰捌拾圆整": "480.00", "壹万零伍拾圆整": "10050.00",
		"壹拾贰万叁仟肆佰伍拾陆圆柒角捌分": "123456.78", "拾伍圆伍角": "15.50", "叁圆零伍分": "3.05",
		"叁贰圆整": "", "佰圆整": "", "壹佰壹仟圆整": "", "叁圆柒": "", "你好": "",
	} {
		got, ok := ocr.InWords(text)
		require.Equal(t, want != "", ok, text)
		if ok {
			require.Equal(t, want, got, text)
		}
	}
}

func TestFindFields(t *testing.T) {
	t.Parallel()
	date, merchant, number := ocr.FindFields(ocr.Rows("电子发票（普通发票）",
		"发票号码：24442000000031850627\t开票日期：2024年05月15日", "购买方名称：甲有限公司", "销售方名称：乙酒店有限公司"))
	require.Equal(t, []string{"2024-05-15", "乙酒店有限公司", "24442000000031850627"}, []string{date, merchant, number})
	date, merchant, number = ocr.FindFields(ocr.Rows("TECHVISION SOLUTIONS INC.", "Invoice No: QT-2024-001245",
		"Date: November 27, 2024", "Valid Until: December 31, 2024"))
	require.Equal(t, []string{"2024-11-27", "TECHVISION SOLUTIONS INC.", "QT-2024-001245"},
		[]string{date, merchant, number})
	date, merchant, number = ocr.FindFields(ocr.Rows("2024-05-01", "2024-05-02"))
	require.Equal(t, []string{"", "", ""}, []string{date, merchant, number}, "two dates without a label are ambiguous")
}

func TestReadItinerary(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		rows           []string
		city, from, to string
	}{
		{[]string{"出差行程单", "出发地：上海", "目的地：深圳", "2024年5月12日至15日"}, "深圳", "2024-05-12", "2024-05-15"},
		{[]string{"行程单", "2024年", "5月12-15日 深圳"}, "深圳", "2024-05-12", "2024-05-15"},
		{
			[]string{"Travel Itinerary", "From: Shanghai", "Dates: May 12–15, 2024", "Shanghai\tShenzhen"},
			"深圳", "2024-05-12", "2024-05-15",
		},
		{[]string{"行程单", "出发日期：2024-05-12", "返回日期：2024-05-15", "深圳\t广州"}, "", "2024-05-12", "2024-05-15"},
		{[]string{"行程单", "深圳", "日期待定"}, "", "", ""},
		{[]string{"航空运输电子客票行程单", "2024年5月12日至15日"}, "", "", ""},
	} {
		city, from, to := ocr.ReadItinerary(ocr.Rows(tt.rows...))
		require.Equal(t, []string{tt.city, tt.from, tt.to}, []string{city, from, to}, tt.rows)
	}
}

// A small file that unfolds into a huge picture is refused by its header, before a pixel is decoded.
func TestDecodeLimits(t *testing.T) {
	t.Parallel()
	header := []byte("\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x4e\x20\x00\x00\x4e\x20\x01\x00\x00\x00\x00")
	checked := binary.BigEndian.AppendUint32(header, crc32.ChecksumIEEE(header[12:]))
	require.ErrorContains(t, ocr.Decode(checked), "图片尺寸过大")
	require.ErrorContains(t, ocr.Decode(make([]byte, 21<<20)), "20MB")
	require.ErrorContains(t, ocr.Decode(nil), "文件为空")
	require.ErrorContains(t, ocr.Decode([]byte("text")), "不是PNG")

	var whole bytes.Buffer
	require.NoError(t, png.Encode(&whole, image.NewGray(image.Rect(0, 0, 40, 30))))
	require.NoError(t, ocr.Decode(whole.Bytes()))
	require.ErrorContains(t, ocr.Decode(whole.Bytes()[:whole.Len()-20]), "损坏")
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte("\x89PNG\r\n\x1a\n"))
	f.Add([]byte{0xff, 0xd8, 0xff})
	f.Fuzz(func(_ *testing.T, data []byte) { _ = ocr.Decode(data) })
}

func FuzzText(f *testing.F) {
	f.Add("合计\t￥3018.87\t￥181.13\n（小写）￥3200.00")
	f.Add("Itinerary\nMay 12–15, 2024 Shenzhen")
	f.Fuzz(func(_ *testing.T, text string) {
		rows := ocr.Rows(text)
		ocr.FindTotal(rows)
		ocr.FindFields(rows)
		ocr.ReadItinerary(rows)
	})
}

func FuzzTSV(f *testing.F) {
	f.Add([]byte("5\t1\t1\t1\t1\t1\t10\t20\t30\t40\t96.5\tTotal\n"))
	f.Fuzz(func(_ *testing.T, table []byte) { _, _ = ocr.ParseTSV(table) })
}
