package main

import (
	"fmt"
	"image"
)

const (
	sheetWidth  = 1100
	sheetHeight = 760
)

// chineseItinerary draws the itinerary of a trip from Shanghai to Shenzhen, day 12 to 15 of the month.
func chineseItinerary(t *typeface, year string, month int) image.Image {
	c := newCanvas(t, sheetWidth, sheetHeight)
	const left, right = 60, sheetWidth - 60
	c.writeCentre(sheetWidth/2, 80, 40, ink, "出差行程单")
	c.frame(image.Rect(left, 120, right, 700), ink)
	lines := [][2]string{
		{"行程单号：", fmt.Sprintf("XC%s%02d12-0087", year, month)},
		{"出差人：", "张三"},
		{"部门：", "采购部"},
		{"出发地：", "上海"},
		{"目的地：", "深圳"},
		{"出差日期：", fmt.Sprintf("%s年%d月12日 至 15日", year, month)},
	}
	y := 176
	for _, line := range lines {
		next := c.write(left+36, y, 28, ink, line[0])
		c.write(next+10, y, 28, ink, line[1])
		y += 54
	}
	c.rule(left, right, y-30, ink)
	y += 18
	for _, line := range [][4]string{
		{"日期", "出发", "到达", "交通"},
		{fmt.Sprintf("%d月12日", month), "上海", "深圳", "航班 YP3051"},
		{fmt.Sprintf("%d月15日", month), "深圳", "上海", "航班 YP3052"},
	} {
		for i, x := range []int{left + 36, left + 260, left + 440, left + 620} {
			c.write(x, y, 26, ink, line[i])
		}
		y += 56
	}
	return c
}

// englishItinerary draws the same trip in English.
func englishItinerary(t *typeface) image.Image {
	c := newCanvas(t, sheetWidth, sheetHeight)
	const left, right = 60, sheetWidth - 60
	c.writeCentre(sheetWidth/2, 80, 40, ink, "Travel Itinerary")
	c.frame(image.Rect(left, 120, right, 700), ink)
	y := 176
	for _, line := range [][2]string{
		{"Reference:", "IT-202405-0087"},
		{"Traveller:", "Zhang San"},
		{"Department:", "Purchasing"},
		{"From:", "Shanghai"},
		{"Destination:", "Shenzhen"},
		{"Dates:", "May 12–15, 2024"},
	} {
		c.write(left+36, y, 28, ink, line[0])
		c.write(left+260, y, 28, ink, line[1])
		y += 54
	}
	c.rule(left, right, y-30, ink)
	y += 18
	for _, line := range [][4]string{
		{"Date", "Departure", "Arrival", "Transport"},
		{"12 May", "Shanghai", "Shenzhen", "Flight YP3051"},
		{"15 May", "Shenzhen", "Shanghai", "Flight YP3052"},
	} {
		for i, x := range []int{left + 36, left + 260, left + 460, left + 660} {
			c.write(x, y, 26, ink, line[i])
		}
		y += 56
	}
	return c
}
