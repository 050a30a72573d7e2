package flow

import (
	"fmt"
	"slices"

	"github.com/hermes-orchestrator/hermes/conversation"
)

// Operation is an operation of a registered tool, as CheckTools needs to know it.
type Operation struct {
	Tool   string
	Name   string
	Effect string // "read" or "write".
}

// CheckTools compares the steps with the operations that are registered: each must exist, write only in phase commit,
// and commit something. It returns nil, or an error of code invalid_flow that wraps Errors with the lines of the file.
// file is used in messages. Parse cannot do this: a flow file is read without any tool.
func (f *Flow) CheckTools(file string, registered []Operation) error {
	var errs Errors
	add := func(s *step, key string, line, column int, message, fix string) {
		errs = append(
			errs,
			&Error{File: file, Line: line, Column: column, Path: "$.steps." + s.ID + "." + key, Message: message, Fix: fix},
		)
	}
	for i := range f.steps {
		s := &f.steps[i]
		var tools, operations []string
		var effect string
		found := false
		for _, o := range registered {
			if !slices.Contains(tools, o.Tool) {
				tools = append(tools, o.Tool)
			}
			if o.Tool != s.Tool {
				continue
			}
			operations = append(operations, o.Name)
			if o.Name == s.Operation {
				effect, found = o.Effect, true
			}
		}
		switch {
		case len(operations) == 0:
			add(s, "tool", s.toolLine, s.toolColumn, fmt.Sprintf("no tool %q is registered", s.Tool), suggestion(s.Tool, tools))
		case !found:
			add(
				s,
				"operation",
				s.operationLine,
				s.operationColumn,
				fmt.Sprintf("tool %q has no operation %q", s.Tool, s.Operation),
				suggestion(s.Operation, operations),
			)
		case effect == effectWrite && s.Phase != conversation.PhaseCommit:
			add(
				s,
				"operation",
				s.operationLine,
				s.operationColumn,
				fmt.Sprintf("%s.%s writes, but step %q is of phase %s", s.Tool, s.Operation, s.ID, s.Phase),
				"an effect needs the user's confirmation: write phase: commit",
			)
		}
	}
	if len(errs) > 0 {
		return conversation.Errorf(conversation.CodeInvalidFlow, "%w", errs.sorted())
	}
	return nil
}
