package server

import (
	"errors"
	"fmt"
	"net/http"

	"github.com/hermes-orchestrator/hermes/tool"
)

// Codes of the failures that the server itself reports. Operations may use codes of their own.
const (
	CodeInvalidArgument = "invalid_argument" // 400: arguments are not those of the schema.
	CodeNotFound        = "not_found"        // 404: no such operation or file.
	CodeTooLarge        = "too_large"        // 413: arguments or file.
	CodeBusy            = "busy"             // 429: too many calls are being answered later.
	CodeInternal        = "internal"         // 500: a bug in the tool.
	CodeUnavailable     = "unavailable"      // 503: what the tool needs does not answer.
	CodeTimeout         = "timeout"          // 504: the time limit of the call is over.
)

// failure is an error with everything that the protocol says about it.
type failure struct {
	status int
	detail tool.ErrorDetail
}

func (f *failure) Error() string {
	return fmt.Sprintf("status %d, %s: %s", f.status, f.detail.Code, f.detail.Message)
}

// Fail is what an operation returns to refuse a call (status 4xx: Hermes reports it and does not try again) or to say
// that it cannot answer (5xx: Hermes tries again and then uses the fallback). Message is for people and may be shown to
// them. Any other error that an operation returns becomes a 500 whose text stays in the log.
func Fail(status int, code, message string, retryable bool) error {
	return fail(status, code, retryable, "%s", message)
}

func fail(status int, code string, retryable bool, format string, args ...any) *failure {
	if status < http.StatusBadRequest || status > 599 {
		status = http.StatusInternalServerError
	}
	return &failure{status: status, detail: tool.ErrorDetail{
		Code: code, Message: fmt.Sprintf(format, args...), Retryable: retryable,
	}}
}

// failureOf returns the failure in err; ok is false if it has none.
func failureOf(err error) (f *failure, ok bool) {
	ok = errors.As(err, &f)
	return f, ok
}
