package main

import (
	"context"
	"fmt"
	"io"
	"os/exec"
	"runtime"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/hermes-orchestrator/hermes/conversation"
	"github.com/hermes-orchestrator/hermes/dev/dialogue"
)

// testCommand runs dialogue scripts on the embedded stack.
func testCommand() *cobra.Command {
	var options testOptions
	command := &cobra.Command{
		Use:   "test PATH…",
		Short: "run dialogue scripts (files or folders) in parallel; exit 1 if one fails",
		Args:  cobra.MinimumNArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			options.paths = args
			return runScripts(command.Context(), command.OutOrStdout(), options)
		},
	}
	command.Flags().IntVar(&options.parallel, "parallel", max(2, runtime.NumCPU()),
		"how many scripts run at the same time")
	command.Flags().StringVar(&options.example, "example", defaultExample,
		"folder of the example whose flow and tools are used")
	command.Flags().StringVar(&options.record, "record", "",
		"folder to which the histories of passed scripts are written (replay corpus)")
	return command
}

type testOptions struct {
	paths    []string
	parallel int
	example  string
	record   string
}

// runScripts plays all scripts, each with tools, worker and front door of its own on one shared stack, and prints a
// line for each.
func runScripts(ctx context.Context, out io.Writer, options testOptions) error {
	var scripts []*dialogue.Script
	for _, path := range options.paths {
		loaded, err := dialogue.Load(path)
		if err != nil {
			return err
		}
		scripts = append(scripts, loaded...)
	}
	shared, err := startStack(ctx, stackOptions{})
	if err != nil {
		return err
	}
	defer func() { _ = shared.Close() }()

	var mu sync.Mutex // Guards out and the counts.
	var passed, failed, skipped int
	slots := make(chan struct{}, max(1, options.parallel))
	var group sync.WaitGroup
	for _, script := range scripts {
		slots <- struct{}{}
		group.Go(func() {
			defer func() { <-slots }()
			result, err := runScript(ctx, shared, script, options)
			mu.Lock()
			defer mu.Unlock()
			switch {
			case result.Skipped != "":
				skipped++
				fmt.Fprintf(out, "SKIP %-28s %s (%s)\n", script.Title(), script.Name, result.Skipped)
			case err != nil || len(result.Failures) > 0:
				failed++
				fmt.Fprintf(out, "FAIL %-28s %s\n", script.Title(), script.Name)
				if err != nil {
					fmt.Fprintf(out, "     %s: %v\n", script.File(), err)
				}
				for _, failure := range result.Failures {
					fmt.Fprintf(out, "     %s: %s\n", script.File(), failure)
				}
				for _, session := range result.Sessions {
					fmt.Fprintf(out, "     workflow %s\n", conversation.WorkflowID(session))
				}
			default:
				passed++
				fmt.Fprintf(out, "ok   %-28s %s (%.1fs)\n", script.Title(), script.Name, result.Took.Seconds())
			}
		})
	}
	group.Wait()
	fmt.Fprintf(out, "%d passed, %d failed, %d skipped\n", passed, failed, skipped)
	if failed > 0 {
		return errScriptsFailed
	}
	return nil
}

// errScriptsFailed is not a message of its own: the lines above it are.
var errScriptsFailed = conversation.Errorf(conversation.CodeInvalidArgument, "dialogue scripts failed")

// scriptLimit bounds one script; it is a guard against hanging.
const scriptLimit = 4 * time.Minute

func runScript(
	ctx context.Context, shared *sharedStack, script *dialogue.Script, options testOptions,
) (dialogue.Result, error) {
	for _, program := range script.Requires {
		if _, err := exec.LookPath(program); err != nil {
			return dialogue.Result{Script: script, Skipped: "requires " + program + ", which is not installed"}, nil
		}
	}
	ctx, cancel := context.WithTimeout(ctx, scriptLimit)
	defer cancel()
	app, err := assemble(ctx, assembleOptions{Example: options.example, Stack: shared, Faults: true})
	if err != nil {
		return dialogue.Result{Script: script}, err
	}
	defer func() { _ = app.Close() }()
	door := dialogue.NewDoor(app.HTTP)
	defer door.Close()
	result, err := dialogue.Run(ctx, script, dialogue.World{
		Door: door, Temporal: app.Temporal, TaskQueue: app.TaskQueue, SetFaults: app.SetFaults, Relations: app.Relations,
	})
	if err == nil && len(result.Failures) == 0 && options.record != "" {
		err = dialogue.Record(ctx, app.Temporal, options.record, script.Title(), result.Sessions)
	}
	return result, err
}
