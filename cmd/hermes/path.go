package main

import (
	"fmt"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"
)

// newPath is "hermes path SESSION": the way that a conversation took (SPEC C3).
func newPath() *cobra.Command {
	var steps bool
	command := &cobra.Command{
		Use:   "path SESSION",
		Short: "Print the path of a conversation",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			api, err := clientOf(cmd)
			if err != nil {
				return err
			}
			answer, err := api.path(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			if steps {
				table := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 0, 2, ' ', 0)
				for _, step := range answer.Steps {
					at := step.At.Local().Format(time.DateTime)
					fmt.Fprintf(table, "%s\t%s\t%s\t%s\n", step.State, at, step.Event, plain(step.Reason))
				}
				if err := table.Flush(); err != nil {
					return err
				}
			}
			_, err = fmt.Fprintln(cmd.OutOrStdout(), answer.Path)
			return err
		},
	}
	command.Flags().BoolVar(&steps, "steps", false, "also print each step with its time, event and reason")
	return command
}
