// Command testrun runs `go test ./...` in several modules, prints what go test prints, and then names every test that
// was skipped together with the reason, so that a suite without its server is not mistaken for one that passed.
//
//	testrun [-module DIR]... [-- FLAGS OF GO TEST]
//
// Packages may be named among the flags; the default is ./... . It imports nothing of Hermes but its own report.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"github.com/hermes-orchestrator/hermes/internal/testrun/report"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// run returns the exit code: 0, 1 when a test failed, 2 when it was called wrongly.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	var modules []string
	flags := flag.NewFlagSet("testrun", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.Func("module", "directory of a module to test (repeatable)", func(dir string) error {
		modules = append(modules, dir)
		return nil
	})
	if err := flags.Parse(args); err != nil {
		return 2
	}
	if len(modules) == 0 {
		modules = []string{"."}
	}

	verbose := slices.ContainsFunc(flags.Args(), func(arg string) bool { return arg == "-v" || arg == "-v=true" })
	summary := report.New(stdout, verbose)
	passed := true
	for _, dir := range modules {
		if err := test(ctx, dir, flags.Args(), summary, stderr); err != nil {
			passed = false
			if exit := (*exec.ExitError)(nil); !errors.As(err, &exit) {
				fmt.Fprintf(stderr, "testrun: go test in %q: %v\n", dir, err)
			}
		}
	}
	summary.Close()
	if !passed {
		return 1
	}
	return 0
}

// test runs go test in dir and feeds its events to summary.
func test(ctx context.Context, dir string, args []string, summary *report.Report, stderr io.Writer) error {
	command := append([]string{"test", "-json"}, args...)
	if !slices.ContainsFunc(args, func(arg string) bool { return strings.HasPrefix(arg, ".") }) {
		command = append(command, "./...")
	}
	cmd := exec.CommandContext(ctx, "go", command...)
	cmd.Dir = dir
	cmd.Stderr = stderr
	// An interrupt lets go test end its test programs, which end the servers they started.
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	events, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	readErr := summary.Read(events)
	return errors.Join(cmd.Wait(), readErr)
}
