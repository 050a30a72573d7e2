package config

import (
	"mime"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/hermes-orchestrator/hermes/conversation"
)

// Validate checks every field, and names the first that is wrong together with its flag and environment variable. It
// asks no server: an address that is well-formed but wrong shows when the program connects.
func (c *Config) Validate() error {
	checks := []struct {
		field string
		check func() string // What is wrong, or "".
	}{
		{"TemporalAddress", func() string { return optional(c.TemporalAddress, address) }},
		{"TaskQueue", func() string { return required(c.TaskQueue) }},
		{"EtcdEndpoints", func() string { return each(c.EtcdEndpoints, endpoint) }},
		{"RedisAddress", func() string { return redisAddress(c.RedisAddress) }},
		{"GraphURL", func() string { return graph(c.GraphURL) }},
		{"BlobURL", func() string { return anyURL(c.BlobURL) }},
		{"FlowsDir", func() string { return required(c.FlowsDir) }},
		{"ToolsFile", func() string { return required(c.ToolsFile) }},
		{"FilesURL", func() string { return httpURL(c.FilesURL) }},
		{"CallbackURL", func() string { return httpURL(c.CallbackURL) }},
		{"ListenHTTP", func() string { return address(c.ListenHTTP) }},
		{"ListenGRPC", func() string { return optional(c.ListenGRPC, address) }},
		{"ListenMetrics", func() string { return optional(c.ListenMetrics, address) }},
		{"UserHashKey", func() string { return hashKey(c.UserHashKey) }},
		{"ReplyTimeout", func() string { return positive(int64(c.ReplyTimeout)) }},
		{"UploadTypes", func() string { return each(c.UploadTypes, mediaType) }},
		{"ShutdownTimeout", func() string { return positive(int64(c.ShutdownTimeout)) }},
		{"LogFormat", func() string { return oneOf(c.LogFormat, "json", "text") }},
		{"TracesEndpoint", func() string { return optional(c.TracesEndpoint, httpURL) }},
	}
	settings := c.settings()
	for _, check := range checks {
		wrong := check.check()
		if wrong == "" {
			continue
		}
		i := slices.IndexFunc(settings, func(s setting) bool { return s.field == check.field })
		return conversation.Errorf(conversation.CodeInvalidConfig, "%s %s: set %s or --%s",
			check.field, wrong, settings[i].env(), settings[i].flag)
	}
	return nil
}

func optional(text string, check func(string) string) string {
	if text == "" {
		return ""
	}
	return check(text)
}

func required(text string) string {
	if text == "" {
		return "is missing"
	}
	return ""
}

func each(items []string, check func(string) string) string {
	if len(items) == 0 {
		return "is missing"
	}
	for _, item := range items {
		if wrong := check(item); wrong != "" {
			return wrong
		}
	}
	return ""
}

func address(text string) string {
	if text == "" {
		return "is missing"
	}
	_, port, err := net.SplitHostPort(text)
	if err != nil || port == "" {
		return quoted(text, `is not of the form "host:port"`)
	}
	return ""
}

// endpoint is an address with or without a scheme, as etcd takes both.
func endpoint(text string) string {
	if strings.Contains(text, "://") {
		return httpURL(text)
	}
	return address(text)
}

// redisAddress is host:port, or a URL that holds user, password and database as well.
func redisAddress(text string) string {
	if !strings.Contains(text, "://") {
		return address(text)
	}
	if u, err := url.Parse(text); err != nil || u.Host == "" || u.Scheme != "redis" && u.Scheme != "rediss" {
		// Not quoted: it may hold a password.
		return `is not a URL of the form "redis://user:password@host:port/db"`
	}
	return ""
}

func anyURL(text string) string {
	if text == "" {
		return "is missing"
	}
	if u, err := url.Parse(text); err != nil || u.Scheme == "" {
		return quoted(text, `is not a URL such as "file:///var/lib/hermes/files" or "s3://bucket"`)
	}
	return ""
}

func httpURL(text string) string {
	if text == "" {
		return "is missing"
	}
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return quoted(text, `is not a URL such as "http://host:port/path"`)
	}
	return ""
}

func graph(text string) string {
	scheme, rest, _ := strings.Cut(text, ":")
	switch {
	case text == "":
		return "is missing"
	case scheme == "sqlite" && rest != "":
		return ""
	case slices.Contains(neo4jSchemes(), scheme) && strings.HasPrefix(rest, "//"):
		return ""
	}
	return quoted(text, `is neither "sqlite:PATH" nor "neo4j://host:7687"`)
}

func neo4jSchemes() []string {
	return []string{"neo4j", "neo4j+s", "neo4j+ssc", "bolt", "bolt+s", "bolt+ssc"}
}

func mediaType(text string) string {
	if _, _, err := mime.ParseMediaType(text); err != nil || !strings.Contains(text, "/") {
		return quoted(text, `is not a media type such as "image/png"`)
	}
	return ""
}

func hashKey(key Key) string {
	switch {
	case len(key) == 0:
		return "is missing (" + makeKey + "; worker and starter need the same)"
	case len(key) < KeyMinBytes:
		return "is shorter than 32 bytes"
	}
	return ""
}

func positive(n int64) string {
	if n <= 0 {
		return "must be greater than zero"
	}
	return ""
}

func oneOf(text string, allowed ...string) string {
	if slices.Contains(allowed, text) {
		return ""
	}
	return quoted(text, "is none of "+strings.Join(allowed, ", "))
}

func quoted(text, wrong string) string { return strconv.Quote(text) + " " + wrong }
