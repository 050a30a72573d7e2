package tool_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/hermes-orchestrator/hermes/conversation"
	"github.com/hermes-orchestrator/hermes/tool"
)

func write(t testing.TB, dir, name, text string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

func env(pairs map[string]string) func(string) string {
	return func(name string) string { return pairs[name] }
}

func TestLoadManifests(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(
		t,
		dir,
		"a.keys",
		"# rotated in May\nk1 "+tool.EncodeKey(
			publicOf(keyFor("one")),
		)+"\n\nk2 "+tool.EncodeKey(
			publicOf(keyFor("two")),
		)+"\n",
	)
	path := write(t, dir, "tools.yaml", `# All tools.
tools:
  - name: account_tool
    url: http://${HOST}:${PORT:-8080}/account/
    keys_file: a.keys
    alternate: spare_tool
    latency_limit: 1500ms
    operations:
      balance:
        effect: read
        timeout: 4s
        max_attempts: 2
        backoff: 50ms
        fallback: {strategy: cache, stale_after: 300s}
      scan:
        effect: read
        async: true
        batch: documents
        fallback:
          strategy: mock
          answer: {amount: 1.10, big: 12345678901234567890, hex: 0x10, list: [a, ~, true, "$${x}"], text: "two\nlines"}
      rate:
        effect: read
        fallback: {strategy: proxy, url: "http://rates.example:1"}
      book: {effect: write}
  - name: spare_tool
    url: https://spare.example
    keys: {k1: "${KEY}"}
    dev: ${DEV:-true}
    operations:
      balance:
        effect: read
        fallback: {strategy: none}
`)
	registry, err := tool.LoadManifests(path,
		env(map[string]string{"HOST": "localhost", "KEY": tool.EncodeKey(publicOf(keyFor("three")))}))
	require.NoError(t, err)
	require.Equal(t, []string{"account_tool", "spare_tool"}, registry.Names())

	m, balance, err := registry.Lookup("account_tool", "balance")
	require.NoError(t, err)
	require.Equal(t, "http://localhost:8080/account", m.URL)
	require.Len(t, m.Keys, 2)
	require.True(t, publicOf(keyFor("two")).Equal(m.Keys["k2"]))
	require.Equal(t, "spare_tool", m.Alternate)
	require.Equal(t, 1500*time.Millisecond, m.LatencyLimit)
	require.Equal(t, tool.Operation{
		Effect: "read", Timeout: 4 * time.Second, MaxAttempts: 2, Backoff: 50 * time.Millisecond,
		Fallback: tool.Fallback{Strategy: "cache", StaleAfter: 5 * time.Minute},
	}, balance)

	_, scan, err := registry.Lookup("account_tool", "scan")
	require.NoError(t, err)
	require.True(t, scan.Async)
	require.Equal(t, "documents", scan.Batch)
	require.Equal( //nolint:testifylint // Byte for byte: JSONEq takes 1.10 for 1.1.
		t,
		`{"amount":1.10,"big":12345678901234567890,"hex":16,"list":["a",null,true,"$${x}"],"text":"two\nlines"}`,
		string(scan.Fallback.Answer),
		"numbers keep their digits, answers are not expanded",
	)

	_, book, err := registry.Lookup("account_tool", "book")
	require.NoError(t, err)
	require.Equal(t, tool.FallbackNone, book.Fallback.Strategy)
	require.Equal(t, tool.DefaultTimeout, book.Timeout)
	require.EqualValues(t, tool.DefaultMaxAttempts, book.MaxAttempts)

	_, _, err = registry.Lookup("account_tool", "fly")
	require.Equal(t, conversation.CodeUnknownTool, conversation.CodeOf(err))
	require.ErrorContains(t, err, "it has balance, book, rate, scan")
	_, _, err = registry.Lookup("fly_tool", "fly")
	require.ErrorContains(t, err, "registered are account_tool, spare_tool")
}

// minimal is a good manifest; each test of a bad one replaces something.
const minimal = `tools:
  - name: a
    url: http://a.example
    keys:
      k1: KEY
    operations:
      look:
        effect: read
        fallback:
          strategy: cache
          stale_after: 1m
      book:
        effect: write
        fallback: {strategy: none}
`

func TestLoadManifestsNamesTheLine(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, old, new, want string }{
		{"unknown key", "    url:", "    colour: red\n    url:", ":3: key \"colour\" is unknown"},
		{
			"unknown key of an operation",
			"        effect: write",
			"        effects: write\n        effect: write",
			":13: key \"effects\" is unknown",
		},
		{
			"unknown key of a fallback",
			"          stale_after: 1m",
			"          stale_after: 1m\n          ttl: 1m",
			":12: key \"ttl\" is unknown",
		},
		{"unknown top key", "tools:", "tool: 1\ntools:", ":1: key \"tool\" is unknown"},
		{"no tools", minimal, "{}", ":1: the key \"tools\" is missing"},
		{"empty", minimal, "# nothing\n", ":1: the file is empty"},
		{"tools is no list", minimal, "tools: {}", ":1: tools is not a list"},
		{"not YAML", "    url: http://a.example", "    url: [", ":"},
		{"several documents", "tools:\n  - name: a", "tools: []\n---\ntools:\n  - name: a", "several documents"},
		{"no name", "- name: a\n    url", "- url", ":2: name \"\" is not"},
		{"bad name", "name: a\n", "name: a/b\n", ":2: name \"a/b\" is not"},
		{"no url", "    url: http://a.example\n", "", ":2: url is missing"},
		{"relative url", "http://a.example", "a.example/x", ":3: url \"a.example/x\" does not start with"},
		{
			"url with password",
			"http://a.example",
			"http://u:p@a.example",
			":3: url \"http://u:p@a.example\" holds a user",
		},
		{"url with query", "http://a.example", "http://a.example?x=1", "has a query"},
		{"no keys", "      k1: KEY", "      {}", ":4: keys are missing"},
		{"bad key", "KEY", "AAAA", ":5: key \"k1\" is not the base64"},
		{"keys is a list", "      k1: KEY", "      [k1]", ":4: keys: a mapping"},
		{"no keys file", "    keys:\n      k1: KEY", "    keys_file: none.keys", ":4: keys_file: "},
		{"bad effect", "effect: write", "effect: both", ":13: effect \"both\" is not one of"},
		{
			"bad timeout",
			"        effect: write",
			"        timeout: soon\n        effect: write",
			":13: timeout: \"soon\" is not a duration",
		},
		{
			"endless timeout",
			"        effect: write",
			"        timeout: 24h\n        effect: write",
			":13: timeout 24h0m0s is not between",
		},
		{
			"bad attempts",
			"        effect: write",
			"        max_attempts: many\n        effect: write",
			":13: max_attempts: \"many\" is not a whole number",
		},
		{
			"too many attempts",
			"        effect: write",
			"        max_attempts: 99\n        effect: write",
			":13: max_attempts 99 is not between",
		},
		{
			"bad flag",
			"        effect: write",
			"        async: perhaps\n        effect: write",
			":13: async: \"perhaps\" is neither",
		},
		{
			"no fallback for reading",
			"        fallback:\n          strategy: cache\n          stale_after: 1m\n",
			"",
			":7: fallback is missing",
		},
		{
			"none for reading",
			"cache\n          stale_after: 1m",
			"none",
			":10: strategy \"none\" is for write operations",
		},
		{
			"cache for writing",
			"{strategy: none}",
			"{strategy: cache, stale_after: 1m}",
			":14: strategy \"cache\" is not for write",
		},
		{
			"mock for writing",
			"{strategy: none}",
			"{strategy: mock, answer: {a: 1}}",
			":14: strategy \"mock\" is not for write",
		},
		{"bad strategy", "strategy: cache", "strategy: guess", ":10: strategy \"guess\" is not one of"},
		{"cache without age", "          stale_after: 1m\n", "", ":9: stale_after is missing"},
		{"mock without answer", "cache\n          stale_after: 1m", "mock", ":9: answer is missing"},
		{
			"mock with a list",
			"cache\n          stale_after: 1m",
			"mock\n          answer: [1]",
			":11: answer is missing or not an object",
		},
		{"proxy without url", "cache\n          stale_after: 1m", "proxy", ":9: url is missing"},
		{
			"proxy to itself",
			"cache\n          stale_after: 1m",
			"proxy\n          url: http://a.example/",
			":11: url \"http://a.example\" is the tool's own",
		},
		{"age of a mock", "cache", "mock\n          answer: {a: 1}", ":12: stale_after belongs to"},
		{"unknown alternate", "    keys:", "    alternate: b\n    keys:", ":4: alternate \"b\" is not registered"},
		{"alternate is itself", "    keys:", "    alternate: a\n    keys:", ":4: alternate \"a\" is the tool itself"},
		{"variable not set", "http://a.example", "http://${NOWHERE}", ":3: url: variable \"NOWHERE\" is not set"},
		{"variable not closed", "http://a.example", "http://${NOWHERE", ":3: url: ${NOWHERE has no closing brace"},
		{"variable without name", "http://a.example", "http://${1x}", ":3: url: ${1x} names no variable"},
		{"alias", "effect: write", "effect: &e write", ":13: effect: a single value is expected here, not an anchor"},
		{
			"mapping for a value",
			"http://a.example",
			"{a: b}",
			":3: url: a single value is expected here, not a mapping",
		},
		{"operations is a list", minimal, "tools:\n  - operations: [look]\n", ":2: operations: a mapping"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			require.Contains(t, minimal, tt.old)
			text := strings.Replace(minimal, tt.old, tt.new, 1)
			text = strings.ReplaceAll(text, "KEY", tool.EncodeKey(publicOf(keyFor("a"))))
			path := write(t, t.TempDir(), "bad.yaml", text)
			_, err := tool.LoadManifests(path, nil)
			require.Equal(t, conversation.CodeInvalidConfig, conversation.CodeOf(err))
			require.ErrorContains(t, err, "bad.yaml:")
			require.ErrorContains(t, err, tt.want)
		})
	}
}

func TestLoadManifestsReportsEverythingAtOnce(t *testing.T) {
	t.Parallel()
	text := strings.NewReplacer("http://a.example", "a", "{strategy: none}", "{strategy: mock, answer: {}}").
		Replace(minimal)
	text = strings.ReplaceAll(text, "KEY", tool.EncodeKey(publicOf(keyFor("a"))))
	dir := t.TempDir()
	write(t, dir, "a.yaml", text)
	write(t, dir, "b.yml", text)
	_, err := tool.LoadManifests(dir, nil)
	require.ErrorContains(t, err, "a.yaml:3: url")
	require.ErrorContains(t, err, "a.yaml:14: strategy")
	require.ErrorContains(t, err, "b.yml:2: tool \"a\" is described twice")
}

func TestLoadManifestsPaths(t *testing.T) {
	t.Parallel()
	_, err := tool.LoadManifests(filepath.Join(t.TempDir(), "none.yaml"), nil)
	require.Equal(t, conversation.CodeInvalidConfig, conversation.CodeOf(err))
	_, err = tool.LoadManifests(t.TempDir(), nil)
	require.ErrorContains(t, err, "holds no *.yaml")
	dir := t.TempDir()
	write(t, dir, "k.keys", "k1 AAAA\nk2\n")
	path := write(t, dir, "a.yaml", strings.Replace(minimal, "    keys:\n      k1: KEY", "    keys_file: k.keys", 1))
	_, err = tool.LoadManifests(path, nil)
	require.ErrorContains(t, err, "a.yaml:4: "+filepath.Join(dir, "k.keys")+":1: key \"k1\" is not")
	require.ErrorContains(t, err, "k.keys:2: a line of the form")
}

func FuzzLoadManifests(f *testing.F) {
	good := strings.ReplaceAll(minimal, "KEY", tool.EncodeKey(publicOf(keyFor("a"))))
	f.Add(good)
	f.Add(strings.Replace(good, "cache\n          stale_after: 1m", "mock\n          answer: {a: [1, ~, x]}", 1))
	f.Add("tools: [&a {name: *a}]")
	f.Add("tools:\n  - ? [a]\n    : b\n")
	f.Add("tools: !!binary x")
	f.Add("<<: {tools: []}")
	f.Add("${A:-${B}}")
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, text string) {
		path := write(t, dir, "fuzz.yaml", text)
		registry, err := tool.LoadManifests(path, func(string) string { return "x" })
		if err != nil {
			require.Equal(t, conversation.CodeInvalidConfig, conversation.CodeOf(err))
			require.Regexp(t, `fuzz\.yaml:[1-9][0-9]*: `, err.Error())
			return
		}
		require.NotEmpty(t, registry.Names())
	})
}
