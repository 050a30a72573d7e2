package trip

import (
	"context"
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"github.com/hermes-orchestrator/hermes/conversation"
	"github.com/hermes-orchestrator/hermes/tool"
	"github.com/hermes-orchestrator/hermes/tool/server"
)

// Name is the tool's name in manifests and signatures.
const Name = "trip_tool"

// Config is the configuration of the tool.
type Config struct {
	// Key signs the answers. Required.
	Key ed25519.PrivateKey
	// KeyID names the key in signatures. Defaults to "k1".
	KeyID string
	// Trips is the text of a file of trips. Defaults to the example's.
	Trips []byte
	// Now is the clock. Defaults to time.Now.
	Now func() time.Time
	// Logger is where the tool logs. Defaults to slog.Default().
	Logger *slog.Logger
}

var (
	verifyInput = json.RawMessage(`{"type": "object", "required": ["user_id", "city", "start", "end"], "properties": {
		"user_id": {"type": "string", "minLength": 1},
		"city": {"type": "string", "description": "in Chinese or English; empty for any"},
		"start": {"type": "string", "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}$"},
		"end": {"type": "string", "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}$"}}}`)
	verifyOutput = json.RawMessage(`{"type": "object", "required": ["valid", "trip_id", "reason"], "properties": {
		"valid": {"type": "boolean"},
		"trip_id": {"type": "string"},
		"reason": {"type": "string"}}}`)
)

// New returns the tool. Errors have CodeInvalidConfig.
func New(config Config) (*server.Server, error) {
	trips, err := ParseTrips(config.Trips)
	if err != nil {
		return nil, err
	}
	return server.New(server.Config{
		Name: Name, Version: "1", Key: config.Key, KeyID: config.KeyID, Now: config.Now, Logger: config.Logger,
		Operations: []server.Operation{{
			Name: "verify", Description: "Verifies that a trip was approved for a user, a city and days.",
			Effect: tool.EffectRead, Input: verifyInput, Output: verifyOutput, Handle: trips.verify,
		}},
	})
}

func (trips Trips) verify(_ context.Context, call *server.Call) (*server.Result, error) {
	var a struct {
		UserID string `json:"user_id"`
		City   string `json:"city"`
		Start  string `json:"start"`
		End    string `json:"end"`
	}
	if err := call.Decode(&a); err != nil {
		return nil, err
	}
	from, to, err := days(a.Start, a.End)
	if err != nil {
		if coded, ok := errors.AsType[*conversation.Error](err); ok {
			return nil, server.Fail(http.StatusBadRequest, server.CodeInvalidArgument, coded.Message, false)
		}
		return nil, err
	}
	id, ok := trips.find(a.UserID, a.City, from, to)
	reason := ""
	if !ok {
		reason = fmt.Sprintf("没有%s至%s去%s的出差审批记录", a.Start, a.End, either(a.City, "任何城市"))
	}
	return &server.Result{
		Output:            map[string]any{"valid": ok, "trip_id": id, "reason": reason},
		VerificationSteps: []string{"已比对出差审批记录中的人员、城市与日期"},
		Confidence:        1,
	}, nil
}

func either(a, b string) string {
	if a != "" {
		return a
	}
	return b
}
