package conversation

import (
	"encoding/json"
	"time"
)

// Duration is a time.Duration whose JSON form is Go's own text ("5m0s"), so that people and programs in any language
// can read it in a history.
type Duration time.Duration

// MarshalJSON writes the text form.
func (d Duration) MarshalJSON() ([]byte, error) {
	return json.Marshal(time.Duration(d).String())
}

// UnmarshalJSON reads the text form, for example "90s".
func (d *Duration) UnmarshalJSON(data []byte) error {
	var text string
	if err := json.Unmarshal(data, &text); err != nil {
		return Errorf(CodeInvalidArgument, "duration %s is not a text such as \"90s\"", data)
	}
	parsed, err := time.ParseDuration(text)
	if err != nil {
		return Errorf(CodeInvalidArgument, "duration %q is not of the form \"90s\" or \"5m\"", text)
	}
	*d = Duration(parsed)
	return nil
}
