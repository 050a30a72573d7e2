package tool

import (
	"encoding/json"

	"github.com/hermes-orchestrator/hermes/conversation"
)

// Headers of the protocol.
const (
	HeaderMessageID      = "X-Message-Id"
	HeaderTraceID        = "X-Trace-Id"
	HeaderCycleID        = "X-Cycle-Id"
	HeaderSessionID      = "X-Session-Id"
	HeaderIdempotencyKey = "Idempotency-Key"
	HeaderSnapshot       = conversation.HeaderSnapshot
	HeaderTimeoutMS      = "X-Timeout-Ms"
	HeaderFiles          = "X-Hermes-Files"    // Base URL; bytes of an upload are at base + "/" + hex SHA-256.
	HeaderCallback       = "X-Hermes-Callback" // Where to POST the answer of an accepted call.
	HeaderStatus         = "X-Hermes-Status"   // Of a callback: the status that was signed. Absent means 200.
	HeaderPrefer         = "Prefer"
	HeaderSignature      = "X-Verification-Signature"

	// PreferAsync is the value of HeaderPrefer that lets a tool accept the call and answer later.
	PreferAsync = "respond-async"
)

// Limits of the protocol, in bytes.
const (
	MaxAnswerBytes   = 8 << 20  // Body of an answer, and of a request.
	MaxDocumentBytes = 1 << 20  // Body of /health and /schema.
	MaxFileBytes     = 20 << 20 // One upload.
)

// Effects of an operation.
const (
	EffectRead  = "read"
	EffectWrite = "write"
)

// Extensions of an operation in /schema.
const (
	ExtensionEffect = "x-hermes-effect"
	ExtensionAsync  = "x-hermes-async"
)

// InvokePath is the path of an operation below the base URL of its tool.
func InvokePath(operation string) string { return "/invoke/" + operation }

// AnswerBody is the body of an answer of status 200 (conversation.AnswerOK) and 202 (conversation.AnswerProcessing).
type AnswerBody struct {
	Status            string                    `json:"status"`
	Output            json.RawMessage           `json:"output,omitempty"`
	EstimatedTime     string                    `json:"estimated_time,omitempty"` // With 202, "30s".
	VerificationSteps []string                  `json:"verification_steps,omitempty"`
	Diagnostics       *conversation.Diagnostics `json:"diagnostics"`
}

// ErrorBody is the body of an answer of status 4xx and 5xx.
type ErrorBody struct {
	Error       ErrorDetail               `json:"error"`
	Diagnostics *conversation.Diagnostics `json:"diagnostics,omitempty"`
}

// ErrorDetail is what a tool says about a call that it did not carry out.
type ErrorDetail struct {
	Code      string `json:"code"`
	Message   string `json:"message"` // For people; Hermes may show it.
	Retryable bool   `json:"retryable"`
}
