package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/hermes-orchestrator/hermes/dev/stack"
)

// Usual ports. Unless a flag asks for one, each gives way to a free port when something listens on it.
const (
	usualHTTPPort     = 8080
	usualGRPCPort     = 8081
	usualTemporalPort = 7233
	usualUIPort       = 8233
	usualEtcdPort     = 2379
	usualRedisPort    = 6379
)

// serveOptions are the flags of serving.
type serveOptions struct {
	assembleOptions
	verbose bool
}

func serveCommand() *cobra.Command {
	var options serveOptions
	command := &cobra.Command{
		Use:   "dev",
		Short: "run all of Hermes in one process until Ctrl-C",
		Args:  cobra.NoArgs,
	}
	flags := command.Flags()
	own := &options.Own
	flags.StringVar(&own.DataDir, "data", "", "directory that keeps all state (defaults to a temporary one)")
	flags.StringVar(&options.Example, "example", defaultExample, "folder of the example whose flow and tools are used")
	flags.StringVar(&own.RedisAddress, "redis", "", "host:port of a Redis server to use in place of the built-in one")
	flags.StringVar(&own.Neo4jURL, "neo4j", "",
		"URL of a Neo4j server for long-term memory, as neo4j://127.0.0.1:7687 (defaults to an SQLite file); "+
			"its password is read from HERMES_GRAPH_PASSWORD")
	flags.StringVar(&options.GraphUser, "neo4j-user", "neo4j", "user for Neo4j")
	flags.BoolVar(&options.verbose, "verbose", false,
		"log worker and front door to the terminal, and the servers in more detail to files in the data directory")
	ports := []struct {
		port  *int
		flag  string
		usual int
		of    string
	}{
		{&options.HTTPPort, flagHTTPPort, usualHTTPPort, "web console and HTTP/JSON"},
		{&options.GRPCPort, flagGRPCPort, usualGRPCPort, "gRPC"},
		{&own.TemporalPort, stack.FlagTemporalPort, usualTemporalPort, "Temporal"},
		{&own.UIPort, stack.FlagUIPort, usualUIPort, "Temporal Web"},
		{&own.EtcdPort, stack.FlagEtcdPort, usualEtcdPort, "etcd"},
		{&own.RedisPort, stack.FlagRedisPort, usualRedisPort, "the built-in Redis"},
	}
	for _, p := range ports {
		flags.IntVar(p.port, p.flag[len("--"):], 0,
			fmt.Sprintf("port of %s (defaults to %d, or a free one when that is taken)", p.of, p.usual))
	}
	command.RunE = func(command *cobra.Command, _ []string) error {
		ctx := command.Context()
		for _, p := range ports {
			if !flags.Changed(p.flag[len("--"):]) && (p.port != &own.RedisPort || own.RedisAddress == "") {
				*p.port = stack.Prefer(ctx, p.usual)
			}
		}
		return serve(ctx, command.OutOrStdout(), options)
	}
	return command
}

// serve runs everything until ctx ends.
func serve(ctx context.Context, out io.Writer, options serveOptions) (err error) {
	begin := time.Now()
	options.Own.UI = true
	options.GraphPassword = os.Getenv("HERMES_GRAPH_PASSWORD")
	if options.Own.DataDir != "" {
		if options.Own.DataDir, err = filepath.Abs(options.Own.DataDir); err != nil {
			return err
		}
	}
	if options.verbose {
		options.Own.LogLevel = "info"
		options.Logger = slog.New(slog.NewTextHandler(os.Stderr, nil))
	}
	app, err := assemble(ctx, options.assembleOptions)
	if err != nil {
		return err
	}
	defer func() {
		if closeErr := app.Close(); err == nil {
			err = closeErr
		}
	}()
	printAddresses(out, app, options)
	fmt.Fprintf(out, "\nready in %.1f s (servers %.1f s); Ctrl-C stops everything\n",
		time.Since(begin).Seconds(), app.Stack.Took().Seconds())
	select {
	case <-ctx.Done():
		fmt.Fprintln(out, "\nstopping")
		return nil
	case err := <-app.Broken():
		return err
	}
}

func printAddresses(out io.Writer, app *application, options serveOptions) {
	table := tabwriter.NewWriter(out, 0, 0, 3, ' ', 0)
	row := func(name, address string) { fmt.Fprintf(table, "  %s\t%s\n", name, address) }
	fmt.Fprintln(table)
	row("web console", app.HTTP+"/?user="+demoUser)
	row("gRPC", app.GRPC)
	row("Temporal Web", app.Stack.UIURL())
	row("Temporal", app.Stack.TemporalAddress())
	for _, endpoint := range app.Stack.EtcdEndpoints() {
		row("etcd", endpoint)
	}
	row("Redis", app.Stack.RedisAddress()+either(options.Own.RedisAddress == "", " (built in: volatile)", ""))
	row("graph", app.Stack.GraphURL())
	row("metrics", app.HTTP+"/metrics")
	row("data", app.Stack.DataDir()+either(options.Own.DataDir == "", " (removed at the end; --data keeps it)", ""))
	// The terminal is the only reader.
	_ = table.Flush()
}

func either(condition bool, yes, no string) string {
	if condition {
		return yes
	}
	return no
}
