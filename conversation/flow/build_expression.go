package flow

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/google/cel-go/cel"
)

// maxExpressionBytes bounds one expression; the schema says the same, for editors.
const maxExpressionBytes = 2000

// cel compiles an expression and checks that the facts it reads exist. An empty source gives nil: the schema says where
// one is required.
func (r *reader) cel(path, source string) *expression {
	if source == "" || len(source) > maxExpressionBytes {
		return nil
	}
	line, _ := r.position(path)
	expr, issues, err := compile(r.env, source, line)
	switch {
	case err != nil:
		r.add(path, err.Error(), "")
		return nil
	case issues != nil:
		r.issues(path, issues)
		return nil
	}
	for _, name := range expr.facts {
		r.fact(path, name)
	}
	return expr
}

// condition compiles an expression that must be true or false.
func (r *reader) condition(path, source string) *expression {
	expr := r.cel(path, source)
	if expr != nil && !expr.boolean {
		r.add(path, "a condition must be true or false", "compare it with something")
	}
	return expr
}

// list compiles an expression over a tool's answer that must be a list.
func (r *reader) list(path, source string) *expression {
	var expr *expression
	r.withOutput(func() { expr = r.cel(path, source) })
	if expr != nil && !expr.list {
		r.add(path, "this must be a list", "write [ … ] around it")
	}
	return expr
}

func (r *reader) celMap(path string, m orderedMap) []named {
	var list []named
	for _, e := range m {
		if expr := r.cel(path+"."+e.Name, e.Source); expr != nil {
			list = append(list, named{e.Name, expr})
		}
	}
	return list
}

// withOutput lets the expressions that build compiles read a tool's answer.
func (r *reader) withOutput(build func()) {
	env := r.env
	r.env = r.outputEnv
	build()
	r.env = env
}

var undeclared = regexp.MustCompile(`^undeclared reference to '([A-Za-z0-9_]+)'`)

// issues records everything that CEL has to say of an expression, at its place in the file.
func (r *reader) issues(path string, issues *cel.Issues) {
	for _, issue := range issues.Errors() {
		line, column := r.within(path, issue.Location.Line(), issue.Location.Column()+1)
		message, fix := strings.TrimSpace(issue.Message), ""
		if match := undeclared.FindStringSubmatch(message); match != nil {
			message, fix = fmt.Sprintf("%q is not known in expressions", match[1]), suggestion(match[1], variables)
			switch match[1] {
			case "output":
				message, fix = "there is no output here: output is what the tool of a step answered", "read a fact instead"
			default:
				for _, known := range r.known {
					if known == match[1] {
						fix = fmt.Sprintf("write %q", "facts."+known)
					}
				}
			}
		}
		r.errs = append(r.errs, &Error{File: r.file, Line: line, Column: column, Path: path, Message: message, Fix: fix})
	}
}
