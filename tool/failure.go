package tool

import (
	"errors"
	"fmt"

	"github.com/hermes-orchestrator/hermes/conversation"
)

// Refusal is the cause of an error that a tool itself reported, with a verified signature (4xx and 5xx). Find it with
// errors.As.
type Refusal struct {
	Status int
	Detail ErrorDetail
}

func (r *Refusal) Error() string {
	switch {
	case r.Detail.Code == "" && r.Detail.Message == "":
		return fmt.Sprintf("status %d without a reason", r.Status)
	case r.Detail.Message == "":
		return fmt.Sprintf("status %d, %s", r.Status, r.Detail.Code)
	}
	return fmt.Sprintf("status %d, %s: %s", r.Status, r.Detail.Code, r.Detail.Message)
}

// errNotSent marks errors of calls whose request never left this process.
var errNotSent = errors.New("the request was not sent")

// NoEffect reports whether err, which Client returned for a call, makes it certain that the call had no effect: it was
// refused before it was sent, or the tool itself says (signed) that it refuses. For any other error of a write
// operation the outcome is unknown (DESIGN 3): time-out, broken connection, bad signature, an output that does not fit.
func NoEffect(err error) bool {
	switch conversation.CodeOf(err) {
	case conversation.CodeUnknownTool, conversation.CodeInvalidArgument, conversation.CodeToolRefused:
		return true
	}
	return errors.Is(err, errNotSent)
}

// concealed shows text and keeps its causes for errors.Is: messages may reach clients, and the text of a network error
// names internal addresses.
type concealed struct {
	text   string
	causes []error
}

func (c *concealed) Error() string   { return c.text }
func (c *concealed) Unwrap() []error { return c.causes }

// notSent is an error of the given code for a call that was not sent.
func notSent(code conversation.Code, cause error, format string, args ...any) error {
	causes := []error{errNotSent}
	if cause != nil {
		causes = append(causes, cause)
	}
	return conversation.Errorf(code, "%w", &concealed{text: fmt.Sprintf(format, args...), causes: causes})
}
