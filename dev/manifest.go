package main

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/goccy/go-yaml"

	"github.com/hermes-orchestrator/hermes/conversation"
)

// manifestName is the file of an example that registers its tools.
const manifestName = "tools.yaml"

// manifest is the manifest of an example's tools. Only what this program changes is known to it: the rest is copied, so
// that a change in the example is a change here.
type manifest struct {
	path  string
	Tools []yaml.MapSlice `yaml:"tools"`
}

// readManifest reads a manifest. What is wrong with its contents is for the worker to say, which knows the lines.
func readManifest(path string) (*manifest, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, conversation.Errorf(conversation.CodeInvalidConfig, "read the example's manifest: %w", err)
	}
	m := &manifest{path: path}
	if err := yaml.Unmarshal(data, m); err != nil {
		return nil, conversation.Errorf(conversation.CodeInvalidConfig,
			"read the example's manifest %q: %s", path, yaml.FormatError(err, false, false))
	}
	return m, nil
}

// names lists the tools.
func (m *manifest) names() []string {
	names := make([]string, 0, len(m.Tools))
	for _, entry := range m.Tools {
		if name, ok := entry.ToMap()["name"].(string); ok {
			names = append(names, name)
		}
	}
	return names
}

// redirect sets the address and the only key of a tool.
func (m *manifest) redirect(name, url, keyID, key string) {
	for i, entry := range m.Tools {
		if entry.ToMap()["name"] != name {
			continue
		}
		changed := yaml.MapSlice{}
		for _, item := range entry {
			if item.Key != "url" && item.Key != "keys" && item.Key != "keys_file" {
				changed = append(changed, item)
			}
		}
		m.Tools[i] = append(changed,
			yaml.MapItem{Key: "url", Value: url},
			yaml.MapItem{Key: "keys", Value: map[string]string{keyID: key}})
	}
}

// write writes the manifest to another place. Files of keys are found relative to the manifest, so that place must not
// matter to them.
func (m *manifest) write(path string) error {
	for _, entry := range m.Tools {
		for i, item := range entry {
			file, ok := item.Value.(string)
			if item.Key != "keys_file" || !ok || filepath.IsAbs(file) || strings.HasPrefix(file, "${") {
				continue
			}
			absolute, err := filepath.Abs(filepath.Join(filepath.Dir(m.path), file))
			if err != nil {
				return conversation.Errorf(conversation.CodeInvalidConfig, "find keys of %q: %w", m.path, err)
			}
			entry[i].Value = absolute
		}
	}
	data, err := yaml.Marshal(m)
	if err == nil {
		err = os.WriteFile(path, data, 0o600)
	}
	if err != nil {
		return conversation.Errorf(conversation.CodeUnavailable, "write manifest %q: %w", path, err)
	}
	return nil
}
