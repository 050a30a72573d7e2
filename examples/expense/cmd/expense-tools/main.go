// Command expense-tools serves the tools of the expense example: one of them, or all on consecutive ports.
//
//	expense-tools --listen 127.0.0.1:8101 --data ./data --key ./data/tools.key
//
// It prints one line per tool, "name URL", then "key k1 PUBLICKEY", and serves until SIGINT or SIGTERM. With port 0
// every tool gets a free port.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"github.com/hermes-orchestrator/hermes/examples/expense/tools"
	"github.com/hermes-orchestrator/hermes/tool"
	"github.com/hermes-orchestrator/hermes/tool/server"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	if errors.Is(err, flag.ErrHelp) {
		return
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "expense-tools:", err)
		os.Exit(1)
	}
}

// run serves until ctx ends, then finishes the calls in progress.
func run(ctx context.Context, args []string, out, logs io.Writer) (err error) {
	flags := flag.NewFlagSet("expense-tools", flag.ContinueOnError)
	flags.SetOutput(logs)
	listen := flags.String("listen", "127.0.0.1:0", "address of the first tool; the others get the ports after it")
	name := flags.String("tool", "", "the only tool to serve, for example ocr_tool; all if empty")
	data := flags.String("data", "", "directory for the ledger and for files that replace the example's data (required)")
	key := flags.String("key", "", "file with the signing key, made if there is none; defaults to tools.key in --data")
	public := flags.String("public", "", "file that the public key is written to, as keys_file of a manifest wants it")
	tesseract := flags.String("tesseract", "tesseract", "program that ocr_tool runs")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *data == "" {
		return errors.New("--data is required: name a directory")
	}
	if err := os.MkdirAll(*data, 0o700); err != nil {
		return err
	}
	if *key == "" {
		*key = filepath.Join(*data, "tools.key")
	}
	private, err := server.KeyFromFile(*key)
	if err != nil {
		return err
	}
	config := tools.Config{
		Dir: *data, Key: private, Tesseract: *tesseract, Logger: slog.New(slog.NewTextHandler(logs, nil)),
	}
	if *name != "" {
		config.Names = []string{*name}
	}
	set, err := tools.Open(ctx, config)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, set.Close()) }()
	if *public != "" {
		//nolint:gosec // Readable by all: it is what everybody may know.
		if err := os.WriteFile(*public, []byte(publicKey(set)+"\n"), 0o644); err != nil {
			return err
		}
	}
	return serve(ctx, set, *listen, out)
}

// serve listens for every tool of the set, prints where, and shuts down when ctx ends.
func serve(ctx context.Context, set *tools.Set, address string, out io.Writer) error {
	handlers := set.Handlers()
	failed := make(chan error, len(handlers))
	var servers []*http.Server
	defer func() {
		limit, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
		defer cancel()
		for _, each := range servers {
			_ = each.Shutdown(limit) // What does not finish in time is cut off by the end of the process.
		}
	}()
	index := 0
	for _, name := range tools.Names() {
		handler, ok := handlers[name]
		if !ok {
			continue
		}
		at, err := nth(address, index)
		if err != nil {
			return err
		}
		index++
		listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", at)
		if err != nil {
			return fmt.Errorf("listen for %s: %w", name, err)
		}
		each := &http.Server{Handler: handler, ReadHeaderTimeout: 10 * time.Second}
		servers = append(servers, each)
		go func() {
			if err := each.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
				failed <- fmt.Errorf("serve %s: %w", name, err)
			}
		}()
		fmt.Fprintf(out, "%s http://%s\n", name, listener.Addr())
	}
	fmt.Fprintf(out, "key %s\n", publicKey(set))
	select {
	case <-ctx.Done():
		return nil
	case err := <-failed:
		return err
	}
}

// publicKey is the key of all tools with its id, in the form of a line of a keys_file.
func publicKey(set *tools.Set) string {
	for _, key := range set.Keys() {
		return set.KeyID + " " + tool.EncodeKey(key)
	}
	return ""
}

// nth is the address with the port moved on by n; port 0 stays, since it means any.
func nth(address string, n int) (string, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return "", fmt.Errorf("--listen %q: use host:port: %w", address, err)
	}
	number, err := strconv.ParseUint(port, 10, 16)
	if err != nil || number > 0 && number+uint64(n) > 65535 {
		return "", fmt.Errorf("--listen %q: the port is not a number up to 65535", address)
	}
	if number > 0 {
		number += uint64(n)
	}
	return net.JoinHostPort(host, strconv.FormatUint(number, 10)), nil
}
