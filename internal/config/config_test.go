package config_test

import (
	"bytes"
	"encoding/base64"
	"flag"
	"fmt"
	"log/slog"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/hermes-orchestrator/hermes/conversation"
	"github.com/hermes-orchestrator/hermes/internal/config"
)

const testKey = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f"

func environment(pairs map[string]string) func(string) string {
	return func(name string) string { return pairs[name] }
}

func load(t *testing.T, env map[string]string, args ...string) (config.Config, error) {
	t.Helper()
	return config.Load("hermes-starter", args, environment(env), &bytes.Buffer{})
}

func TestLoad(t *testing.T) {
	t.Parallel()

	t.Run("Defaults", func(t *testing.T) {
		t.Parallel()
		c, err := load(t, nil)
		require.NoError(t, err)
		require.Equal(t, config.Default(), c)
	})

	t.Run("FlagBeforeEnvironmentBeforeDefault", func(t *testing.T) {
		t.Parallel()
		c, err := load(t, map[string]string{
			"HERMES_LISTEN_HTTP": ":1", "HERMES_LISTEN_GRPC": ":2", "HERMES_LOG_LEVEL": "debug",
			"HERMES_ETCD_ENDPOINTS": "a:1, b:2", "HERMES_USER_HASH_KEY": testKey,
			"OTEL_EXPORTER_OTLP_ENDPOINT": "http://otel:4317",
		}, "--listen-http", ":3", "--reply-timeout=5s")
		require.NoError(t, err)
		require.Equal(t, ":3", c.ListenHTTP)
		require.Equal(t, ":2", c.ListenGRPC)
		require.Equal(t, slog.LevelDebug, c.LogLevel)
		require.Equal(t, []string{"a:1", "b:2"}, c.EtcdEndpoints)
		require.Equal(t, 5*time.Second, c.ReplyTimeout)
		require.Equal(t, "http://otel:4317", c.TracesEndpoint)
		require.NoError(t, c.Validate())
	})

	t.Run("ErrorsNameFieldAndSource", func(t *testing.T) {
		t.Parallel()
		for _, test := range []struct {
			env  map[string]string
			args []string
			want []string
		}{
			{map[string]string{"HERMES_REPLY_TIMEOUT": "soon"}, nil, []string{"ReplyTimeout", "HERMES_REPLY_TIMEOUT", `"soon"`}},
			{nil, []string{"--log-level", "loud"}, []string{"LogLevel", "--log-level", `"loud"`}},
			{nil, []string{"--user-hash-key", "c2hvcnQ="}, []string{"UserHashKey", "--user-hash-key", "openssl"}},
			{nil, []string{"--no-such-flag"}, []string{"no-such-flag", "--help"}},
			{nil, []string{"stray"}, []string{`"stray"`, "--help"}},
		} {
			_, err := load(t, test.env, test.args...)
			require.Equal(t, conversation.CodeInvalidConfig, conversation.CodeOf(err))
			for _, part := range test.want {
				require.ErrorContains(t, err, part)
			}
		}
	})

	t.Run("KeysAreNeverRepeated", func(t *testing.T) {
		t.Parallel()
		_, err := load(t, map[string]string{"HERMES_USER_HASH_KEY": "!my secret!"})
		require.Error(t, err)
		require.NotContains(t, err.Error(), "my secret")
		key, err := config.ParseKey(testKey)
		require.NoError(t, err)
		require.Equal(t, "(set) (set) (set)", fmt.Sprintf("%v %s %#v", key, key, key))
	})
}

func TestHelp(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	env := environment(map[string]string{"HERMES_USER_HASH_KEY": testKey, "HERMES_LISTEN_HTTP": ":9"})
	_, err := config.Load("hermes-starter", []string{"--help"}, env, &out)
	require.ErrorIs(t, err, flag.ErrHelp)
	help := out.String()
	require.Contains(t, help, "(default localhost:8080)")
	require.NotContains(t, help, testKey)
	// Every field of the struct can be set, and is in the help.
	fields := reflect.TypeFor[config.Config]()
	for field := range fields.Fields() {
		require.Contains(t, help, "HERMES_"+screaming(field.Name))
	}
	require.Equal(t, fields.NumField(), strings.Count(help, "\n  --"))
}

// screaming turns "GraphURL" into "GRAPH_URL".
func screaming(name string) string {
	var b strings.Builder
	runes := []rune(name)
	upper := func(i int) bool { return i < len(runes) && runes[i] >= 'A' && runes[i] <= 'Z' }
	for i, r := range runes {
		if i > 0 && upper(i) && (!upper(i-1) || i+1 < len(runes) && !upper(i+1)) {
			b.WriteByte('_')
		}
		b.WriteString(strings.ToUpper(string(r)))
	}
	return b.String()
}

func TestValidate(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		change func(*config.Config)
		want   string
	}{
		"HERMES_USER_HASH_KEY":    {func(c *config.Config) { c.UserHashKey = nil }, "UserHashKey is missing"},
		"HERMES_TEMPORAL_ADDRESS": {func(c *config.Config) { c.TemporalAddress = "temporal" }, `"temporal" is not`},
		"HERMES_TASK_QUEUE":       {func(c *config.Config) { c.TaskQueue = "" }, "TaskQueue is missing"},
		"HERMES_ETCD_ENDPOINTS":   {func(c *config.Config) { c.EtcdEndpoints = []string{"etcd"} }, `"etcd"`},
		"HERMES_REDIS_ADDRESS":    {func(c *config.Config) { c.RedisAddress = "" }, "RedisAddress is missing"},
		"HERMES_GRAPH_URL":        {func(c *config.Config) { c.GraphURL = "mysql://x" }, `"mysql://x" is neither`},
		"HERMES_BLOB_URL":         {func(c *config.Config) { c.BlobURL = "/var/lib" }, "is not a URL"},
		"HERMES_FILES_URL":        {func(c *config.Config) { c.FilesURL = "localhost:8080" }, "is not a URL"},
		"HERMES_LISTEN_HTTP":      {func(c *config.Config) { c.ListenHTTP = "8080" }, `"8080" is not of the form`},
		"HERMES_REPLY_TIMEOUT":    {func(c *config.Config) { c.ReplyTimeout = -1 }, "greater than zero"},
		"HERMES_UPLOAD_TYPES":     {func(c *config.Config) { c.UploadTypes = []string{"png"} }, `"png" is not a media type`},
		"HERMES_LOG_FORMAT":       {func(c *config.Config) { c.LogFormat = "xml" }, `"xml" is none of json, text`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := config.Default()
			key, err := config.ParseKey(testKey)
			require.NoError(t, err)
			c.UserHashKey = key
			require.NoError(t, c.Validate())
			test.change(&c)
			err = c.Validate()
			require.ErrorIs(t, err, &conversation.Error{Code: conversation.CodeInvalidConfig})
			require.ErrorContains(t, err, test.want)
			require.ErrorContains(t, err, name)
		})
	}
}

func TestKeyForms(t *testing.T) {
	t.Parallel()
	fromHex, err := config.ParseKey(testKey)
	require.NoError(t, err)
	for _, encoding := range []*base64.Encoding{
		base64.StdEncoding, base64.RawStdEncoding, base64.URLEncoding, base64.RawURLEncoding,
	} {
		key, err := config.ParseKey(encoding.EncodeToString(fromHex))
		require.NoError(t, err)
		require.Equal(t, fromHex.HashUser("张三"), key.HashUser("张三"))
	}
	require.Len(t, fromHex.HashUser("u1"), 32)
	require.NotEqual(t, fromHex.HashUser("u1"), fromHex.HashUser("u2"))
}
