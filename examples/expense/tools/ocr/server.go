package ocr

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/hermes-orchestrator/hermes/conversation"
	"github.com/hermes-orchestrator/hermes/tool"
	"github.com/hermes-orchestrator/hermes/tool/server"
)

// Name is the tool's name in manifests and signatures.
const Name = "ocr_tool"

// New returns the tool. A self-test runs in the background, until Config.Lifetime ends at the latest. Errors have
// CodeInvalidConfig.
func New(config Config) (*server.Server, error) {
	config = config.withDefaults()
	reader, err := NewReader(config)
	if err != nil {
		return nil, err
	}
	s := &service{
		reader: reader, monitor: newMonitor(config.Lifetime, reader, config.Now), now: config.Now,
		floor: config.EstimateFloor,
	}
	return server.New(server.Config{
		Name: Name, Version: "1", Key: config.Key, KeyID: config.KeyID, Now: config.Now, Logger: config.Logger,
		Health: s.monitor.health,
		Operations: []server.Operation{{
			Name: "read", Description: "Reads invoices and itineraries from pictures (PNG, JPEG).",
			Effect: tool.EffectRead, Async: true, Batch: "documents", Input: inputSchema, Output: outputSchema,
			Handle: s.read, Estimate: s.estimate,
		}},
	})
}

type service struct {
	reader  *Reader
	monitor *monitor
	now     func() time.Time
	floor   time.Duration
}

// upload is one element of the argument "documents".
type upload struct {
	Name   string `json:"name"`
	URI    string `json:"uri"`
	SHA256 string `json:"sha256"`
}

type arguments struct {
	Documents []upload `json:"documents"`
}

func (s *service) estimate(call *server.Call) time.Duration {
	var a arguments
	if json.Unmarshal(call.Arguments, &a) != nil {
		return s.floor
	}
	return s.monitor.estimate(len(a.Documents), s.floor)
}

// read fetches the uploads and reads them. The server has checked the arguments against the schema, and each file
// against its SHA-256.
func (s *service) read(ctx context.Context, call *server.Call) (*server.Result, error) {
	var a arguments
	if err := call.Decode(&a); err != nil {
		return nil, err
	}
	version, err := s.monitor.Version(ctx)
	if err != nil {
		return nil, refusal(ctx, err)
	}
	documents := make([]Document, len(a.Documents))
	for i, document := range a.Documents {
		data, err := call.File(ctx, document.URI)
		if err != nil {
			return nil, err
		}
		documents[i] = Document{Name: document.Name, Data: data}
	}
	start := s.now()
	reading, err := s.reader.Read(ctx, documents)
	s.monitor.record(s.now().Sub(start), len(documents), err == nil || errors.Is(err, context.Canceled))
	if err != nil {
		return nil, refusal(ctx, err)
	}
	return &server.Result{
		Output: reading, VerificationSteps: steps(version, len(documents), reading),
		Confidence: reading.Confidence(),
	}, nil
}

// refusal makes a failure of the protocol of an error. A missing program is a 503, so that the fallback is used.
func refusal(ctx context.Context, err error) error {
	switch {
	case ctx.Err() != nil:
		return server.Fail(http.StatusGatewayTimeout, server.CodeTimeout, "the time limit of the call is over", true)
	case errors.Is(err, context.DeadlineExceeded):
		return server.Fail(http.StatusGatewayTimeout, server.CodeTimeout, "tesseract did not finish a page in time", true)
	case conversation.CodeOf(err) == conversation.CodeToolUnavailable:
		return server.Fail(http.StatusServiceUnavailable, server.CodeUnavailable, message(err), true)
	}
	return err
}

// message is the text of an error without its code.
func message(err error) string {
	if coded, ok := errors.AsType[*conversation.Error](err); ok {
		return coded.Message
	}
	return err.Error()
}

// steps says what was really done, in the words that the user reads.
func steps(version string, files int, r Reading) []string {
	list := []string{
		fmt.Sprintf("已核对%d个文件的SHA-256", files),
		fmt.Sprintf("已用tesseract %s读取%d个文件、%d个区域", version, files, r.Regions),
	}
	if r.Reread > 0 {
		list = append(list, fmt.Sprintf("已用不同分辨率复读%d张发票的金额", r.Reread))
	}
	if r.Confirmed > 0 {
		list = append(list, fmt.Sprintf("已交叉核对%d张发票的金额与税额之和或大写金额", r.Confirmed))
	}
	return list
}
