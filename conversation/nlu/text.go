package nlu

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// normalize makes texts comparable: NFKC, lower case, simplified characters, straight quotes, no invisible characters,
// single blanks, and none between two Chinese characters.
func normalize(text string) string {
	var b strings.Builder
	b.Grow(len(text))
	var last rune // Of b.
	blank := false
	for _, r := range norm.NFKC.String(text) {
		switch {
		case invisible(r):
			continue
		case r == '\n' || r == '\r' || r == '\u2028' || r == '\u2029':
			if last != '\n' && last != 0 {
				b.WriteByte('\n')
				last = '\n'
			}
			blank = false
			continue
		case unicode.IsSpace(r):
			blank = true
			continue
		}
		r = simplify(unicode.ToLower(r))
		if blank && last != 0 && last != '\n' && !(unicode.Is(unicode.Han, r) && unicode.Is(unicode.Han, last)) {
			b.WriteByte(' ')
		}
		blank = false
		b.WriteRune(r)
		last = r
	}
	return strings.TrimRight(b.String(), "\n ")
}

func invisible(r rune) bool {
	switch r {
	case 0x00AD, 0x200B, 0x200C, 0x200D, 0x200E, 0x200F, 0x2060, 0xFEFF, 0xFE0F:
		return true
	}
	return unicode.Is(unicode.Cc, r) && r != '\n' && r != '\r' && r != '\t'
}

// simplified and traditional are the same characters in both scripts, position by position: those of the core's words
// and of everyday dealings. Whole-sentence conversion is not needed to compare words.
const (
	traditional = "確認繼續沒發報銷費單張對錯換傳請給這個後說嗎麼時間還過開應該為萬億兩塊實際總額數廣號週補夠願現來當點條筆頁謝審變動誤問題無丟" +
		"見暫結離擇選車業東務資訂購買錢壹貳參陸佰仟圓紙檔圖關閉擱緩決定們試複復從長門員處據證書讓聯絡須達機壞麻煩寫絕準備樣約會議電話導續" +
		"辦場離濟種類價幣滿終進盡頭邊遲預計劃記錄註冊貨運輸內歸還損額帳號戶寄戲將軟硬碼檢測檢查驗證簡體臺灣醫療項級線話貼詢瞭"
	simplified = "确认继续没发报销费单张对错换传请给这个后说吗么时间还过开应该为万亿两块实际总额数广号周补够愿现来当点条笔页谢审变动误问题无丢" +
		"见暂结离择选车业东务资订购买钱壹贰叁陆佰仟圆纸档图关闭搁缓决定们试复复从长门员处据证书让联络须达机坏麻烦写绝准备样约会议电话导续" +
		"办场离济种类价币满终进尽头边迟预计划记录注册货运输内归还损额账号户寄戏将软硬码检测检查验证简体台湾医疗项级线话贴询了"
)

// simplify folds a traditional character and a typographic quote. Other runes are returned as they are.
func simplify(r rune) rune {
	switch r {
	case '‘', '’', 'ʼ', '`', '´':
		return '\''
	case '“', '”', '「', '」', '『', '』':
		return '"'
	}
	if !unicode.Is(unicode.Han, r) {
		return r
	}
	at := strings.IndexRune(traditional, r)
	if at < 0 {
		return r
	}
	folded, _ := utf8.DecodeRuneInString(simplified[at:]) // All of these take three bytes.
	return folded
}

// clause is a stretch of a text between marks of punctuation: rune offsets.
type clause struct {
	start, end int
	asked      bool // Ends with a question mark.
}

// clauses splits at punctuation. A full stop or a comma inside a number does not split.
func clauses(text []rune) []clause {
	var list []clause
	start := 0
	for i, r := range text {
		cut := false
		switch r {
		case '。', '!', '?', ';', '\n', '、', '…', '，', '！', '？', '；', '(', ')', '"', '—':
			cut = true
		case '.', ',', ':':
			cut = i+1 == len(text) || i == 0 || !isAlphanumeric(text[i-1]) || !isAlphanumeric(text[i+1])
		}
		if cut {
			if i > start || r == '?' {
				list = append(list, clause{start, i, r == '?'})
			}
			start = i + 1
		}
	}
	if start < len(text) {
		list = append(list, clause{start, len(text), false})
	}
	return list
}

// isAlphanumeric is about the letters and digits that words and numbers are made of without blanks.
func isAlphanumeric(r rune) bool {
	return r < 0x2E80 && (unicode.IsLetter(r) || unicode.IsDigit(r))
}
