package finance

import (
	"context"
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"time"

	"github.com/hermes-orchestrator/hermes/conversation"
	"github.com/hermes-orchestrator/hermes/examples/expense/tools/money"
	"github.com/hermes-orchestrator/hermes/tool"
	"github.com/hermes-orchestrator/hermes/tool/server"
)

// Name is the tool's name in manifests and signatures.
const Name = "finance_tool"

// Config is the configuration of the tool.
type Config struct {
	// Key signs the answers. Required.
	Key ed25519.PrivateKey
	// KeyID names the key in signatures. Defaults to "k1".
	KeyID string
	// Ledger is where the money is. Required; the caller closes it after the server.
	Ledger *Ledger
	// AfterDebit, if not nil, is called with the idempotency key once a debit is committed and before it is answered:
	// the moment at which a crash leaves the caller without knowledge of what happened. For tests.
	AfterDebit func(key string)
	// Now is the clock. Defaults to time.Now.
	Now func() time.Time
	// Logger is where the tool logs. Defaults to slog.Default().
	Logger *slog.Logger
}

var (
	budgetInput = json.RawMessage(`{"type": "object", "required": ["department"],
		"properties": {"department": {"type": "string", "minLength": 1}}}`)
	budgetOutput = json.RawMessage(`{"type": "object", "required": ["budget_remaining", "currency"], "properties": {
		"budget_remaining": {"type": "string", "pattern": "^[0-9]+\\.[0-9]{2}$"},
		"currency": {"type": "string", "pattern": "^[A-Z]{3}$"}}}`)
	debitInput = json.RawMessage(`{"type": "object",
		"required": ["user_id", "department", "amount", "currency", "approver", "trip_id"], "properties": {
		"user_id": {"type": "string", "minLength": 1},
		"department": {"type": "string", "minLength": 1},
		"amount": {"type": "string", "description": "decimal with at most two digits, for example 8240.00"},
		"currency": {"type": "string"},
		"approver": {"type": "string", "minLength": 1},
		"trip_id": {"type": "string", "minLength": 1}}}`)
	debitOutput = json.RawMessage(`{"type": "object", "required": ["record_id", "budget_remaining", "approved_by"],
		"properties": {
		"record_id": {"type": "string", "minLength": 1},
		"budget_remaining": {"type": "string", "pattern": "^[0-9]+\\.[0-9]{2}$"},
		"approved_by": {"type": "string"}}}`)
)

// New returns the tool. Errors have CodeInvalidConfig.
func New(config Config) (*server.Server, error) {
	if config.Ledger == nil {
		return nil, conversation.Errorf(conversation.CodeInvalidConfig, "finance Ledger is nil: open one with OpenLedger")
	}
	s := &service{ledger: config.Ledger, afterDebit: config.AfterDebit}
	return server.New(server.Config{
		Name: Name, Version: "1", Key: config.Key, KeyID: config.KeyID, Now: config.Now, Logger: config.Logger,
		Operations: []server.Operation{
			{
				Name: "budget", Description: "Returns what is left of a department's budget.", Effect: tool.EffectRead,
				Input: budgetInput, Output: budgetOutput, Handle: s.budget,
			},
			{
				Name: "debit", Description: "Takes an amount from a department's budget, once per idempotency key.",
				Effect: tool.EffectWrite, Input: debitInput, Output: debitOutput, Handle: s.debit,
			},
		},
	})
}

type service struct {
	ledger     *Ledger
	afterDebit func(string)
}

func (s *service) budget(ctx context.Context, call *server.Call) (*server.Result, error) {
	var arguments struct {
		Department string `json:"department"`
	}
	if err := call.Decode(&arguments); err != nil {
		return nil, err
	}
	remaining, err := s.ledger.Budget(ctx, arguments.Department)
	if err != nil {
		return nil, refusal(err)
	}
	return &server.Result{
		Output:            map[string]string{"budget_remaining": remaining.String(), "currency": Currency},
		VerificationSteps: []string{"已核对部门预算余额"},
		Confidence:        1,
	}, nil
}

func (s *service) debit(ctx context.Context, call *server.Call) (*server.Result, error) {
	var a struct {
		UserID     string `json:"user_id"`
		Department string `json:"department"`
		Amount     string `json:"amount"`
		Currency   string `json:"currency"`
		Approver   string `json:"approver"`
		TripID     string `json:"trip_id"`
	}
	if err := call.Decode(&a); err != nil {
		return nil, err
	}
	amount, err := money.Parse(a.Amount)
	if err != nil {
		return nil, server.Fail(http.StatusBadRequest, server.CodeInvalidArgument, err.Error(), false)
	}
	debit, err := s.ledger.Execute(ctx, call.IdempotencyKey, Request{
		UserID: a.UserID, Department: a.Department, Amount: amount, Currency: a.Currency, Approver: a.Approver,
		TripID: a.TripID,
	})
	if err != nil {
		return nil, refusal(err)
	}
	if s.afterDebit != nil && !debit.Repeated {
		s.afterDebit(debit.Key)
	}
	return &server.Result{
		Output: map[string]string{
			"record_id": debit.RecordID, "budget_remaining": debit.Remaining.String(), "approved_by": debit.Request.Approver,
		},
		// A repetition gets the same answer, to the letter: both steps were done for it as well.
		VerificationSteps: []string{"已核对部门预算余额", "已比对幂等键，无重复扣款"},
		Confidence:        1,
	}, nil
}

// refusal makes a failure of the protocol of an error of the ledger.
func refusal(err error) error {
	var coded *conversation.Error
	if !errors.As(err, &coded) {
		return err
	}
	switch {
	case errors.Is(err, ErrOtherRequest):
		return server.Fail(http.StatusConflict, "idempotency_conflict", coded.Message, false)
	case errors.Is(err, ErrInsufficient):
		return server.Fail(http.StatusConflict, "insufficient_budget", coded.Message, false)
	case coded.Code == conversation.CodeNotFound:
		return server.Fail(http.StatusNotFound, server.CodeNotFound, coded.Message, false)
	case coded.Code == conversation.CodeInvalidArgument:
		return server.Fail(http.StatusBadRequest, server.CodeInvalidArgument, coded.Message, false)
	case coded.Code == conversation.CodeUnavailable:
		return server.Fail(http.StatusServiceUnavailable, server.CodeUnavailable, "账本暂时不可用", true)
	}
	return err
}
