package flow_test

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/hermes-orchestrator/hermes/conversation"
	"github.com/hermes-orchestrator/hermes/conversation/flow"
)

const smallest = `flow: leave
title: {zh: 请假, en: leave request}
intents:
  - name: leave_submit
    verb: submit
    say: {zh: {verbs: [请], objects: [假]}, en: {verbs: [take], objects: [leave]}}
entities:
  - {name: days, type: count}
steps:
  - {id: check, phase: validate, tool: hr_tool, operation: check, arguments: {days: facts.days}, facts: {allowed: output.allowed}}
  - {id: book, phase: commit, tool: hr_tool, operation: book, arguments: {days: facts.days}}
findings:
  - {id: refused, kind: fatal, phase: validate, when: "!facts.allowed", text: {zh: 不允许, en: not allowed}}
confirmation:
  shows: [days]
  text: {zh: "请{{.facts.days}}天假？", en: "Take {{.facts.days}} days?"}
`

func TestParseSmallest(t *testing.T) {
	t.Parallel()
	f, err := flow.Parse("leave.yaml", []byte(smallest))
	require.NoError(t, err)
	require.Equal(t, "leave", f.Ref().ID)
	require.Len(t, f.Ref().Version, 64)
	require.Equal(t, "请假", f.Title("zh"))
	other, err := flow.Parse("leave.yaml", []byte(smallest+"\n"))
	require.NoError(t, err)
	require.NotEqual(t, f.Ref(), other.Ref(), "the version is the content")
}

// Each mistake is found at its line, says what is wrong and what to write.
func TestParseErrors(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		old, new string
		line     int
		message  string
		fix      string
	}{
		"unknown key":         {"entities:", "entitys:", 7, `key "entitys" is not known`, `write "entities"`},
		"unknown key in step": {"operation: check", "operation: check, argumens: {}", 10, `key "argumens"`, `write "arguments"`},
		"missing key":         {"  shows: [days]\n", "", 14, "missing: shows", "add shows"},
		"bad phase":           {"phase: validate, tool", "phase: validat, tool", 10, "validat is not allowed", `write "validate"`},
		"unknown fact":        {"days: facts.days}, facts", "days: facts.dais}, facts", 10, `no fact "dais"`, `write "days"`},
		"unknown fact shown":  {"shows: [days]", "shows: [dayz]", 15, `no fact "dayz"`, `write "days"`},
		"fact in template":    {"请{{.facts.days}}", "请{{.facts.tage}}", 16, `no fact "tage"`, ""},
		"template syntax":     {"请{{.facts.days}}", "请{{.facts.days}", 16, "bad character", ""},
		"cel syntax":          {`"!facts.allowed"`, `"facts.allowed ="`, 13, "Syntax error", ""},
		"missing locale":      {"title: {zh: 请假, en: leave request}", "title: {zh: 请假}", 6, "", ""},
		"locale text missing": {"{zh: 不允许, en: not allowed}", "{zh: 不允许}", 13, "locale en is missing", "add en"},
		"duplicate step":      {"id: book", "id: check", 11, `step "check" is defined twice`, "another name"},
		"unknown need":        {"operation: check", "operation: check, needs: [chek]", 10, `no step "chek"`, `write "check"`},
		"needs itself":        {"operation: check", "operation: check, needs: [check]", 10, "needs itself", "circle"},
		"needs other phase":   {"operation: book", "operation: book, needs: [check]", 11, "is of phase validate", ""},
		"no commit":           {"phase: commit", "phase: validate", 9, "no step has phase commit", "phase: commit"},
		"not YAML":            {"title: {zh", "title: {{zh", 2, "", ""},
		"alias bomb":          {"entities:", "x: &a\n  - b\ny: *a\nentities:", 1, "anchors", "write the value out"},
		"bad duration":        {"intents:", "limits: {review: soon}\nintents:", 3, "does not have the form", ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			source := strings.Replace(smallest, tt.old, tt.new, 1)
			require.NotEqual(t, smallest, source)
			_, err := flow.Parse("leave.yaml", []byte(source))
			if name == "missing locale" { // One locale fewer is allowed; then the texts of the other are too many.
				require.ErrorContains(t, err, "title has no locale en")
				return
			}
			require.Equal(t, conversation.CodeInvalidFlow, conversation.CodeOf(err))
			var errs flow.Errors
			require.True(t, errors.As(err, &errs))
			require.Equal(t, tt.line, errs[0].Line, errs.Error())
			require.Contains(t, errs[0].Message, tt.message)
			require.Contains(t, errs[0].Fix, tt.fix)
			require.Contains(t, errs[0].Error(), "leave.yaml:")
		})
	}
}

func TestAllErrorsAreReported(t *testing.T) {
	t.Parallel()
	source := strings.NewReplacer("facts.days}, facts", "facts.dais}, facts", "shows: [days]", "shows: [dayz]", "!facts.allowed", "!facts.allowd").Replace(smallest)
	_, err := flow.Parse("leave.yaml", []byte(source))
	var errs flow.Errors
	require.True(t, errors.As(err, &errs))
	require.Len(t, errs, 3)
}

func TestParseRefusesWhatIsNoText(t *testing.T) {
	t.Parallel()
	_, err := flow.Parse("x.yaml", []byte("flow: \xff"))
	require.ErrorContains(t, err, "UTF-8")
	_, err = flow.Parse("x.yaml", make([]byte, flow.MaxFileBytes+1))
	require.ErrorContains(t, err, "bytes")
}

func TestLibrary(t *testing.T) {
	t.Parallel()
	first, err := flow.Parse("leave.yaml", []byte(smallest))
	require.NoError(t, err)
	older, err := flow.Parse("leave.yaml", []byte(smallest+"# older\n"))
	require.NoError(t, err)
	library := flow.NewLibrary(first)
	library.Add(older)
	newest, err := library.Newest("leave")
	require.NoError(t, err)
	require.Equal(t, first.Ref(), newest.Ref())
	got, err := library.Get(older.Ref())
	require.NoError(t, err)
	require.Equal(t, older.Source(), got.Source())
	_, err = library.Newest("loan")
	require.Equal(t, conversation.CodeUnknownFlow, conversation.CodeOf(err))
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(smallest))
	if data, err := os.ReadFile("../../examples/expense/flow.yaml"); err == nil {
		f.Add(data)
	}
	f.Add([]byte("flow: [\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		parsed, err := flow.Parse("fuzz.yaml", data)
		if err != nil {
			require.Equal(t, conversation.CodeInvalidFlow, conversation.CodeOf(err))
			return
		}
		require.NotEmpty(t, parsed.Ref().ID)
	})
}
