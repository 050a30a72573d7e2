package tool

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"
	"unicode/utf8"

	"github.com/hermes-orchestrator/hermes/conversation"
)

// arrived is what came back for a call, not believed yet.
type arrived struct {
	to         endpoint
	step       string
	messageID  string
	status     int
	signatures []string
	body       []byte
	// mayProcess is set where the call was asynchronous: only then is 202 an answer.
	mayProcess bool
}

func (a arrived) errorf(code conversation.Code, format string, args ...any) error {
	prefix := fmt.Sprintf("tool %q, operation %q: ", a.to.manifest.Name, a.to.operation)
	return conversation.Errorf(code, "%w",
		&concealed{text: prefix + fmt.Sprintf(format, args...), causes: causesOf(args)})
}

func causesOf(args []any) []error {
	var causes []error
	for _, arg := range args {
		if err, ok := arg.(error); ok {
			causes = append(causes, err)
		}
	}
	return causes
}

// judge verifies the signature, and only then looks at the status and the body.
func (c *Client) judge(ctx context.Context, a arrived) (conversation.Answer, evidence, error) {
	// A proxy in between cannot sign, and its 5xx says the same as no connection. Anything else has to be signed.
	if a.status >= http.StatusInternalServerError && len(a.signatures) == 0 {
		return conversation.Answer{}, evidence{}, a.errorf(conversation.CodeToolUnavailable,
			"status %d, not signed: something between Hermes and the tool", a.status)
	}
	signature, err := a.to.manifest.Verify(a.signatures, a.messageID, a.status, a.body)
	if err != nil {
		return conversation.Answer{}, evidence{}, a.errorf(conversation.CodeBadSignature, "status %d: %v", a.status,
			messageOf(err))
	}
	if a.status >= http.StatusBadRequest {
		return conversation.Answer{}, evidence{}, a.refusal()
	}
	answer, err := a.parse()
	if err != nil {
		return conversation.Answer{}, evidence{}, err
	}
	if answer.Status == conversation.AnswerProcessing {
		return answer, evidence{}, nil
	}
	if err := c.checkOutput(ctx, a.to, answer.Output); err != nil {
		if _, ok := errors.AsType[*mismatchError](err); ok {
			return conversation.Answer{}, evidence{}, a.errorf(conversation.CodeToolMisbehaved,
				"the output does not fit the tool's own schema: %v", err)
		}
		return conversation.Answer{}, evidence{}, a.errorf(conversation.CodeToolUnavailable,
			"its schema cannot be had: %v", &concealed{text: reasonOf(err), causes: []error{err}})
	}
	answer.Proof = &conversation.Proof{
		Tool: a.to.manifest.Name, MessageID: a.messageID, KeyID: signature.KeyID, Digest: BodyDigest(a.body),
		Status: a.status, Signature: base64.RawURLEncoding.EncodeToString(signature.Bytes[:]),
		At: c.now().UTC().Format(time.RFC3339Nano),
	}
	return answer, evidence{
		Tool: a.to.manifest.Name, MessageID: a.messageID, Status: a.status, Signature: signature.String(), Body: a.body,
	}, nil
}

// refusal turns a signed 4xx or 5xx into an error. Its body may say why; a body that does not is no reason to doubt it.
func (a arrived) refusal() error {
	refusal := &Refusal{Status: a.status}
	var body ErrorBody
	if json.Unmarshal(a.body, &body) == nil {
		refusal.Detail = body.Error
		refusal.Detail.Code = conversation.Clip(refusal.Detail.Code, 80)
		refusal.Detail.Message = conversation.Clip(refusal.Detail.Message, 500)
	}
	switch {
	case a.status == http.StatusTooManyRequests:
		prefix := fmt.Sprintf("tool %q, operation %q: ", a.to.manifest.Name, a.to.operation)
		return notSent(conversation.CodeToolUnavailable, refusal, "%s%s", prefix, refusal)
	case a.status == http.StatusRequestTimeout, a.status >= http.StatusInternalServerError:
		return a.errorf(conversation.CodeToolUnavailable, "%v", refusal)
	}
	return a.errorf(conversation.CodeToolRefused, "%v", refusal)
}

// wireDiagnostics tells a figure that is missing from one that is zero.
type wireDiagnostics struct {
	ProcessingTimeMS *int64 `json:"processing_time_ms"`
	MemoryUsedKB     *int64 `json:"memory_used_kb"`
	ExternalCalls    *struct {
		Count         *int64   `json:"count"`
		MeanLatencyMS *float64 `json:"mean_latency_ms"`
	} `json:"external_calls"`
	ConfidenceScore *float64 `json:"confidence_score"`
}

// parse reads a body whose signature has been verified.
func (a arrived) parse() (conversation.Answer, error) {
	misbehaved := func(format string, args ...any) (conversation.Answer, error) {
		return conversation.Answer{}, a.errorf(conversation.CodeToolMisbehaved, format, args...)
	}
	var body struct {
		AnswerBody
		Diagnostics json.RawMessage `json:"diagnostics"`
	}
	if !utf8.Valid(a.body) {
		return misbehaved("the answer is not UTF-8")
	}
	if err := json.Unmarshal(a.body, &body); err != nil {
		return misbehaved("the answer is not a JSON object of the protocol")
	}
	want := conversation.AnswerOK
	switch {
	case a.status == http.StatusOK:
	case a.status == http.StatusAccepted && a.mayProcess:
		want = conversation.AnswerProcessing
	case a.status == http.StatusAccepted:
		return misbehaved("status 202, but no answer by callback was asked for")
	default:
		return misbehaved("status %d is not one of the protocol", a.status)
	}
	if body.Status != want {
		return misbehaved("status %d comes with the status text %q, not %q", a.status,
			conversation.Clip(body.Status, 40), want)
	}
	diagnostics, err := parseDiagnostics(body.Diagnostics)
	if err != nil {
		return misbehaved("%v", err)
	}
	answer := conversation.Answer{
		Step: a.step, Tool: a.to.manifest.Name, Operation: a.to.operation, MessageID: a.messageID, Status: want,
		Verification: body.VerificationSteps, Diagnostics: diagnostics,
	}
	if want == conversation.AnswerProcessing {
		if d, err := time.ParseDuration(body.EstimatedTime); err != nil || d < 0 {
			return misbehaved("estimated_time %q is not of the form \"30s\"", conversation.Clip(body.EstimatedTime, 40))
		}
		answer.Estimated = body.EstimatedTime
		return answer, nil
	}
	if len(body.Output) == 0 {
		return misbehaved("the answer has no output")
	}
	answer.Output = body.Output
	return answer, nil
}

func parseDiagnostics(data json.RawMessage) (conversation.Diagnostics, error) {
	var (
		wire wireDiagnostics
		none conversation.Diagnostics
	)
	if len(data) == 0 || string(data) == "null" {
		return none, errors.New("the answer has no diagnostics")
	}
	if err := json.Unmarshal(data, &wire); err != nil {
		return none, errors.New("the diagnostics are not those of the protocol: whole numbers of ms and KB, a count, a score")
	}
	switch {
	case wire.ProcessingTimeMS == nil || *wire.ProcessingTimeMS < 0:
		return none, errors.New("diagnostics.processing_time_ms is missing or negative")
	case wire.MemoryUsedKB == nil:
		return none, errors.New("diagnostics.memory_used_kb is missing")
	case wire.ExternalCalls == nil || wire.ExternalCalls.Count == nil || *wire.ExternalCalls.Count < 0:
		return none, errors.New("diagnostics.external_calls.count is missing or negative")
	case wire.ExternalCalls.MeanLatencyMS == nil || *wire.ExternalCalls.MeanLatencyMS < 0:
		return none, errors.New("diagnostics.external_calls.mean_latency_ms is missing or negative")
	case wire.ConfidenceScore == nil || *wire.ConfidenceScore < 0 || *wire.ConfidenceScore > 1:
		return none, errors.New("diagnostics.confidence_score is missing or not between 0 and 1")
	}
	return conversation.Diagnostics{
		ProcessingTimeMS: *wire.ProcessingTimeMS, MemoryUsedKB: *wire.MemoryUsedKB,
		ConfidenceScore: *wire.ConfidenceScore,
		ExternalCalls: conversation.ExternalCalls{
			Count: *wire.ExternalCalls.Count, MeanLatencyMS: *wire.ExternalCalls.MeanLatencyMS,
		},
	}, nil
}

// checkOutput validates an output against what the tool says of itself. If it does not fit, the tool may have been
// replaced since it was asked: a schema that is not brand new is fetched again, once.
func (c *Client) checkOutput(ctx context.Context, at endpoint, output json.RawMessage) error {
	err := c.fits(ctx, at, output, schemaMaxAge)
	if _, ok := errors.AsType[*mismatchError](err); ok {
		err = c.fits(ctx, at, output, schemaRetry)
	}
	return err
}

func (c *Client) fits(ctx context.Context, at endpoint, output json.RawMessage, maxAge time.Duration) error {
	says, err := c.published(ctx, at, maxAge)
	var unusable *schemaError
	switch {
	case errors.As(err, &unusable):
		return &mismatchError{err}
	case err != nil:
		return err
	case says.operations[at.operation].problem != nil:
		return &mismatchError{says.operations[at.operation].problem}
	}
	if err := says.operations[at.operation].output.Validate(output); err != nil {
		return &mismatchError{err}
	}
	return nil
}

// mismatchError is an output that does not fit, or that nothing usable says anything about.
type mismatchError struct{ cause error }

func (e *mismatchError) Error() string { return e.cause.Error() }
func (e *mismatchError) Unwrap() error { return e.cause }

func messageOf(err error) string {
	if coded, ok := errors.AsType[*conversation.Error](err); ok {
		return coded.Message
	}
	return err.Error()
}
