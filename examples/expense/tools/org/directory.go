package org

import (
	_ "embed" // The directory of the example.

	"github.com/goccy/go-yaml"

	"github.com/hermes-orchestrator/hermes/conversation"
)

//go:embed directory.yaml
var defaultDirectory []byte

// Directory knows users and departments. It is read-only.
type Directory struct {
	Departments map[string]Department `yaml:"departments"`
	Users       map[string]User       `yaml:"users"`
}

// Department is one department.
type Department struct {
	ApprovalChain []string `yaml:"approval_chain"` // Titles, the first approver first.
}

// User is one user.
type User struct {
	Name       string `yaml:"name"`
	Department string `yaml:"department"`
	Left       bool   `yaml:"left"` // Has left the company: exists, but may do nothing.
}

// ParseDirectory reads a directory; empty data means that of the example. It refuses users of departments that are not
// listed and departments without an approver. Errors have CodeInvalidConfig.
func ParseDirectory(data []byte) (*Directory, error) {
	if len(data) == 0 {
		data = defaultDirectory
	}
	var d Directory
	if err := yaml.UnmarshalWithOptions(data, &d, yaml.Strict()); err != nil {
		return nil, conversation.Errorf(conversation.CodeInvalidConfig, "parse directory: %w", err)
	}
	for name, department := range d.Departments {
		if len(department.ApprovalChain) == 0 {
			return nil, conversation.Errorf(conversation.CodeInvalidConfig,
				"parse directory: department %q has no approval_chain: name at least one title", name)
		}
	}
	for id, user := range d.Users {
		if _, ok := d.Departments[user.Department]; !ok {
			return nil, conversation.Errorf(conversation.CodeInvalidConfig,
				"parse directory: user %q is in department %q, which is not listed under departments", id, user.Department)
		}
	}
	return &d, nil
}
