package flow

import (
	"fmt"
	"slices"
	"strings"
	"text/template"
	tree "text/template/parse"
)

// What templates of each kind may show.
var (
	replyView = []string{
		"about", "estimated", "facts", "failed", "failed_label", "flows", "key", "manual", "missing", "offer_summary",
		"offer_title", "reasons", "unusable", "warnings",
	}
	findingView  = []string{"facts"}
	summaryView  = []string{"facts", "missing", "uploads", "waiting"}
	degradedView = []string{"as_of", "label"}
)

// templates parses a text in every locale and checks that what it shows exists.
func (r *reader) templates(path string, text Text, locales, view []string) map[string]*template.Template {
	if len(text) == 0 {
		return nil // The schema says where a text is required.
	}
	r.complete(path, text, locales)
	parsed := map[string]*template.Template{}
	for locale, source := range text {
		if !slices.Contains(locales, locale) {
			continue
		}
		where := path + "." + locale
		t, err := newTemplate(source, locale)
		if err != nil {
			message, fix := templateError(err)
			r.add(where, message, fix)
			continue
		}
		r.checkTemplate(where, scan(t.Root), view)
		parsed[locale] = t
	}
	return parsed
}

func newTemplate(source, locale string) (*template.Template, error) {
	return template.New("").Option("missingkey=error").Funcs(functions(locale)).Parse(source)
}

// templateError says what is wrong in a template, without the prefix of the library.
func templateError(err error) (message, fix string) {
	message = strings.TrimPrefix(err.Error(), "template: :")
	if _, rest, found := strings.Cut(message, ": "); found {
		message = rest
	}
	if _, name, found := strings.Cut(message, "function \""); found {
		name, _, _ = strings.Cut(name, "\"")
		names := make([]string, 0, len(arity))
		for known := range arity {
			names = append(names, known)
		}
		slices.Sort(names)
		return message, suggestion(name, names)
	}
	return message, ""
}

func (r *reader) checkTemplate(where string, found scanned, view []string) {
	for _, name := range found.names {
		if !slices.Contains(view, name) {
			r.add(where, fmt.Sprintf("there is no .%s in this text", name), suggestion(name, view))
		}
	}
	for _, name := range found.facts {
		r.fact(where, name)
	}
	for _, call := range found.calls {
		if want, known := arity[call.name]; known && call.args != want {
			r.add(where, fmt.Sprintf("%s takes %d values, here are %d", call.name, want, call.args), "write "+usage[call.name])
		}
	}
}

// scanned is what a template shows.
type scanned struct {
	names []string // Fields of the view: "facts" of {{.facts.total}}.
	facts []string // "total" of the same.
	calls []called
}

type called struct {
	name string
	args int
}

// scan walks a template. Inside range and with, the dot is something else, and only $ still means the view.
func scan(root tree.Node) scanned {
	s := &scanner{}
	s.walk(root, true)
	slices.Sort(s.found.facts)
	s.found.facts = slices.Compact(s.found.facts)
	return s.found
}

type scanner struct{ found scanned }

func (s *scanner) walk(node tree.Node, atRoot bool) {
	switch n := node.(type) {
	case *tree.ListNode:
		if n == nil {
			return
		}
		for _, child := range n.Nodes {
			s.walk(child, atRoot)
		}
	case *tree.ActionNode:
		s.walk(n.Pipe, atRoot)
	case *tree.PipeNode:
		if n == nil {
			return
		}
		for i, command := range n.Cmds {
			s.command(command, i > 0, atRoot)
		}
	case *tree.IfNode:
		s.branch(&n.BranchNode, atRoot, atRoot)
	case *tree.RangeNode:
		s.branch(&n.BranchNode, atRoot, false)
	case *tree.WithNode:
		s.branch(&n.BranchNode, atRoot, false)
	case *tree.ChainNode:
		s.walk(n.Node, atRoot)
	case *tree.TemplateNode:
		s.walk(n.Pipe, atRoot)
	case *tree.FieldNode:
		if atRoot {
			s.field(n.Ident)
		}
	case *tree.VariableNode:
		if n.Ident[0] == "$" && len(n.Ident) > 1 {
			s.field(n.Ident[1:])
		}
	}
}

func (s *scanner) branch(b *tree.BranchNode, atRoot, inside bool) {
	s.walk(b.Pipe, atRoot)
	s.walk(b.List, inside)
	s.walk(b.ElseList, atRoot)
}

func (s *scanner) command(command *tree.CommandNode, piped, atRoot bool) {
	for _, arg := range command.Args {
		s.walk(arg, atRoot)
	}
	function, isCall := command.Args[0].(*tree.IdentifierNode)
	if !isCall {
		return
	}
	args := len(command.Args) - 1
	if piped {
		args++
	}
	s.found.calls = append(s.found.calls, called{function.Ident, args})
	// {{if has .facts "reason"}} names a fact as well.
	if name, isText := lastText(command.Args); isText && function.Ident == "has" {
		s.found.facts = append(s.found.facts, name)
	}
}

func lastText(args []tree.Node) (string, bool) {
	text, ok := args[len(args)-1].(*tree.StringNode)
	if !ok {
		return "", false
	}
	return text.Text, true
}

func (s *scanner) field(ident []string) {
	s.found.names = append(s.found.names, ident[0])
	if ident[0] == "facts" && len(ident) > 1 {
		s.found.facts = append(s.found.facts, ident[1])
	}
}
