package starter

import (
	"context"
	"io"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.temporal.io/sdk/client"

	"github.com/hermes-orchestrator/hermes/conversation"
	"github.com/hermes-orchestrator/hermes/memory"
)

// Limits of what one request may carry, in bytes.
const (
	MaxUploadBytes = 20 << 20
	// MaxJSONBytes bounds a JSON body. It leaves room for the longest text (conversation.MaxTextBytes) in which every
	// character is written as an escape.
	MaxJSONBytes = 1 << 20
	// MaxCompletionBytes bounds the late answer of a tool. It travels in base64 as a signal, and Temporal refuses
	// payloads of more than 2 MB: a larger result belongs into a file to which the answer refers.
	MaxCompletionBytes = 1 << 20
)

// Files is the store of uploads. *blob.Store is one. Implementations are safe for concurrent use.
type Files interface {
	// Put stores everything that r yields under its hash, or nothing: CodeEmptyUpload for no bytes, CodeTooLarge for
	// more than maxBytes, CodeInvalidArgument around an error of r.
	Put(ctx context.Context, name, mediaType string, r io.Reader, maxBytes int64) (conversation.Attachment, error)
	// Open returns the bytes of a file by its hex SHA-256, or CodeNotFound. The caller closes it.
	Open(ctx context.Context, sha256 string) (io.ReadCloser, error)
}

// Events is where conversations publish their replies. *memory.Events is one.
type Events interface {
	// Read returns the events after a sequence number, at most limit, oldest first. When there are none it waits up to
	// block for the first and then returns none. Cancelling ctx ends the wait.
	Read(ctx context.Context, sessionID string, after int64, block time.Duration, limit int) ([]memory.Event, error)
}

// Flows says which flows may be started. *flow.Library is one.
type Flows interface {
	// Refs lists every flow version that is known.
	Refs() []conversation.FlowRef
}

// Config is what a Server needs.
type Config struct {
	// Temporal is the client of the cluster. Required; the server does not close it.
	Temporal client.Client
	// Files and Events are required.
	Files  Files
	Events Events
	// Flows, if given, lets the starter refuse unknown flows at once; otherwise the worker refuses them with the
	// conversation's first activity.
	Flows Flows
	// HashUser is the keyed hash that stands for a user id in memo, attributes and logs. It must be the worker's.
	// Required.
	HashUser func(userID string) string

	// ListenHTTP is the address for HTTP. Defaults to "localhost:8080"; port 0 takes a free one.
	ListenHTTP string
	// ListenGRPC is the address for gRPC. Empty means the port of HTTP (HTTP/2 without TLS).
	ListenGRPC string
	// TaskQueue of the conversations. Defaults to conversation.DefaultTaskQueue.
	TaskQueue string
	// ReplyTimeout is how long SendMessage waits for its reply. Defaults to 2 minutes.
	ReplyTimeout time.Duration
	// Heartbeat is the pause after which an idle event stream sends a comment, so that proxies keep it open and a
	// client that has gone is noticed. Defaults to 15 seconds.
	Heartbeat time.Duration
	// ShutdownTimeout is how long running requests may take to finish. Defaults to 20 seconds.
	ShutdownTimeout time.Duration
	// UploadTypes are the media types that uploads may have. Defaults to PNG, JPEG, WebP, GIF and BMP.
	UploadTypes []string
	// Logger defaults to slog.Default().
	Logger *slog.Logger
	// Metrics is where the server's metrics are registered, and what /metrics shows. Defaults to a registry of its own.
	Metrics *prometheus.Registry
	// Now is the clock. Defaults to time.Now.
	Now func() time.Time
}

func (c Config) withDefaults() Config {
	if c.ListenHTTP == "" {
		c.ListenHTTP = "localhost:8080"
	}
	if c.TaskQueue == "" {
		c.TaskQueue = conversation.DefaultTaskQueue
	}
	if c.ReplyTimeout <= 0 {
		c.ReplyTimeout = 2 * time.Minute
	}
	if c.Heartbeat <= 0 {
		c.Heartbeat = 15 * time.Second
	}
	if c.ShutdownTimeout <= 0 {
		c.ShutdownTimeout = 20 * time.Second
	}
	if len(c.UploadTypes) == 0 {
		c.UploadTypes = []string{"image/png", "image/jpeg", "image/webp", "image/gif", "image/bmp"}
	}
	if c.Logger == nil {
		c.Logger = slog.Default()
	}
	if c.Metrics == nil {
		c.Metrics = prometheus.NewRegistry()
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	return c
}

func (c Config) validate() error {
	var missing string
	switch {
	case c.Temporal == nil:
		missing = "Temporal"
	case c.Files == nil:
		missing = "Files"
	case c.Events == nil:
		missing = "Events"
	case c.HashUser == nil:
		missing = "HashUser"
	default:
		return nil
	}
	return conversation.Errorf(conversation.CodeInvalidConfig, "starter: Config.%s is missing", missing)
}
