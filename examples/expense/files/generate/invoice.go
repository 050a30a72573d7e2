package main

import (
	"image"
)

// invoice is what one sample invoice says. Net and tax add up to the total, as on a real one.
type invoice struct {
	title, number, date   string
	buyer, seller         string
	item, net, rate, tax  string
	inWords, total, clerk string
}

// Positions of the invoices on the picture; none blurs no amount.
const (
	none = -1
	taxi = 2
)

const (
	cardWidth  = 760
	cardHeight = 560
	margin     = 40
)

// chineseInvoices draws a hotel, a flight and a taxi invoice side by side: 3200.00 + 4560.00 + 480.00 = 8240.00.
func chineseInvoices(t *typeface, blurred int) image.Image {
	invoices := []invoice{
		{
			title: "电子发票（普通发票）", number: "24442000000031850627", date: "2024年05月15日",
			buyer: "赫尔墨斯贸易有限公司", seller: "深圳湾景酒店有限公司",
			item: "*住宿服务*住宿费", net: "3018.87", rate: "6%", tax: "181.13",
			inWords: "叁仟贰佰圆整", total: "3200.00", clerk: "陈晓",
		},
		{
			title: "电子发票（普通发票）", number: "24312000000047291836", date: "2024年05月12日",
			buyer: "赫尔墨斯贸易有限公司", seller: "云鹏航空股份有限公司",
			item: "*运输服务*机票款", net: "4183.49", rate: "9%", tax: "376.51",
			inWords: "肆仟伍佰陆拾圆整", total: "4560.00", clerk: "林东",
		},
		{
			title: "电子发票（普通发票）", number: "24442000000058163927", date: "2024年05月14日",
			buyer: "赫尔墨斯贸易有限公司", seller: "深圳市鹏行出租汽车有限公司",
			item: "*运输服务*出租车费", net: "466.02", rate: "3%", tax: "13.98",
			inWords: "肆佰捌拾圆整", total: "480.00", clerk: "周平",
		},
	}
	c := newCanvas(t, 3*cardWidth+4*margin, cardHeight+2*margin)
	for i, each := range invoices {
		corner := image.Pt(margin+i*(cardWidth+margin), margin)
		c.chineseInvoice(corner, each)
		if i == blurred {
			amount := image.Rect(cardWidth-180, 404, cardWidth-10, 474).Add(corner)
			c.blur(amount, blurSigma, blurContrast)
		}
	}
	return c
}

// How far out of focus the blurred amount is: tesseract reads it right at most sizes of print but not at all, so that
// ocr_tool has a confidence of about 0.64. A little more or less blur does not change that.
const (
	blurSigma    = 1.8
	blurContrast = 0.6
)

func (c *canvas) chineseInvoice(at image.Point, v invoice) {
	x, y := at.X, at.Y
	right := x + cardWidth
	c.frame(image.Rect(x, y, right, y+cardHeight), form)
	c.writeCentre(x+cardWidth/2, y+52, 32, form, v.title)
	c.write(x+24, y+100, 22, form, "发票号码：")
	c.write(x+134, y+100, 22, ink, v.number)
	c.write(right-282, y+100, 22, form, "开票日期：")
	c.write(right-172, y+100, 20, ink, v.date)

	c.rule(x+20, right-20, y+122, form)
	c.write(x+24, y+160, 22, form, "购买方名称：")
	c.write(x+160, y+160, 22, ink, v.buyer)
	c.write(x+24, y+202, 22, form, "销售方名称：")
	c.write(x+160, y+202, 22, ink, v.seller)

	c.rule(x+20, right-20, y+226, form)
	c.write(x+24, y+264, 22, form, "项目名称")
	c.writeRight(x+470, y+264, 22, form, "金额")
	c.writeRight(x+590, y+264, 22, form, "税率")
	c.writeRight(right-24, y+264, 22, form, "税额")
	c.write(x+24, y+308, 22, ink, v.item)
	c.writeRight(x+470, y+308, 22, ink, v.net)
	c.writeRight(x+590, y+308, 22, ink, v.rate)
	c.writeRight(right-24, y+308, 22, ink, v.tax)
	c.write(x+24, y+376, 22, form, "合计")
	c.writeRight(x+470, y+376, 22, ink, "￥"+v.net)
	c.writeRight(right-24, y+376, 22, ink, "￥"+v.tax)

	c.rule(x+20, right-20, y+398, form)
	next := c.write(x+24, y+446, 22, form, "价税合计（大写）")
	c.write(next+8, y+446, 22, ink, v.inWords)
	next = c.write(right-260, y+446, 22, form, "（小写）")
	c.write(next+8, y+446, 24, ink, "￥"+v.total)
	c.rule(x+20, right-20, y+478, form)
	c.write(x+24, y+524, 22, form, "开票人：")
	c.write(x+112, y+524, 22, ink, v.clerk)
}

// englishInvoices draws the same three expenses as English receipts in CNY.
func englishInvoices(t *typeface) image.Image {
	receipts := []invoice{
		{
			title: "Bayview Hotel Shenzhen", number: "BH-2024-051877", date: "2024-05-15",
			buyer: "Hermes Trading Ltd", item: "Room, 3 nights", net: "3,018.87", tax: "181.13", total: "3,200.00",
		},
		{
			title: "Yunpeng Airlines", number: "YP-2024-229310", date: "2024-05-12",
			buyer: "Hermes Trading Ltd", item: "Return flight, economy class", net: "4,183.49", tax: "376.51",
			total: "4,560.00",
		},
		{
			title: "Pengxing Taxi Service", number: "PX-2024-660452", date: "2024-05-14",
			buyer: "Hermes Trading Ltd", item: "Taxi rides", net: "466.02", tax: "13.98", total: "480.00",
		},
	}
	c := newCanvas(t, 3*cardWidth+4*margin, cardHeight+2*margin)
	for i, each := range receipts {
		corner := image.Pt(margin+i*(cardWidth+margin), margin)
		c.englishInvoice(corner, each)
	}
	return c
}

func (c *canvas) englishInvoice(at image.Point, v invoice) {
	x, y := at.X, at.Y
	right := x + cardWidth
	c.frame(image.Rect(x, y, right, y+cardHeight), ink)
	c.write(x+24, y+56, 32, ink, v.title)
	c.write(x+24, y+116, 24, ink, "Invoice No: "+v.number)
	c.writeRight(right-24, y+116, 24, ink, "Date: "+v.date)
	c.write(x+24, y+166, 24, ink, "Bill to: "+v.buyer)
	c.rule(x+20, right-20, y+194, ink)
	c.write(x+24, y+238, 24, ink, "Description")
	c.writeRight(right-24, y+238, 24, ink, "Amount")
	c.write(x+24, y+286, 24, ink, v.item)
	c.writeRight(right-24, y+286, 24, ink, v.net)
	c.rule(x+20, right-20, y+318, ink)
	c.write(x+24, y+352, 24, ink, "Subtotal")
	c.writeRight(right-24, y+352, 24, ink, "CNY "+v.net)
	c.write(x+24, y+392, 24, ink, "Tax")
	c.writeRight(right-24, y+392, 24, ink, "CNY "+v.tax)
	c.write(x+24, y+454, 28, ink, "Total")
	c.writeRight(right-24, y+454, 28, ink, "CNY "+v.total)
	c.rule(x+20, right-20, y+484, ink)
	c.write(x+24, y+528, 22, ink, "Thank you")
}

// receipt draws a small taxi receipt over 58.00.
func receipt(t *typeface) image.Image {
	c := newCanvas(t, 420, 220)
	c.writeCentre(210, 48, 28, ink, "出租车发票")
	c.write(30, 100, 24, ink, "日期：2024-05-13")
	c.write(30, 142, 24, ink, "里程：18.6公里")
	c.write(30, 186, 24, ink, "合计：￥58.00")
	return c
}
