package tool

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/sync/singleflight"

	"github.com/hermes-orchestrator/hermes/conversation"
)

// ClientConfig is the configuration of a Client. Its zero value works for tools without uploads, asynchronous
// operations and cached fallbacks.
type ClientConfig struct {
	// HTTP makes the requests. Its Timeout and its redirects are switched off in a copy: time limits come with the
	// calls, and a tool that redirects is not the tool that was registered. Defaults to a client of its own.
	HTTP *http.Client
	// FilesURL is the base below which tools fetch uploads. Empty: no header is sent.
	FilesURL string
	// CallbackURL is where tools deliver answers of accepted calls; the client adds a query that ReadCallback reads.
	// Empty: no call is asynchronous.
	CallbackURL string
	// Cache keeps last good answers. Required if an operation's fallback is cache; see NewMemoryCache.
	Cache AnswerCache
	// Now is the clock. Defaults to time.Now.
	Now func() time.Time
	// Logger defaults to slog.Default.
	Logger *slog.Logger
	// Registerer gets the metrics. Nil: they are kept but nobody sees them.
	Registerer prometheus.Registerer
}

// Client calls tools. It is safe for concurrent use. Close it when it is not needed any more.
type Client struct {
	registry    *Registry
	http        *http.Client
	filesURL    string
	callbackURL string
	cache       AnswerCache
	now         func() time.Time
	logger      *slog.Logger
	metrics     *metrics

	// lifetime ends with Close. It bounds the requests that no caller owns: health and schema.
	lifetime context.Context
	end      context.CancelFunc
	flights  singleflight.Group

	mu      sync.Mutex // Guards what follows.
	health  map[string]Health
	schemas map[string]*published
}

// NewClient checks the configuration; errors have CodeInvalidConfig. It asks no tool for anything yet.
func NewClient(registry *Registry, config ClientConfig) (*Client, error) {
	if registry == nil {
		return nil, conversation.Errorf(conversation.CodeInvalidConfig, "registry is nil: load manifests first")
	}
	for field, base := range map[string]string{"FilesURL": config.FilesURL, "CallbackURL": config.CallbackURL} {
		if reason := badURL(base); base != "" && reason != "" {
			return nil, conversation.Errorf(conversation.CodeInvalidConfig, "%s %q %s", field, base, reason)
		}
	}
	c := &Client{
		registry: registry, http: ownHTTP(config.HTTP),
		filesURL: strings.TrimRight(config.FilesURL, "/"), callbackURL: config.CallbackURL,
		cache: config.Cache, now: config.Now, logger: config.Logger,
		health: map[string]Health{}, schemas: map[string]*published{},
	}
	if c.now == nil {
		c.now = time.Now
	}
	if c.logger == nil {
		c.logger = slog.Default()
	}
	for _, name := range registry.Names() {
		m := registry.tools[name]
		if m.Dev {
			c.logger.Warn("tool is registered for development: its operations may have no fallback", "tool", name)
		}
		for operation, o := range m.Operations {
			if o.Fallback.Strategy == FallbackCache && c.cache == nil {
				return nil, conversation.Errorf(conversation.CodeInvalidConfig,
					"Cache is nil: operation %q of tool %q falls back to it", operation, name)
			}
		}
	}
	var err error
	if c.metrics, err = newMetrics(config.Registerer); err != nil {
		return nil, err
	}
	c.lifetime, c.end = context.WithCancel(context.Background())
	return c, nil
}

func ownHTTP(given *http.Client) *http.Client {
	var own http.Client
	if given != nil {
		own = *given
	}
	if own.Transport == nil {
		own.Transport = &http.Transport{
			Proxy:                 http.ProxyFromEnvironment,
			DialContext:           (&net.Dialer{Timeout: 5 * time.Second, KeepAlive: 30 * time.Second}).DialContext,
			TLSHandshakeTimeout:   5 * time.Second,
			ForceAttemptHTTP2:     true,
			MaxIdleConnsPerHost:   32,
			IdleConnTimeout:       90 * time.Second,
			ExpectContinueTimeout: time.Second,
		}
	}
	own.Timeout = 0
	own.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &own
}

// Close ends requests for health and schema and closes idle connections. Calls in progress are not affected.
func (c *Client) Close() {
	c.end()
	c.http.CloseIdleConnections()
}

// endpoint is where a call goes, and by whose keys its answer is verified.
type endpoint struct {
	manifest  Manifest
	operation string
}

// Invoke makes one attempt of a call and returns the tool's verified answer: AnswerOK with output and proof, or, if the
// call is asynchronous and the tool accepted it, AnswerProcessing. While the tool is unhealthy a reading call goes to
// its alternate, which Answer.Tool then names.
//
// Errors: CodeUnknownTool; CodeInvalidArgument (the request); CodeToolUnavailable (no answer in time, 5xx, 408, 429, or
// no /schema); CodeToolRefused (other 4xx, signed); CodeBadSignature; CodeToolMisbehaved (signed, but not what the
// protocol or the tool's own schema says). The cause is a *Refusal where the tool gave a reason. See NoEffect.
func (c *Client) Invoke(ctx context.Context, req Request) (conversation.Answer, error) {
	manifest, operation, err := c.registry.Lookup(req.Call.Tool, req.Call.Operation)
	if err != nil {
		return conversation.Answer{}, err
	}
	start := c.now()
	to := endpoint{manifest: manifest, operation: req.Call.Operation}
	answer, evidence, err := conversation.Answer{}, evidence{}, req.check(operation)
	if err == nil {
		to = c.choose(ctx, to, operation)
		answer, evidence, err = c.call(ctx, to, req, req.Call.Async && operation.Async)
	}
	c.metrics.call(req.Call.Tool, req.Call.Operation, answer, err, c.now().Sub(start))
	c.report(ctx, req, to, err)
	if err == nil && answer.Status == conversation.AnswerOK && operation.Fallback.Strategy == FallbackCache {
		c.remember(ctx, req, operation, evidence)
	}
	return answer, err
}

// choose returns the alternate if the primary is unhealthy and the alternate is not. A tool without alternate is not
// asked for its health: whether to call it at all was decided by Capability.
func (c *Client) choose(ctx context.Context, primary endpoint, operation Operation) endpoint {
	alternate, ok := c.alternate(primary, operation)
	if !ok {
		return primary
	}
	if reason := c.unhealthy(ctx, primary.manifest); reason != "" && c.unhealthy(ctx, alternate.manifest) == "" {
		c.logger.WarnContext(ctx, "tool is unhealthy, its alternate is asked", "tool", primary.manifest.Name,
			"operation", primary.operation, "alternate", alternate.manifest.Name, "reason", reason)
		return alternate
	}
	return primary
}

func (c *Client) alternate(primary endpoint, operation Operation) (endpoint, bool) {
	if primary.manifest.Alternate == "" || operation.Effect == EffectWrite {
		return endpoint{}, false
	}
	manifest, _, err := c.registry.Lookup(primary.manifest.Alternate, primary.operation)
	return endpoint{manifest: manifest, operation: primary.operation}, err == nil
}

// unhealthy is the reason why a tool should not be asked now. A caller who gives up learns nothing against the tool.
func (c *Client) unhealthy(ctx context.Context, manifest Manifest) string {
	h, err := c.Health(ctx, manifest.Name)
	if err != nil {
		return ""
	}
	return h.Unhealthy(manifest.LatencyLimit)
}

// report writes what went wrong to the log, with names and codes, never with arguments or outputs.
func (c *Client) report(ctx context.Context, req Request, to endpoint, err error) {
	attributes := []any{
		"tool", to.manifest.Name, "operation", req.Call.Operation, "message_id", req.MessageID, "trace_id", req.TraceID,
	}
	switch code := conversation.CodeOf(err); code {
	case "":
		c.logger.DebugContext(ctx, "tool answered", attributes...)
	case conversation.CodeBadSignature:
		c.metrics.badSignatures.WithLabelValues(to.manifest.Name).Inc()
		attributes = append(attributes, "error", err)
		c.logger.ErrorContext(ctx, "answer discarded: its signature does not verify", attributes...)
	default:
		attributes = append(attributes, "code", string(code), "error", err)
		c.logger.WarnContext(ctx, "call of a tool ended with an error", attributes...)
	}
}
