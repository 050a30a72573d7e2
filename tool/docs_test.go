package tool_test

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/hermes-orchestrator/hermes/tool"
)

// The manifest that docs/tools.md shows is one.
func TestDocumentedManifest(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../docs/tools.md")
	require.NoError(t, err)
	_, rest, found := strings.Cut(string(page), "```yaml\n")
	require.True(t, found)
	text, _, _ := strings.Cut(rest, "```")
	registry, err := tool.LoadManifests(write(t, t.TempDir(), "tools.yaml", text), env(map[string]string{
		"ACCOUNT_TOOL_KEY": tool.EncodeKey(publicOf(keyFor("account_tool"))),
		"SPARE_TOOL_KEY":   tool.EncodeKey(publicOf(keyFor("spare_tool"))),
	}))
	require.NoError(t, err)
	require.Equal(t, []string{"account_tool", "spare_tool"}, registry.Names())
}
