package rules

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
	"github.com/hermes-orchestrator/hermes/examples/expense/tools/money"
	"github.com/hermes-orchestrator/hermes/tool"
	"github.com/hermes-orchestrator/hermes/tool/server"
)

// Name is the tool's name in manifests and signatures.
const Name = "rule_engine_tool"

// Config is the configuration of the tool.
type Config struct {
	// Key signs the answers. Required.
	Key ed25519.PrivateKey
	// KeyID names the key in signatures. Defaults to "k1".
	KeyID string
	// Rules is the text of a rule file. Defaults to the example's.
	Rules []byte
	// Now is the clock. Defaults to time.Now.
	Now func() time.Time
	// Logger is where the tool logs. Defaults to slog.Default().
	Logger *slog.Logger
}

var (
	checkInput = json.RawMessage(`{"type": "object",
		"required": ["department", "approval_chain", "city", "start", "end", "invoices", "total"], "properties": {
		"department": {"type": "string", "minLength": 1},
		"approval_chain": {"type": "array", "items": {"type": "string"}},
		"city": {"type": "string"},
		"start": {"type": "string", "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}$"},
		"end": {"type": "string", "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}$"},
		"invoices": {"type": "array", "maxItems": 100, "items": {"type": "object", "required": ["id", "amount"],
			"properties": {"id": {"type": "string"}, "file": {"type": "string"}, "merchant": {"type": "string"},
			"item": {"type": "string"}, "date": {"type": "string"}, "amount": {"type": "string"},
			"currency": {"type": "string"}}}},
		"total": {"type": "string", "description": "decimal with at most two digits"}}}`)
	checkOutput = json.RawMessage(`{"type": "object", "required": ["valid", "warnings", "errors", "approver"],
		"properties": {
		"valid": {"type": "boolean"},
		"warnings": {"type": "array", "items": {"type": "string"}},
		"errors": {"type": "array", "items": {"type": "string"}},
		"approver": {"type": "string"}}}`)
)

// New returns the tool. Errors have CodeInvalidConfig and name the rule that is wrong.
func New(config Config) (*server.Server, error) {
	engine, err := NewEngine(config.Rules)
	if err != nil {
		return nil, err
	}
	return server.New(server.Config{
		Name: Name, Version: "1", Key: config.Key, KeyID: config.KeyID, Now: config.Now, Logger: config.Logger,
		Operations: []server.Operation{{
			Name: "check", Description: "Checks an expense claim against the rules and names its approver.",
			Effect: tool.EffectRead, Input: checkInput, Output: checkOutput, Handle: engine.handle,
		}},
	})
}

// request is the arguments of check.
type request struct {
	Department    string   `json:"department"`
	ApprovalChain []string `json:"approval_chain"`
	City          string   `json:"city"`
	Start         string   `json:"start"`
	End           string   `json:"end"`
	Invoices      []struct {
		ID       string `json:"id"`
		File     string `json:"file"`
		Merchant string `json:"merchant"`
		Item     string `json:"item"`
		Date     string `json:"date"`
		Amount   string `json:"amount"`
		Currency string `json:"currency"`
	} `json:"invoices"`
	Total string `json:"total"`
}

// claim converts the arguments; amounts and days must be exact.
func (r request) claim() (Claim, error) {
	c := Claim{Department: r.Department, ApprovalChain: r.ApprovalChain, City: r.City}
	var err error
	if c.Start, err = time.Parse(time.DateOnly, r.Start); err != nil {
		return Claim{}, fmt.Errorf("start %q is not a day", r.Start)
	}
	if c.End, err = time.Parse(time.DateOnly, r.End); err != nil {
		return Claim{}, fmt.Errorf("end %q is not a day", r.End)
	}
	if c.Total, err = money.Parse(r.Total); err != nil {
		return Claim{}, err
	}
	for _, i := range r.Invoices {
		invoice := Invoice{ID: i.ID, File: i.File, Merchant: i.Merchant, Item: i.Item, Currency: i.Currency}
		if invoice.Amount, err = money.Parse(i.Amount); err != nil {
			return Claim{}, fmt.Errorf("invoice %q: %w", i.ID, err)
		}
		if i.Date != "" {
			if invoice.Date, err = time.Parse(time.DateOnly, i.Date); err != nil {
				return Claim{}, fmt.Errorf("invoice %q: date %q is not a day", i.ID, i.Date)
			}
		}
		c.Invoices = append(c.Invoices, invoice)
	}
	return c, nil
}

func (e *Engine) handle(_ context.Context, call *server.Call) (*server.Result, error) {
	var arguments request
	if err := call.Decode(&arguments); err != nil {
		return nil, err
	}
	claim, err := arguments.claim()
	if err != nil {
		return nil, server.Fail(http.StatusBadRequest, server.CodeInvalidArgument, err.Error(), false)
	}
	verdict, err := e.Check(claim)
	if err != nil {
		var coded *conversation.Error
		if errors.As(err, &coded) && coded.Code == conversation.CodeInvalidArgument {
			return nil, server.Fail(http.StatusBadRequest, server.CodeInvalidArgument, coded.Message, false)
		}
		return nil, err
	}
	return &server.Result{
		Output: map[string]any{
			"valid": len(verdict.Errors) == 0, "warnings": list(verdict.Warnings), "errors": list(verdict.Errors),
			"approver": verdict.Approver,
		},
		VerificationSteps: []string{
			fmt.Sprintf("已按%d条报销规则核对%d张发票", verdict.Applied, len(claim.Invoices)), "已按金额与审批链确定审批人",
		},
		Confidence: 1,
	}, nil
}

// list makes an empty list of none: JSON tells null from [].
func list(texts []string) []string {
	if texts == nil {
		return []string{}
	}
	return texts
}
