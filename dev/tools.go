package main

import (
	"context"
	"crypto/ed25519"
	"errors"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/hermes-orchestrator/hermes/conversation"
	"github.com/hermes-orchestrator/hermes/dev/dialogue"
	"github.com/hermes-orchestrator/hermes/dev/fault"
	"github.com/hermes-orchestrator/hermes/dev/stack"
	"github.com/hermes-orchestrator/hermes/tool"
)

// exampleTools are the tools of an example that run in this process. Tools of the manifest that are not among them run
// elsewhere, and the manifest says where.
type exampleTools struct {
	// Handlers and Keys are by the tool's name.
	Handlers map[string]http.Handler
	Keys     map[string]ed25519.PublicKey
	// KeyID names all Keys.
	KeyID string
	// Debits describes what the tools have executed, a line each. Nil when none executes anything.
	Debits func(ctx context.Context) ([]string, error)
	Close  func() error
}

// toolSet serves the tools of an example, each under a path of its own: http://127.0.0.1:port/{tool}.
type toolSet struct {
	// Manifest is the path of a copy of the example's manifest that has the addresses and the key of these tools.
	Manifest string

	tools   exampleTools
	proxies map[string]*fault.Proxy // Empty without faults.
	closers []func() error
}

// startTools opens and serves the tools of an example. dir keeps their state, keys and the manifest.
func startTools(ctx context.Context, example, dir string, faults bool, logger *slog.Logger) (*toolSet, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, conversation.Errorf(conversation.CodeUnavailable, "make directory %q for tools: %w", dir, err)
	}
	manifest, err := readManifest(filepath.Join(example, manifestName))
	if err != nil {
		return nil, err
	}
	tools, err := openExampleTools(ctx, manifest.names(), dir, logger)
	if err != nil {
		return nil, err
	}
	s := &toolSet{Manifest: filepath.Join(dir, manifestName), tools: tools, proxies: map[string]*fault.Proxy{}}
	s.closers = append(s.closers, tools.Close)
	base, err := s.start(ctx, faults)
	if err == nil {
		for name, key := range tools.Keys {
			manifest.redirect(name, base.JoinPath(name).String(), tools.KeyID, tool.EncodeKey(key))
		}
		err = manifest.write(s.Manifest)
	}
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// start serves the tools, behind proxies if there are to be faults, and returns the base of their addresses.
func (s *toolSet) start(ctx context.Context, faults bool) (*url.URL, error) {
	base, err := s.serve(ctx, s.tools.Handlers)
	if err != nil || !faults {
		return base, err
	}
	handlers := map[string]http.Handler{}
	for name := range s.tools.Handlers {
		proxy := fault.New(base.JoinPath(name))
		s.proxies[name], handlers[name] = proxy, proxy
	}
	return s.serve(ctx, handlers)
}

// serve serves handlers under their names on a free port.
func (s *toolSet) serve(ctx context.Context, handlers map[string]http.Handler) (*url.URL, error) {
	listener, err := stack.Listen(ctx, "tools", "--data", 0)
	if err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	for name, handler := range handlers {
		mux.Handle("/"+name+"/", http.StripPrefix("/"+name, handler))
	}
	server := &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	served := make(chan struct{})
	go func() {
		defer close(served)
		_ = server.Serve(listener) // Always ErrServerClosed: nothing else closes the listener.
	}()
	s.closers = append(s.closers, func() error {
		err := server.Close()
		<-served
		return err
	})
	return &url.URL{Scheme: "http", Host: listener.Addr().String()}, nil
}

// SetFaults replaces what goes wrong with all tools.
func (s *toolSet) SetFaults(faults []dialogue.Fault) error {
	rules := map[string][]fault.Rule{}
	for _, f := range faults {
		if _, ok := s.proxies[f.Tool]; !ok {
			return conversation.Errorf(conversation.CodeUnknownTool,
				"inject fault %q: there is no tool %q behind a proxy", f.Kind, f.Tool)
		}
		rules[f.Tool] = append(rules[f.Tool], fault.Rule{
			Operation: f.Operation, Kind: f.Kind, Status: f.Status, Delay: f.Delay,
			LatencyMS: f.LatencyMS, SuccessRate: f.SuccessRate, After: f.After, Times: f.Times,
		})
	}
	for name, proxy := range s.proxies {
		proxy.Set(rules[name])
	}
	return nil
}

// Debits describes what the tools have executed, a line each.
func (s *toolSet) Debits(ctx context.Context) ([]string, error) {
	if s.tools.Debits == nil {
		return nil, nil
	}
	return s.tools.Debits(ctx)
}

// Close stops serving and closes the tools.
func (s *toolSet) Close() error {
	var errs []error
	for _, closer := range slices.Backward(s.closers) {
		errs = append(errs, closer())
	}
	return errors.Join(errs...)
}
