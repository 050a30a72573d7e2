// Command hermes is the command line of Hermes, for people who talk to it, write flows, or operate it.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"
)

func main() { os.Exit(program()) }

// program is main with an exit code, so that what is deferred is done.
func program() int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // A second signal ends the process at once.
	if err := newRoot(os.Getenv).ExecuteContext(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "hermes:", err)
		return 1
	}
	return 0
}

// defaultServer is where a starter listens unless it is told otherwise.
const defaultServer = "http://localhost:8080"

func newRoot(getenv func(string) string) *cobra.Command {
	root := &cobra.Command{
		Use:           "hermes",
		Short:         "Talk to Hermes, look at conversations, check flows",
		SilenceUsage:  true, // An error of a server is no reason to explain flags.
		SilenceErrors: true, // main prints them, once.
	}
	server := getenv("HERMES_SERVER")
	if server == "" {
		server = defaultServer
	}
	root.PersistentFlags().String("server", server, "URL of the starter (HERMES_SERVER)")
	root.AddCommand(newChat(getenv), newPath(), newFlow())
	return root
}

// clientOf returns a client for the starter that the command was pointed at.
func clientOf(cmd *cobra.Command) (*apiClient, error) {
	server, err := cmd.Flags().GetString("server")
	if err != nil {
		return nil, err
	}
	return newClient(server)
}
