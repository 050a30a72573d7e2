package flow

import (
	"fmt"

	"github.com/goccy/go-yaml"
)

// orderedMap keeps the order of a YAML mapping: expressions may build on those above them.
type orderedMap []entry

type entry struct{ Name, Source string }

// UnmarshalYAML reads a mapping of texts.
func (m *orderedMap) UnmarshalYAML(unmarshal func(any) error) error {
	var items yaml.MapSlice
	if err := unmarshal(&items); err != nil {
		return err
	}
	*m = nil
	for _, item := range items {
		*m = append(*m, entry{Name: fmt.Sprint(item.Key), Source: fmt.Sprint(item.Value)})
	}
	return nil
}
