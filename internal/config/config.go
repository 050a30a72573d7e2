package config

import (
	"log/slog"
	"time"
)

// Config is everything that a worker or a starter can be told. Every field has a flag (--graph-url) and an environment
// variable (HERMES_GRAPH_URL); settings lists them. Values of a Config are not changed after Load.
type Config struct {
	// TemporalAddress is host:port of the Temporal frontend. Empty means what Temporal's own environment
	// (TEMPORAL_ADDRESS, TEMPORAL_PROFILE, …) says, else localhost:7233.
	TemporalAddress string
	// Namespace of the conversations. Empty means what Temporal's own environment says, else "default".
	Namespace string
	// TaskQueue of workflows and activities. Defaults to "hermes".
	TaskQueue string

	// EtcdEndpoints of mid-term memory, host:port each. Defaults to localhost:2379.
	EtcdEndpoints []string
	// EtcdNamespace is put before every key in etcd, so that installations can share a cluster. Defaults to empty.
	EtcdNamespace string
	// RedisAddress of sessions and event streams, host:port or redis://user:password@host:port/db (rediss:// for TLS).
	// Defaults to localhost:6379.
	RedisAddress string
	// RedisPassword; empty means none. Defaults to empty.
	RedisPassword string
	// GraphURL of long-term memory: "sqlite:PATH", or "neo4j://host:7687" (also bolt://, and +s forms for TLS).
	// Defaults to sqlite:hermes-graph.db.
	GraphURL string
	// GraphUser and GraphPassword for Neo4j. Default to empty.
	GraphUser     string
	GraphPassword string
	// BlobURL of uploaded files, a gocloud.dev/blob URL: "file:///path" or "s3://bucket?region=…". Worker and starter
	// must name the same store. Defaults to file:///var/lib/hermes/files.
	BlobURL string

	// FlowsDir holds the flow definitions (*.yaml) that this process loads. Defaults to "flows".
	FlowsDir string
	// ToolsFile is the manifest of the registered tools. Defaults to "tools.yaml".
	ToolsFile string
	// FilesURL is the base under which tools fetch uploads; file bytes are at FilesURL/SHA256. Defaults to
	// http://localhost:8080/v1/files, the starter's own.
	FilesURL string
	// CallbackURL is where tools post answers that come later. Defaults to http://localhost:8080/v1/tasks/complete.
	CallbackURL string

	// ListenHTTP is where the starter serves HTTP/JSON, events, uploads and the console. Defaults to
	// localhost:8080; ":8080" serves other machines too.
	ListenHTTP string
	// ListenGRPC is where the starter serves gRPC. Empty means on the port of ListenHTTP. Defaults to localhost:8081.
	ListenGRPC string
	// ListenMetrics is where a worker serves /metrics and /healthz; empty means nowhere. (The starter has both on
	// ListenHTTP.) Defaults to localhost:9090.
	ListenMetrics string

	// UserHashKey is the key of the keyed hash that stands for user ids in logs, attributes and metrics: 32 bytes or
	// more, in hex or base64. Worker and starter must have the same. It has no default.
	UserHashKey Key
	// ReplyTimeout is how long a sender waits for the reply to a message; the conversation goes on after that.
	// Defaults to 2 minutes.
	ReplyTimeout time.Duration
	// UploadTypes are the media types that uploads may have. Defaults to PNG, JPEG, WebP, GIF and BMP images.
	UploadTypes []string
	// ShutdownTimeout is how long running work may take to finish after SIGTERM. Defaults to 20 seconds.
	ShutdownTimeout time.Duration

	// LogLevel is debug, info, warn or error. Defaults to info.
	LogLevel slog.Level
	// LogFormat is "json" or "text". Defaults to json.
	LogFormat string
	// TracesEndpoint is the URL of an OTLP/gRPC collector for traces ("http://host:4317"); empty means no tracing.
	// Defaults to the value of OTEL_EXPORTER_OTLP_ENDPOINT.
	TracesEndpoint string
}

// Default returns the documented defaults. They are complete except for UserHashKey.
func Default() Config {
	return Config{
		TaskQueue:       "hermes",
		EtcdEndpoints:   []string{"localhost:2379"},
		RedisAddress:    "localhost:6379",
		GraphURL:        "sqlite:hermes-graph.db",
		BlobURL:         "file:///var/lib/hermes/files",
		FlowsDir:        "flows",
		ToolsFile:       "tools.yaml",
		FilesURL:        "http://localhost:8080/v1/files",
		CallbackURL:     "http://localhost:8080/v1/tasks/complete",
		ListenHTTP:      "localhost:8080",
		ListenGRPC:      "localhost:8081",
		ListenMetrics:   "localhost:9090",
		ReplyTimeout:    2 * time.Minute,
		UploadTypes:     []string{"image/png", "image/jpeg", "image/webp", "image/gif", "image/bmp"},
		ShutdownTimeout: 20 * time.Second,
		LogLevel:        slog.LevelInfo,
		LogFormat:       "json",
	}
}
