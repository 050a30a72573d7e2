package flow_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/hermes-orchestrator/hermes/conversation"
	"github.com/hermes-orchestrator/hermes/conversation/flow"
)

const leave = `flow: leave
title: {en: leave request}
intents:
  - name: leave_submit
    verb: submit
    say: {en: {verbs: [take], objects: [leave]}}
entities:
  - {name: days, type: count}
steps:
  - {id: check, phase: validate, tool: hr_tool, operation: check, arguments: {days: facts.days}, facts: {allowed: output.allowed}}
  - {id: book, phase: commit, tool: hr_tool, operation: book, arguments: {days: facts.days}}
findings:
  - {id: refused, kind: fatal, phase: validate, when: "!facts.allowed", text: {en: this is not allowed}}
confirmation:
  shows: [days]
  text: {en: 'Take {{plural .facts.days "day" "days"}} off?'}
`

// Everything that is wrong in a file is told at once, with its place and what to write.
func ExampleParse() {
	_, err := flow.Parse("leave.yaml", []byte(`flow: leave
title: {en: leave request}
intents:
  - {name: leave_submit, verb: submit, say: {en: {verbs: [take], objects: [leave]}}}
entities:
  - {name: days, type: count}
steps:
  - {id: book, phase: comit, tool: hr_tool, operation: book, arguments: {days: facts.dais}}
  - {id: tell, phase: commit, tool: mail_tool, operation: send, needs: [bok]}
confirmation:
  shows: [days]
  text: {en: 'Take {{.fact.days}} days off?'}
`))
	if errs, ok := errors.AsType[flow.Errors](err); ok {
		fmt.Println(errs)
	}
	// Output:
	// leave.yaml:8:16: steps[0].phase: comit is not allowed (fix: write "commit")
	// leave.yaml:9:73: steps[1].needs[0]: there is no step "bok" (fix: write "book")
	// leave.yaml:12:10: confirmation.text.en: there is no .fact in this text (fix: write "facts")
}

// registry is a stand-in for the tools that are registered.
type registry struct{}

func (registry) Capability(context.Context, string, string, json.RawMessage) (flow.Capability, error) {
	return flow.Capability{Effect: "read", TimeoutMS: 5000, MaxAttempts: 3, BackoffMS: 100}, nil
}

// A plan names the next calls; with the answers, the next plan says what they mean.
func ExampleFlow_Plan() {
	f, err := flow.Parse("leave.yaml", []byte(leave))
	if err != nil {
		fmt.Println(err)
		return
	}
	request := conversation.PlanRequest{Flow: f.Ref(), Phase: conversation.PhaseValidate, Locale: "en"}
	request.Case.SetFact(conversation.Fact{Name: "days", Value: json.RawMessage("3"), Status: conversation.FactDeclared, Source: "user"})
	plan, err := f.Plan(context.Background(), request, flow.User{ID: "u-1"}, registry{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(plan.Calls[0].Tool, plan.Calls[0].Operation, string(plan.Calls[0].Arguments))

	request.Case = plan.Case
	request.Answers = []conversation.Answer{{Step: "check", Tool: "hr_tool", Operation: "check", Status: conversation.AnswerOK, Output: json.RawMessage(`{"allowed":false}`)}}
	plan, err = f.Plan(context.Background(), request, flow.User{ID: "u-1"}, registry{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(plan.Case.Findings[0].Kind, plan.Case.Findings[0].Text)
	// Output:
	// hr_tool check {"days":3}
	// fatal this is not allowed
}

// A reply is rendered from the snapshot's facts and from nothing else.
func ExampleFlow_Render() {
	f, err := flow.Parse("leave.yaml", []byte(leave))
	if err != nil {
		fmt.Println(err)
		return
	}
	rendered, err := f.Render(conversation.ReplyRequest{
		Kind: conversation.ReplyConfirmation, Flow: f.Ref(), Reply: conversation.Reply{Locale: "en"},
		Snapshot: conversation.Snapshot{Facts: []conversation.Fact{{Name: "days", Value: json.RawMessage("3")}}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(rendered.Text)
	for _, option := range rendered.Options {
		fmt.Println("-", option.Label)
	}
	// Output:
	// Take 3 days off?
	// - Confirm
	// - Modify
	// - Cancel
}
