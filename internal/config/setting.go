package config

import (
	"log/slog"
	"strings"
	"time"

	"github.com/hermes-orchestrator/hermes/conversation"
)

// envPrefix comes before the name of every environment variable.
const envPrefix = "HERMES_"

// setting ties one field of a Config to its flag, its environment variable and its help.
type setting struct {
	field string
	flag  string
	help  string
	value value
}

// env is the name of the environment variable, made from the flag: "graph-url" → "HERMES_GRAPH_URL".
func (s setting) env() string {
	return envPrefix + strings.ToUpper(strings.ReplaceAll(s.flag, "-", "_"))
}

// value reads one kind of field from text and writes it as text, for defaults in the help.
type value struct {
	set  func(text string) error
	text func() string
}

// settings lists every field of c, in the order of the help.
func (c *Config) settings() []setting {
	return []setting{
		{
			"TemporalAddress", "temporal-address",
			"host:port of the Temporal frontend; empty: TEMPORAL_ADDRESS, else localhost:7233", text(&c.TemporalAddress),
		},
		{"Namespace", "namespace", "Temporal namespace; empty: TEMPORAL_NAMESPACE, else default", text(&c.Namespace)},
		{"TaskQueue", "task-queue", "task queue of the conversations", text(&c.TaskQueue)},
		{"EtcdEndpoints", "etcd-endpoints", "etcd of mid-term memory, host:port, comma-separated", list(&c.EtcdEndpoints)},
		{"EtcdNamespace", "etcd-namespace", "prefix of every key in etcd", text(&c.EtcdNamespace)},
		{"RedisAddress", "redis-address", "Redis of sessions and event streams, host:port", text(&c.RedisAddress)},
		{"RedisPassword", "redis-password", "password for Redis", secret(&c.RedisPassword)},
		{"GraphURL", "graph-url", "long-term memory: sqlite:PATH or neo4j://host:7687", text(&c.GraphURL)},
		{"GraphUser", "graph-user", "user for Neo4j", text(&c.GraphUser)},
		{"GraphPassword", "graph-password", "password for Neo4j", secret(&c.GraphPassword)},
		{
			"BlobURL", "blob-url",
			"store of uploaded files: file:///path or s3://bucket; the same for worker and starter", text(&c.BlobURL),
		},
		{"FlowsDir", "flows-dir", "directory of the flow definitions", text(&c.FlowsDir)},
		{"ToolsFile", "tools-file", "manifest of the registered tools", text(&c.ToolsFile)},
		{"FilesURL", "files-url", "base URL under which tools fetch uploads", text(&c.FilesURL)},
		{"CallbackURL", "callback-url", "URL to which tools post answers that come later", text(&c.CallbackURL)},
		{"ListenHTTP", "listen-http", "starter: address of HTTP/JSON, events, uploads and console", text(&c.ListenHTTP)},
		{"ListenGRPC", "listen-grpc", "starter: address of gRPC; empty: on the port of HTTP", text(&c.ListenGRPC)},
		{
			"ListenMetrics", "listen-metrics",
			"worker: address of /metrics and /healthz; empty: nowhere", text(&c.ListenMetrics),
		},
		{
			"UserHashKey", "user-hash-key",
			"key of the hash that stands for user ids, 32 bytes or more in hex or base64 (required; better given as " +
				"environment variable, which others on the machine do not see)", key(&c.UserHashKey),
		},
		{"ReplyTimeout", "reply-timeout", "how long a sender waits for a reply", duration(&c.ReplyTimeout)},
		{"UploadTypes", "upload-types", "media types that uploads may have, comma-separated", list(&c.UploadTypes)},
		{
			"ShutdownTimeout", "shutdown-timeout",
			"how long running work may take to finish after SIGTERM", duration(&c.ShutdownTimeout),
		},
		{"LogLevel", "log-level", "debug, info, warn or error", level(&c.LogLevel)},
		{"LogFormat", "log-format", "json or text", text(&c.LogFormat)},
		{
			"TracesEndpoint", "traces-endpoint",
			"URL of an OTLP/gRPC collector; empty: OTEL_EXPORTER_OTLP_ENDPOINT, else no tracing", text(&c.TracesEndpoint),
		},
	}
}

func text(p *string) value {
	return value{
		set:  func(text string) error { *p = text; return nil },
		text: func() string { return *p },
	}
}

// secret is a text that the help never shows.
func secret(p *string) value {
	return value{
		set:  func(text string) error { *p = text; return nil },
		text: func() string { return "" },
	}
}

func key(p *Key) value {
	return value{
		set: func(text string) error {
			parsed, err := ParseKey(text)
			*p = parsed
			return err
		},
		text: func() string { return "" },
	}
}

func list(p *[]string) value {
	return value{
		set: func(text string) error {
			var items []string
			for item := range strings.SplitSeq(text, ",") {
				if item = strings.TrimSpace(item); item != "" {
					items = append(items, item)
				}
			}
			*p = items
			return nil
		},
		text: func() string { return strings.Join(*p, ",") },
	}
}

func duration(p *time.Duration) value {
	return value{
		set: func(text string) error {
			parsed, err := time.ParseDuration(text)
			if err != nil {
				return conversation.Errorf(conversation.CodeInvalidConfig, "duration %q is not of the form \"90s\" or \"5m\"", text)
			}
			*p = parsed
			return nil
		},
		text: func() string { return p.String() },
	}
}

func level(p *slog.Level) value {
	return value{
		set: func(text string) error {
			if err := p.UnmarshalText([]byte(text)); err != nil {
				return conversation.Errorf(conversation.CodeInvalidConfig, "log level %q is none of debug, info, warn, error", text)
			}
			return nil
		},
		text: func() string { return strings.ToLower(p.String()) },
	}
}
