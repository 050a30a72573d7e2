package report

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

// Report collects the events of one or more runs of go test. It is not safe for concurrent use.
type Report struct {
	out     io.Writer
	verbose bool

	// open is the output of tests that have not ended, by package and test.
	open map[string]map[string]*strings.Builder
	// blamed are the packages whose failure a failed test already counts for.
	blamed  map[string]bool
	skipped []skip
	passed  int
	failed  int
}

// skip is one test that did not run.
type skip struct {
	test   string
	pkg    string
	reason string
}

// event is one line of go test -json (`go doc test2json`). It writes the names in capitals; decoding does not mind.
type event struct {
	Action  string `json:"action"`
	Package string `json:"package"`
	Test    string `json:"test"`
	Output  string `json:"output"`
}

// New returns a Report that writes to out. If verbose, it shows the output of passing tests, too, as go test -v does.
func New(out io.Writer, verbose bool) *Report {
	return &Report{
		out: out, verbose: verbose,
		open: map[string]map[string]*strings.Builder{}, blamed: map[string]bool{},
	}
}

// Read consumes one stream of events until its end. A line that is no event is printed as it is: it comes from the go
// command or from a program that wrote to standard output. The error is the stream's.
func (r *Report) Read(stream io.Reader) error {
	lines := bufio.NewReader(stream)
	for {
		line, err := lines.ReadBytes('\n')
		if len(line) > 0 {
			var e event
			if json.Unmarshal(line, &e) != nil || e.Action == "" {
				fmt.Fprint(r.out, string(line))
			} else {
				r.add(e)
			}
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// Close prints the skipped tests and, as the last line, the totals. Subtests count with their test; a package that does
// not build or crashes counts as one failure.
func (r *Report) Close() {
	if len(r.skipped) > 0 {
		fmt.Fprintf(r.out, "\nSKIPPED: what these tests need is not here\n")
		for _, s := range r.skipped {
			fmt.Fprintf(r.out, "  %s in %s: %s\n", s.test, s.pkg, s.reason)
		}
	}
	skipped := 0
	for _, s := range r.skipped {
		if !strings.Contains(s.test, "/") {
			skipped++
		}
	}
	fmt.Fprintf(r.out, "\n%d passed, %d failed, %d skipped\n", r.passed, r.failed, skipped)
}

func (r *Report) add(e event) {
	switch {
	case e.Action == "output" || e.Action == "build-output":
		r.output(e)
	case e.Test == "":
		if e.Action == "fail" && !r.blamed[e.Package] {
			r.failed++
		}
		delete(r.open, e.Package)
	case e.Action == "pass" || e.Action == "fail" || e.Action == "skip":
		r.end(e)
	}
}

func (r *Report) output(e event) {
	switch {
	case r.verbose:
		fmt.Fprint(r.out, e.Output)
	case e.Test == "":
		if strings.HasPrefix(e.Output, "FAIL") {
			r.flush(e.Package)
		}
		// Without -v, go test does not print the test program's own verdict.
		if e.Output != "PASS\n" {
			fmt.Fprint(r.out, e.Output)
		}
		return
	}
	tests := r.open[e.Package]
	if tests == nil {
		tests = map[string]*strings.Builder{}
		r.open[e.Package] = tests
	}
	if tests[e.Test] == nil {
		tests[e.Test] = &strings.Builder{}
	}
	if !strings.HasPrefix(e.Output, "=== ") {
		tests[e.Test].WriteString(e.Output)
	}
}

func (r *Report) end(e event) {
	var output string
	if b := r.open[e.Package][e.Test]; b != nil {
		output = b.String()
		delete(r.open[e.Package], e.Test)
	}
	top := !strings.Contains(e.Test, "/")
	switch e.Action {
	case "pass":
		if top {
			r.passed++
		}
	case "fail":
		if top {
			r.failed++
			r.blamed[e.Package] = true
		}
		if !r.verbose {
			fmt.Fprint(r.out, output)
		}
	case "skip":
		r.skipped = append(r.skipped, skip{test: e.Test, pkg: e.Package, reason: reason(output)})
	}
}

// flush prints what tests said that never ended, because their program crashed or ran out of time.
func (r *Report) flush(pkg string) {
	tests := r.open[pkg]
	for _, test := range slices.Sorted(maps.Keys(tests)) {
		fmt.Fprint(r.out, tests[test].String())
	}
	delete(r.open, pkg)
}

// reason is the text given to t.Skip: the lines without "--- SKIP" and without the position in the file.
func reason(output string) string {
	var parts []string
	for line := range strings.Lines(output) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "--- SKIP") {
			continue
		}
		if _, text, ok := strings.Cut(line, "_test.go:"); ok {
			if _, text, ok = strings.Cut(text, ": "); ok {
				line = text
			}
		}
		parts = append(parts, line)
	}
	if len(parts) == 0 {
		return "no reason given"
	}
	return strings.Join(parts, " ")
}
