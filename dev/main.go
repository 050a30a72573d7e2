// Command dev runs all of Hermes in one process, for a laptop and for end-to-end tests: Temporal with Temporal Web,
// etcd, Redis, the example's tools, a worker and the front door.
//
//	go run ./dev                       serve until Ctrl-C
//	go run ./dev demo expense          play the acceptance dialogue and show what happened
//	go run ./dev test DIR              run dialogue scripts
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // A second Ctrl-C does not wait for the first.
	err := rootCommand().ExecuteContext(ctx)
	stop()
	if err == nil {
		return
	}
	if !errors.Is(err, errScriptsFailed) { // Their own lines say it all.
		fmt.Fprintln(os.Stderr, err)
	}
	os.Exit(1)
}

func rootCommand() *cobra.Command {
	root := serveCommand()
	root.SilenceUsage = true
	root.SilenceErrors = true // main prints them, once.
	root.AddCommand(demoCommand(), testCommand())
	return root
}
