package flow_test

import (
	"fmt"
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

// Each mistake is found at its line and column, says what is wrong and what to write.
func TestParseErrors(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		old, new string
		at       string
		message  string
		fix      string
	}{
		"unknown key":             {"entities:", "entitys:", "7:1", `key "entitys" is not known`, `write "entities"`},
		"unknown key in step":     {"operation: check", "operation: check, argumens: {}", "10:67", `key "argumens"`, `write "arguments"`},
		"missing key":             {"  shows: [days]\n", "", "14:1", "missing: shows", "add shows"},
		"bad phase":               {"phase: validate, tool", "phase: validat, tool", "10:17", "validat is not allowed", `write "validate"`},
		"bad locale":              {"en: leave request", "fr: congé", "2:17", `key "fr" is not known`, `write one of en, zh`},
		"number for a text":       {"days: facts.days}, facts", "days: 5}, facts", "10:79", "a text is wanted", "quotes"},
		"text for a list":         {"shows: [days]", "shows: days", "15:3", "a list is wanted", "write a list"},
		"bad name":                {"id: book", "id: Book", "11:6", `"Book" does not have the form`, "small letters"},
		"bad name of an argument": {"{days: facts.days}, facts", "{Days: facts.days}, facts", "10:79", `"Days" is not a name`, "small letters"},
		"bad duration":            {"intents:", "limits: {review: soon}\nintents:", "3:10", "does not have the form", "5m"},
		"zero duration":           {"intents:", "limits: {review: 0s}\nintents:", "3:10", "above zero", "5m"},
		"unknown fact":            {"days: facts.days}, facts", "days: facts.dais}, facts", "10:79", `no fact "dais"`, `write "days"`},
		"unknown fact shown":      {"shows: [days]", "shows: [days, dayz]", "15:17", `no fact "dayz"`, `write "days"`},
		"fact not bound":          {"请{{.facts.days}}", "请{{.facts.days}}{{.facts.allowed}}", "16:10", "does not bind to it", "add it to shows"},
		"fact in template":        {"请{{.facts.days}}", "请{{.facts.tage}}", "16:10", `no fact "tage"`, "days"},
		"fact in if":              {"请{{.facts.days}}", "请{{if .facts.tage}}1{{end}}", "16:10", `no fact "tage"`, ""},
		"fact in range by dollar": {"请{{.facts.days}}", "请{{range .warnings}}{{$.facts.tage}}{{end}}", "16:10", `no fact "tage"`, ""},
		"fact in has":             {"请{{.facts.days}}", `请{{if has .facts \"tage\"}}{{end}}`, "16:10", `no fact "tage"`, ""},
		"name in template":        {"请{{.facts.days}}", "请{{.fact.days}}", "16:10", "there is no .fact in this text", `write "facts"`},
		"template syntax":         {"请{{.facts.days}}", "请{{.facts.days}", "16:10", "bad character", ""},
		"template function":       {"请{{.facts.days}}", "请{{monney .facts.days}}", "16:10", `"monney" not defined`, `write "money"`},
		"template call":           {"请{{.facts.days}}", "请{{money .facts.days}}", "16:10", "money takes 2 values, here are 1", "write {{money"},
		"cel syntax":              {`"!facts.allowed"`, `"facts.allowed ="`, "13:70", "Syntax error", ""},
		"cel variable":            {`"!facts.allowed"`, `"fact.allowed"`, "13:56", `"fact" is not known`, `write "facts"`},
		"cel fact without facts":  {`"!facts.allowed"`, `"!allowed"`, "13:57", `"allowed" is not known`, `write "facts.allowed"`},
		"cel output in a finding": {`"!facts.allowed"`, `"!output.allowed"`, "13:57", "no output here", "read a fact"},
		"cel type":                {`"!facts.allowed"`, `size(uploads)`, "13:49", "true or false", "compare"},
		"tag instead of cel":      {`"!facts.allowed"`, `!facts.allowed`, "13:55", "YAML tag", "quotes"},
		"warnings not a list":     {"phase: validate, tool", `phase: validate, warnings: "size(uploads)", tool`, "10:34", "must be a list", "[ … ]"},
		"locale of title":         {"title: {zh: 请假, en: leave request}", "title: {zh: 请假}", "6:43", "title has no locale en", "add it to title"},
		"locale text missing":     {"{zh: 不允许, en: not allowed}", "{zh: 不允许}", "13:73", "locale en is missing", "add en"},
		"locale words missing":    {", en: {verbs: [take], objects: [leave]}}", "}", "6:5", "locale en is missing", "add en"},
		"duplicate key":           {"flow: leave", "flow: leave\nflow: other", "2:1", "flow", ""},
		"duplicate step":          {"id: book", "id: check", "11:6", `step "check" is defined twice`, "another name"},
		"duplicate entity":        {"steps:", "  - {name: days, type: date}\nsteps:", "9:6", `entity "days" is defined twice`, "another name"},
		"duplicate finding":       {"confirmation:", "  - {id: refused, kind: warning, phase: validate, when: 'true', text: {zh: 一, en: one}}\nconfirmation:", "14:6", `finding "refused" is defined twice`, ""},
		"list without values":     {"type: count", "type: list", "8:5", "needs values", "add values"},
		"unknown need":            {"operation: check", "operation: check, needs: [chek]", "10:75", `no step "chek"`, `write "check"`},
		"needs itself":            {"operation: check", "operation: check, needs: [check]", "10:67", "circle: check → check", "break the circle"},
		"needs other phase":       {"operation: book", "operation: book, needs: [check]", "11:71", "is of phase validate", "remove it"},
		"no commit":               {"phase: commit", "phase: validate", "9:1", "no step has phase commit", "phase: commit"},
		"optional commit":         {"phase: commit", "phase: commit, optional: true", "11:31", "not optional", "remove"},
		"manual without fields":   {"phase: validate, tool", "phase: inspect, manual: true, tool", "10:33", "no material has manual fields", "add manual fields"},
		"manual in a wrong phase": {"phase: validate, tool", "phase: validate, manual: true, tool", "10:34", "phase inspect", "remove manual"},
		"warning asks":            {"kind: fatal", "kind: fatal, clear: [days]", "13:32", "asks nothing", "kind: review"},
		"review without options":  {"kind: fatal", "kind: review", "13:5", "missing: ask, options", "add ask"},
		//nolint:misspell // The misspelling is what is tested.
		"unknown reply kind":       {"confirmation:", "texts: {comitted: {zh: 好, en: done}}\nconfirmation:", "14:9", `no reply of kind "comitted"`, `write "committed"`},
		"unknown material":         {"confirmation:", "modify: [{say: {zh: [天], en: [days]}, clear: [dais]}]\nconfirmation:", "14:47", `no material or fact "dais"`, `write "days"`},
		"derived from a tool":      {"findings:", "derive: {allowed: 'true'}\nfindings:", "12:10", `"allowed" comes from step check already`, "another name"},
		"derived out of order":     {"findings:", "derive: {a: facts.b, b: '1'}\nfindings:", "12:10", `reads "b", which is computed after it`, "move it below b"},
		"bad regular expression":   {"confirmation:", "warnings: [{match: '(', short: {zh: 一, en: one}}]\nconfirmation:", "14:13", "missing closing )", "RE2"},
		"remember neither":         {"confirmation:", "remember: [{after: check}]\nconfirmation:", "14:12", "either a relation or warnings", ""},
		"remember unknown step":    {"confirmation:", "remember: [{after: chek, warnings: true}]\nconfirmation:", "14:13", `no step "chek"`, `write "check"`},
		"remember without warning": {"confirmation:", "remember: [{after: check, warnings: true}]\nconfirmation:", "14:27", "has no warnings", ""},
		"not YAML":                 {"title: {zh", "title: {{zh", "2:9", "not YAML", ""},
		"alias bomb":               {"entities:", "x: &a\n  - b\ny: *a\nentities:", "7:4", "anchors", "write the value out"},
		"two documents":            {"confirmation:", "---\nconfirmation:", "15:13", "several YAML documents", "a file of its own"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			source := strings.Replace(smallest, tt.old, tt.new, 1)
			require.NotEqual(t, smallest, source)
			_, err := flow.Parse("leave.yaml", []byte(source))
			require.Equal(t, conversation.CodeInvalidFlow, conversation.CodeOf(err))
			var errs flow.Errors
			require.ErrorAs(t, err, &errs)
			require.Equal(t, tt.at, fmt.Sprintf("%d:%d", errs[0].Line, errs[0].Column), errs.Error())
			require.Contains(t, errs[0].Message, tt.message)
			require.Contains(t, errs[0].Fix, tt.fix)
			require.Contains(t, errs[0].Error(), "leave.yaml:"+tt.at+": ")
		})
	}
}

// Errors of shape and of meaning are reported together, each once, in the order of lines.
func TestAllErrorsAreReported(t *testing.T) {
	t.Parallel()
	source := strings.NewReplacer(
		"entities:", "text: 1\nentities:", "facts.days}, facts", "facts.dais}, facts", "!facts.allowed", "!facts.allowd", "id: book", "id: check",
	).Replace(smallest)
	_, err := flow.Parse("leave.yaml", []byte(source))
	var errs flow.Errors
	require.ErrorAs(t, err, &errs)
	require.Equal(t, strings.Join([]string{
		`leave.yaml:7:1: text: key "text" is not known here (fix: write "texts")`,
		`leave.yaml:11:79: steps[0].arguments.days: there is no fact "dais" (fix: write "days")`,
		`leave.yaml:12:6: steps[1].id: step "check" is defined twice (fix: give it another name)`,
		`leave.yaml:14:49: findings[0].when: there is no fact "allowd" (fix: write "allowed")`,
	}, "\n"), errs.Error())
}

func TestParseRefusesWhatIsNoText(t *testing.T) {
	t.Parallel()
	_, err := flow.Parse("x.yaml", []byte("flow: \xff"))
	require.ErrorContains(t, err, "UTF-8")
	_, err = flow.Parse("x.yaml", make([]byte, flow.MaxFileBytes+1))
	require.ErrorContains(t, err, "bytes")
	// Deep nesting must not cost the parser's stack, nor its time.
	_, err = flow.Parse("x.yaml", []byte("flow: "+strings.Repeat("[", flow.MaxFileBytes/2)))
	require.ErrorContains(t, err, "tokens")
	for _, empty := range []string{"", "# only a comment\n", "---\n---\n"} {
		_, err = flow.Parse("x.yaml", []byte(empty))
		require.ErrorContains(t, err, "the file is empty", "%q", empty)
	}
	_, err = flow.Load(os.DirFS("."), "absent.yaml")
	require.Equal(t, conversation.CodeNotFound, conversation.CodeOf(err))
}

func TestCheckTools(t *testing.T) {
	t.Parallel()
	f, err := flow.Parse("leave.yaml", []byte(smallest))
	require.NoError(t, err)
	registered := []flow.Operation{{Tool: "hr_tool", Name: "check", Effect: "read"}, {Tool: "hr_tool", Name: "book", Effect: "write"}}
	require.NoError(t, f.CheckTools("leave.yaml", registered))
	registered[0].Effect, registered[1].Name = "write", "booking"
	err = f.CheckTools("leave.yaml", registered)
	require.Equal(t, conversation.CodeInvalidFlow, conversation.CodeOf(err))
	require.ErrorContains(t, err, `leave.yaml:10:49: steps.check.operation: hr_tool.check writes, but step "check" is of phase validate`)
	require.ErrorContains(t, err, `leave.yaml:11:46: steps.book.operation: tool "hr_tool" has no operation "book" (fix: write one of check, booking)`)
	require.ErrorContains(t, f.CheckTools("leave.yaml", []flow.Operation{{Tool: "hrtool", Name: "check"}}), `no tool "hr_tool" is registered (fix: write "hrtool")`)
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
