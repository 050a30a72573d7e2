package main

import (
	"context"
	"crypto/ed25519"
	"encoding/json"
	"log/slog"
	"net/http"
	"sync"

	"github.com/hermes-orchestrator/hermes/tool/server"
)

func openExampleTools(ctx context.Context, example, dir string, logger *slog.Logger) (exampleTools, error) {
	pub, priv, _ := ed25519.GenerateKey(nil)
	out := exampleTools{Handlers: map[string]http.Handler{}, Keys: map[string]ed25519.PublicKey{}, KeyID: "k1"}
	var mu sync.Mutex
	var debits []string
	keys := map[string]bool{}
	obj := json.RawMessage(`{"type":"object"}`)
	add := func(name string, async bool, ops map[string]string) {
		var list []server.Operation
		for op, answer := range ops {
			effect := "read"
			if op == "debit" {
				effect = "write"
			}
			batch := ""
			list = append(list, server.Operation{Name: op, Effect: effect, Async: async, Batch: batch, Input: obj, Output: obj, Handle: func(ctx context.Context, c *server.Call) (*server.Result, error) {
				if op == "debit" {
					mu.Lock()
					if !keys[c.IdempotencyKey] {
						keys[c.IdempotencyKey] = true
						debits = append(debits, c.IdempotencyKey+" "+string(c.Arguments))
					}
					mu.Unlock()
				}
				return &server.Result{Output: json.RawMessage(answer), VerificationSteps: []string{"已核对 " + op}}, nil
			}})
		}
		s, err := server.New(server.Config{Name: name, Key: priv, KeyID: "k1", Operations: list, Logger: logger})
		if err != nil {
			panic(err)
		}
		out.Handlers[name] = s
		out.Keys[name] = pub
	}
	add("org_tool", false, map[string]string{"lookup": `{"dept":"采购部","approval_chain":["主管","总监"]}`})
	add("finance_tool", false, map[string]string{"budget": `{"budget_remaining":"125000.00","currency":"CNY"}`, "debit": `{"record_id":"E-1","budget_remaining":"116760.00","approved_by":"张主管"}`})
	add("ocr_tool", true, map[string]string{"read": `{"invoices":[{"id":"i1","amount":"3200.00","confidence":0.93},{"id":"i2","amount":"4560.00","confidence":0.91},{"id":"i3","amount":"480.00","confidence":0.52}],"itineraries":[{"file":"itinerary.png","city":"深圳","dates":{"start":"2024-05-12","end":"2024-05-15"},"confidence":0.9}],"unreadable":[]}`})
	add("trip_tool", false, map[string]string{"verify": `{"valid":true,"trip_id":"T-1","reason":""}`})
	add("rule_engine_tool", false, map[string]string{"check": `{"valid":true,"warnings":["住宿费￥3200，接近标准上限￥3500"],"errors":[],"approver":"张主管"}`})
	out.Debits = func(context.Context) ([]string, error) { mu.Lock(); defer mu.Unlock(); return debits, nil }
	out.Close = func() error { return nil }
	return out, nil
}
