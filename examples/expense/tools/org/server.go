package org

import (
	"context"
	"crypto/ed25519"
	"encoding/json"
	"log/slog"
	"net/http"
	"time"

	"github.com/hermes-orchestrator/hermes/tool"
	"github.com/hermes-orchestrator/hermes/tool/server"
)

// Name is the tool's name in manifests and signatures.
const Name = "org_tool"

// Config is the configuration of the tool.
type Config struct {
	// Key signs the answers. Required.
	Key ed25519.PrivateKey
	// KeyID names the key in signatures. Defaults to "k1".
	KeyID string
	// Directory is the text of a directory file. Defaults to the example's.
	Directory []byte
	// Now is the clock. Defaults to time.Now.
	Now func() time.Time
	// Logger is where the tool logs. Defaults to slog.Default().
	Logger *slog.Logger
}

var (
	lookupInput = json.RawMessage(`{"type": "object", "required": ["user_id"],
		"properties": {"user_id": {"type": "string", "minLength": 1}}}`)
	lookupOutput = json.RawMessage(`{"type": "object", "required": ["dept", "approval_chain"], "properties": {
		"name": {"type": "string"},
		"dept": {"type": "string", "minLength": 1},
		"approval_chain": {"type": "array", "minItems": 1, "items": {"type": "string"}}}}`)
)

// New returns the tool. Errors have CodeInvalidConfig.
func New(config Config) (*server.Server, error) {
	directory, err := ParseDirectory(config.Directory)
	if err != nil {
		return nil, err
	}
	return server.New(server.Config{
		Name: Name, Version: "1", Key: config.Key, KeyID: config.KeyID, Now: config.Now, Logger: config.Logger,
		Operations: []server.Operation{{
			Name: "lookup", Description: "Returns a user's department and approval chain.", Effect: tool.EffectRead,
			Input: lookupInput, Output: lookupOutput, Handle: directory.lookup,
		}},
	})
}

func (d *Directory) lookup(_ context.Context, call *server.Call) (*server.Result, error) {
	var arguments struct {
		UserID string `json:"user_id"`
	}
	if err := call.Decode(&arguments); err != nil {
		return nil, err
	}
	user, ok := d.Users[arguments.UserID]
	if !ok {
		return nil, server.Fail(http.StatusNotFound, server.CodeNotFound, "组织目录中没有该用户", false)
	}
	if user.Left {
		return nil, server.Fail(http.StatusForbidden, "user_left", "该用户已离职", false)
	}
	return &server.Result{
		Output: map[string]any{
			"name": user.Name, "dept": user.Department, "approval_chain": d.Departments[user.Department].ApprovalChain,
		},
		VerificationSteps: []string{"已比对组织目录中用户状态", "已核对部门与审批链"},
		Confidence:        1,
	}, nil
}
