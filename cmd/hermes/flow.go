package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/hermes-orchestrator/hermes/conversation"
	"github.com/hermes-orchestrator/hermes/conversation/flow"
)

// newFlow is "hermes flow": commands for those who write flows.
func newFlow() *cobra.Command {
	command := &cobra.Command{Use: "flow", Short: "Work with flow definitions"}
	command.AddCommand(&cobra.Command{
		Use:   "validate FILE...",
		Short: "Check flow definitions; every error is printed as file:line:column",
		Args:  cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			bad := 0
			for _, file := range args {
				if !validateFlow(cmd, file) {
					bad++
				}
			}
			if bad > 0 {
				return conversation.Errorf(conversation.CodeInvalidFlow, "%d of %d flow files have errors", bad, len(args))
			}
			return nil
		},
	})
	return command
}

// validateFlow prints what is wrong with a file, or that nothing is.
func validateFlow(cmd *cobra.Command, file string) bool {
	data, err := os.ReadFile(file)
	if err != nil {
		cmd.PrintErrln(err)
		return false
	}
	parsed, err := flow.Parse(file, data)
	var wrong flow.Errors
	switch {
	case errors.As(err, &wrong):
		for _, one := range wrong {
			cmd.PrintErrln(one)
		}
		return false
	case err != nil:
		cmd.PrintErrln(err)
		return false
	}
	fmt.Fprintf(cmd.OutOrStdout(), "%s: ok: flow %s, version %s\n", file, parsed.Ref().ID, parsed.Ref().Version)
	return true
}
