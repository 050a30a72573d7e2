package server

import (
	"context"
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"github.com/hermes-orchestrator/hermes/conversation"
	"github.com/hermes-orchestrator/hermes/tool"
	"github.com/hermes-orchestrator/hermes/tool/internal/schema"
)

// Health is what GET /health answers.
type Health = tool.Health

// Defaults of a Config.
const (
	DefaultCallbackAttempts = 12
	DefaultCallbackBackoff  = 500 * time.Millisecond
	DefaultMaxAsync         = 64
)

// Config describes a tool.
type Config struct {
	// Name under which the tool is registered. Its answers are signed for this name.
	Name string
	// Version is shown in /schema. Defaults to "1".
	Version string
	// Key signs every answer; see KeyFromFile.
	Key ed25519.PrivateKey
	// KeyID names the key among those registered. Defaults to "k1".
	KeyID      string
	Operations []Operation
	// Health answers GET /health. Defaults to what the server measured in the last minute: the mean time per item of
	// the slowest operation, and the share of calls that did not end with 5xx.
	Health func(ctx context.Context) Health
	// HTTP fetches files and delivers late answers. Defaults to a client of its own.
	HTTP *http.Client
	// CallbackAttempts bounds how often a late answer is offered until the receiver accepts it with 2xx. Defaults to
	// 12, with growing pauses about four minutes.
	CallbackAttempts int
	// CallbackBackoff is the pause after the first attempt; it doubles up to 64 times its length. Defaults to 500 ms.
	CallbackBackoff time.Duration
	// MaxAsync bounds how many accepted calls are in progress at once; one more is refused with 429. Defaults to 64.
	MaxAsync int
	// Now is the clock of measurements. Defaults to time.Now.
	Now func() time.Time
	// Logger defaults to slog.Default. Arguments and outputs are never logged.
	Logger *slog.Logger
}

// Server is the HTTP handler of a tool: GET /health, GET /schema, POST /invoke/{operation}. It is safe for concurrent
// use. Close it to end calls that are being answered later.
type Server struct {
	config     Config
	operations map[string]compiled
	document   []byte
	stats      *stats
	logger     *slog.Logger

	// lifetime ends with Close.
	lifetime context.Context
	end      context.CancelFunc
	jobs     sync.WaitGroup

	mu       sync.Mutex // Guards what follows.
	closed   bool
	accepted map[string]time.Duration // Calls that are being answered later, with their estimate.
}

type compiled struct {
	Operation
	input, output *schema.Schema
}

// New checks the description of a tool. Errors have CodeInvalidConfig and name the operation and the place in its
// schema.
func New(config Config) (*Server, error) {
	config = config.withDefaults()
	if err := config.validate(); err != nil {
		return nil, err
	}
	s := &Server{
		config: config, operations: map[string]compiled{}, stats: newStats(config.Now),
		logger: config.Logger.With("tool", config.Name), accepted: map[string]time.Duration{},
	}
	for _, o := range config.Operations {
		c, err := compile(o)
		if err != nil {
			return nil, err
		}
		if _, twice := s.operations[o.Name]; twice {
			return nil, conversation.Errorf(conversation.CodeInvalidConfig, "tool %q: operation %q is described twice",
				config.Name, o.Name)
		}
		s.operations[o.Name] = c
	}
	document, err := describe(config)
	if err != nil {
		return nil, err
	}
	s.document = document
	s.lifetime, s.end = context.WithCancel(context.Background())
	return s, nil
}

func (c Config) withDefaults() Config {
	if c.Version == "" {
		c.Version = "1"
	}
	if c.KeyID == "" {
		c.KeyID = "k1"
	}
	if c.HTTP == nil {
		// With a transport of its own, so that Close closes no connection of others.
		c.HTTP = &http.Client{
			Transport: &http.Transport{Proxy: http.ProxyFromEnvironment, IdleConnTimeout: 90 * time.Second},
		}
	}
	if c.CallbackAttempts <= 0 {
		c.CallbackAttempts = DefaultCallbackAttempts
	}
	if c.CallbackBackoff <= 0 {
		c.CallbackBackoff = DefaultCallbackBackoff
	}
	if c.MaxAsync <= 0 {
		c.MaxAsync = DefaultMaxAsync
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Logger == nil {
		c.Logger = slog.Default()
	}
	return c
}

func (c Config) validate() error {
	invalid := func(format string, args ...any) error {
		return conversation.Errorf(conversation.CodeInvalidConfig, "tool %q: %w", c.Name, fmt.Errorf(format, args...))
	}
	if len(c.Operations) == 0 {
		return invalid("it has no operation: describe at least one")
	}
	// Signing once finds out about key, key id and name; names of operations obey the same rule as names of tools.
	if !tool.ValidName(c.Name) {
		return invalid("the name is not made of letters, digits, '.', '_' and '-'")
	}
	if _, err := tool.Sign(c.Key, c.KeyID, c.Name, "check", http.StatusOK, nil); err != nil {
		if coded, ok := errors.AsType[*conversation.Error](err); ok {
			return invalid("%s", coded.Message)
		}
		return invalid("%w", err)
	}
	for _, o := range c.Operations {
		switch {
		case !tool.ValidName(o.Name):
			return invalid("operation %q: the name is not made of letters, digits, '.', '_' and '-'", o.Name)
		case o.Effect != tool.EffectRead && o.Effect != tool.EffectWrite:
			return invalid("operation %q: effect %q is not one of %q, %q", o.Name, o.Effect, tool.EffectRead,
				tool.EffectWrite)
		case o.Handle == nil:
			return invalid("operation %q: Handle is nil", o.Name)
		}
	}
	return nil
}

func compile(o Operation) (compiled, error) {
	input, err := schema.Compile(o.Input)
	if err != nil {
		return compiled{}, conversation.Errorf(conversation.CodeInvalidConfig, "operation %q: Input: %w", o.Name, err)
	}
	output, err := schema.Compile(o.Output)
	if err != nil {
		return compiled{}, conversation.Errorf(conversation.CodeInvalidConfig, "operation %q: Output: %w", o.Name, err)
	}
	return compiled{Operation: o, input: input, output: output}, nil
}

// Close ends the calls that are being answered later, without delivering them, and waits for them. A handler in
// progress sees its context end.
func (s *Server) Close() {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.end()
	s.jobs.Wait()
	s.config.HTTP.CloseIdleConnections()
}

// PublicKey is the text by which a manifest registers this tool's key.
func (s *Server) PublicKey() string {
	public, _ := s.config.Key.Public().(ed25519.PublicKey)
	return tool.EncodeKey(public)
}

// ServeHTTP implements http.Handler. Every answer is signed, errors included.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	defer func() {
		if recovered := recover(); recovered != nil {
			s.logger.ErrorContext(r.Context(), "panic while serving", "path", r.URL.Path, "panic", recovered, "stack",
				string(debug.Stack()))
			s.refuse(w, r, fail(http.StatusInternalServerError, CodeInternal, true, "an error inside the tool"))
		}
	}()
	operation, invoked := strings.CutPrefix(r.URL.Path, "/invoke/")
	switch {
	case r.URL.Path == "/health" || r.URL.Path == "/schema":
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			s.refuse(w, r,
				fail(http.StatusMethodNotAllowed, CodeInvalidArgument, false, "method %q: use GET", r.Method))
			return
		}
		s.serveDocument(w, r)
	case invoked && r.Method != http.MethodPost:
		s.refuse(w, r, fail(http.StatusMethodNotAllowed, CodeInvalidArgument, false, "method %q: use POST", r.Method))
	case invoked:
		s.serveInvoke(w, r, operation)
	default:
		s.refuse(w, r, fail(http.StatusNotFound, CodeNotFound, false,
			"path %q: there are /health, /schema and /invoke/{operation}", conversation.Clip(r.URL.Path, 200)))
	}
}

func (s *Server) serveDocument(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/schema" {
		s.write(w, r, http.StatusOK, s.document)
		return
	}
	h := s.stats.health()
	if s.config.Health != nil {
		h = s.config.Health(r.Context())
	}
	body, err := json.Marshal(h)
	if err != nil { // A figure that is not a number.
		s.refuse(w, r, fail(http.StatusInternalServerError, CodeInternal, true, "health of the tool cannot be written"))
		return
	}
	s.write(w, r, http.StatusOK, body)
}

// refuse answers a request that no operation has seen.
func (s *Server) refuse(w http.ResponseWriter, r *http.Request, f *failure) {
	s.write(w, r, f.status, failureBody(f, measured{}))
}

// write signs and sends an answer. A message id that cannot be signed is the only reason for one without signature.
func (s *Server) write(w http.ResponseWriter, r *http.Request, status int, body []byte) {
	signature, err := tool.Sign(s.config.Key, s.config.KeyID, s.config.Name, r.Header.Get(tool.HeaderMessageID), status,
		body)
	if err != nil {
		http.Error(w, "header "+tool.HeaderMessageID+" holds control characters or is too long", http.StatusBadRequest)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set(tool.HeaderSignature, signature)
	w.WriteHeader(status)
	if r.Method == http.MethodHead {
		return
	}
	if _, err := w.Write(body); err != nil {
		s.logger.DebugContext(r.Context(), "answer was not taken", "path", r.URL.Path, "error", err)
	}
}
