package rules

import (
	_ "embed" // The rules of the example.
	"strings"

	"github.com/goccy/go-yaml"

	"github.com/hermes-orchestrator/hermes/conversation"
	"github.com/hermes-orchestrator/hermes/examples/expense/tools/money"
)

//go:embed rules.yaml
var defaultRules []byte

// file is the form of a rule file; rules.yaml explains it.
type file struct {
	Categories []category                   `yaml:"categories"`
	Limits     map[string]map[string]string `yaml:"limits"`
	Rules      []rule                       `yaml:"rules"`
	Approvers  []approver                   `yaml:"approvers"`
}

type category struct {
	Name     string   `yaml:"name"`
	Label    string   `yaml:"label"`
	Keywords []string `yaml:"keywords"`
}

type rule struct {
	ID    string `yaml:"id"`
	Level string `yaml:"level"`
	Each  string `yaml:"each"`
	When  string `yaml:"when"`
	Text  string `yaml:"text"`
}

type approver struct {
	Department string `yaml:"department"`
	Title      string `yaml:"title"`
	Name       string `yaml:"name"`
	When       string `yaml:"when"`
}

const (
	levelError   = "error"
	levelWarning = "warning"
	eachInvoice  = "invoice"
)

func parse(data []byte) (*file, error) {
	if len(data) == 0 {
		data = defaultRules
	}
	var f file
	if err := yaml.UnmarshalWithOptions(data, &f, yaml.Strict()); err != nil {
		return nil, conversation.Errorf(conversation.CodeInvalidConfig, "parse rules: %w", err)
	}
	if len(f.Categories) == 0 {
		return nil, conversation.Errorf(conversation.CodeInvalidConfig, "parse rules: categories is empty: name at least one")
	}
	for _, r := range f.Rules {
		if r.Level != levelError && r.Level != levelWarning {
			return nil, conversation.Errorf(conversation.CodeInvalidConfig,
				"parse rules: rule %q has level %q: use %q or %q", r.ID, r.Level, levelError, levelWarning)
		}
		if r.Each != "" && r.Each != eachInvoice {
			return nil, conversation.Errorf(conversation.CodeInvalidConfig,
				"parse rules: rule %q has each %q: use %q or leave it out", r.ID, r.Each, eachInvoice)
		}
	}
	return &f, nil
}

// limits converts the limits to minor units, in the form that expressions see.
func (f *file) limits() (map[string]map[string]int64, error) {
	limits := map[string]map[string]int64{}
	for name, cities := range f.Limits {
		limits[name] = map[string]int64{}
		for city, text := range cities {
			amount, err := money.Parse(text)
			if err != nil {
				return nil, conversation.Errorf(conversation.CodeInvalidConfig, "parse rules: limit of %q in %q: %w", name, city,
					err)
			}
			limits[name][city] = int64(amount)
		}
	}
	return limits, nil
}

// categorise returns the first category with a keyword in the first of the texts that has any. The last category is for
// everything else.
func (f *file) categorise(texts ...string) category {
	for _, text := range texts {
		text = strings.ToLower(text)
		for _, c := range f.Categories {
			for _, keyword := range c.Keywords {
				if strings.Contains(text, strings.ToLower(keyword)) {
					return c
				}
			}
		}
	}
	return f.Categories[len(f.Categories)-1]
}
