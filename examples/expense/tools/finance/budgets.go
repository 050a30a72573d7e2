package finance

import (
	_ "embed" // The budgets of the example.
	"fmt"

	"github.com/goccy/go-yaml"

	"github.com/hermes-orchestrator/hermes/conversation"
	"github.com/hermes-orchestrator/hermes/examples/expense/tools/money"
)

//go:embed budgets.yaml
var defaultBudgets []byte

// ParseBudgets reads the budgets that a new ledger starts with: a mapping of departments to decimal amounts. Empty data
// means the budgets of the example. Errors have CodeInvalidConfig.
func ParseBudgets(data []byte) (map[string]money.Amount, error) {
	if len(data) == 0 {
		data = defaultBudgets
	}
	var file struct {
		Budgets map[string]string `yaml:"budgets"`
	}
	if err := yaml.UnmarshalWithOptions(data, &file, yaml.Strict()); err != nil {
		return nil, conversation.Errorf(conversation.CodeInvalidConfig, "parse budgets: %w", err)
	}
	budgets := map[string]money.Amount{}
	for department, text := range file.Budgets {
		amount, err := money.Parse(text)
		if err != nil {
			return nil, conversation.Errorf(conversation.CodeInvalidConfig, "parse budgets: %w",
				fmt.Errorf("department %q: %w", department, err))
		}
		budgets[department] = amount
	}
	return budgets, nil
}
