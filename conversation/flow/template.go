package flow

import (
	"fmt"
	"slices"
	"strings"
	"text/template"
	tree "text/template/parse"
	"time"

	"github.com/shopspring/decimal"

	"github.com/hermes-orchestrator/hermes/conversation"
)

// templates parses a text in every locale and checks the facts that it shows.
func (r *reader) templates(path string, text Text, locales, known []string) map[string]*template.Template {
	r.complete(path, text, locales)
	parsed := map[string]*template.Template{}
	for locale, source := range text {
		where := path + "." + locale
		if !slices.Contains(locales, locale) {
			r.add(where, "the flow's title has no locale "+locale, "add it to title, or remove it here")
			continue
		}
		t, err := newTemplate(source, locale)
		if err != nil {
			r.add(where, strings.TrimPrefix(err.Error(), "template: :"), "")
			continue
		}
		for _, name := range factsShown(t.Root) {
			r.fact(where, name, known)
		}
		parsed[locale] = t
	}
	return parsed
}

func newTemplate(source, locale string) (*template.Template, error) {
	return template.New("").Option("missingkey=error").Funcs(functions(locale)).Parse(source)
}

// factsShown finds .facts.<name> in a template.
func factsShown(node tree.Node) []string {
	var names []string
	var walk func(tree.Node)
	walkList := func(list *tree.ListNode) {
		if list != nil {
			for _, n := range list.Nodes {
				walk(n)
			}
		}
	}
	walkPipe := func(pipe *tree.PipeNode) {
		if pipe == nil {
			return
		}
		for _, command := range pipe.Cmds {
			for _, arg := range command.Args {
				walk(arg)
			}
		}
	}
	branch := func(b *tree.BranchNode) {
		walkPipe(b.Pipe)
		walkList(b.List)
		walkList(b.ElseList)
	}
	walk = func(n tree.Node) {
		switch n := n.(type) {
		case *tree.ListNode:
			walkList(n)
		case *tree.ActionNode:
			walkPipe(n.Pipe)
		case *tree.PipeNode:
			walkPipe(n)
		case *tree.IfNode:
			branch(&n.BranchNode)
		case *tree.RangeNode:
			branch(&n.BranchNode)
		case *tree.WithNode:
			branch(&n.BranchNode)
		case *tree.FieldNode:
			if len(n.Ident) > 1 && n.Ident[0] == "facts" {
				names = append(names, n.Ident[1])
			}
		}
	}
	walk(node)
	return names
}

// functions are what texts may call, in the manner of the locale (SPEC C10).
func functions(locale string) template.FuncMap {
	zh := locale == conversation.LocaleChinese
	return template.FuncMap{
		"money":   func(amount, currency any) (string, error) { return money(zh, amount, currency) },
		"dates":   func(value any) (string, error) { return dates(zh, value) },
		"join":    func(list any) (string, error) { return join(zh, list) },
		"percent": func(value float64) string { return fmt.Sprintf("%.0f%%", value*100) },
	}
}

// money writes an amount: "￥8,240" and "CNY 8,240"; digits after the point only where there are any.
func money(zh bool, amount, currency any) (string, error) {
	d, err := decimal.NewFromString(fmt.Sprint(amount))
	if err != nil {
		return "", fmt.Errorf("money: %v is not a decimal", amount)
	}
	digits := d.StringFixed(2)
	digits = strings.TrimSuffix(digits, ".00")
	whole, fraction, _ := strings.Cut(digits, ".")
	sign := ""
	if rest, negative := strings.CutPrefix(whole, "-"); negative {
		sign, whole = "-", rest
	}
	for i := len(whole) - 3; i > 0; i -= 3 {
		whole = whole[:i] + "," + whole[i:]
	}
	if fraction != "" {
		whole += "." + fraction
	}
	code := fmt.Sprint(currency)
	symbols := map[string]string{"CNY": "￥", "USD": "US$", "TWD": "NT$", "EUR": "€", "HKD": "HK$"}
	if symbol, known := symbols[code]; known && zh {
		return sign + symbol + whole, nil
	}
	return strings.TrimSpace(code + " " + sign + whole), nil
}

// dates writes a range of days: "5月12-15日" and "May 12–15, 2024". Chinese shows years only where they differ.
func dates(zh bool, value any) (string, error) {
	m, ok := value.(map[string]any)
	if !ok {
		return "", fmt.Errorf("dates: %v is not a range of dates", value)
	}
	start, err := time.Parse(time.DateOnly, fmt.Sprint(m["start"]))
	if err != nil {
		return "", fmt.Errorf("dates: start %v is not a date", m["start"])
	}
	end, err := time.Parse(time.DateOnly, fmt.Sprint(m["end"]))
	if err != nil {
		return "", fmt.Errorf("dates: end %v is not a date", m["end"])
	}
	sameMonth := start.Year() == end.Year() && start.Month() == end.Month()
	if zh {
		switch {
		case start.Equal(end):
			return start.Format("1月2日"), nil
		case sameMonth:
			return fmt.Sprintf("%d月%d-%d日", start.Month(), start.Day(), end.Day()), nil
		case start.Year() == end.Year():
			return start.Format("1月2日") + "至" + end.Format("1月2日"), nil
		}
		return start.Format("2006年1月2日") + "至" + end.Format("2006年1月2日"), nil
	}
	switch {
	case start.Equal(end):
		return start.Format("January 2, 2006"), nil
	case sameMonth:
		return fmt.Sprintf("%s %d–%d, %d", start.Month(), start.Day(), end.Day(), start.Year()), nil
	}
	return start.Format("January 2, 2006") + " to " + end.Format("January 2, 2006"), nil
}

// join lists things: "a、b和c" and "a, b and c".
func join(zh bool, list any) (string, error) {
	var items []string
	switch list := list.(type) {
	case []string:
		items = list
	case []any:
		for _, item := range list {
			items = append(items, fmt.Sprint(item))
		}
	case string:
		return list, nil
	default:
		return "", fmt.Errorf("join: %T is not a list", list)
	}
	comma, and := ", ", " and "
	if zh {
		comma, and = "、", "和"
	}
	if len(items) < 2 {
		return strings.Join(items, ""), nil
	}
	last := len(items) - 1
	return strings.Join(items[:last], comma) + and + items[last], nil
}
