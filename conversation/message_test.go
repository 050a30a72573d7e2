package conversation_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/hermes-orchestrator/hermes/conversation"
)

func TestUserMessageValidate(t *testing.T) {
	t.Parallel()
	file := conversation.Attachment{Name: "a.png", URI: "blob:sha256/00", SHA256: "00"}
	long := func(set func(*conversation.Attachment, string)) conversation.Attachment {
		a := file
		set(&a, strings.Repeat("a", conversation.MaxAttachmentName+1))
		return a
	}
	tests := map[string]struct {
		message conversation.UserMessage
		code    conversation.Code
	}{
		"text":               {conversation.UserMessage{MessageID: "m", Text: "报销"}, ""},
		"choice":             {conversation.UserMessage{MessageID: "m", Choice: "confirm"}, ""},
		"file":               {conversation.UserMessage{MessageID: "m", Attachments: []conversation.Attachment{file}}, ""},
		"no id":              {conversation.UserMessage{Text: "x"}, conversation.CodeInvalidArgument},
		"nothing said":       {conversation.UserMessage{MessageID: "m"}, conversation.CodeInvalidArgument},
		"3 MB":               {conversation.UserMessage{MessageID: "m", Text: strings.Repeat("长", 1<<20)}, conversation.CodeTooLarge},
		"not UTF-8":          {conversation.UserMessage{MessageID: "m", Text: "a\xff"}, conversation.CodeInvalidUTF8},
		"unknown locale":     {conversation.UserMessage{MessageID: "m", Text: "x", Locale: "fr"}, conversation.CodeInvalidArgument},
		"file not uploaded":  {conversation.UserMessage{MessageID: "m", Attachments: []conversation.Attachment{{Name: "a"}}}, conversation.CodeInvalidArgument},
		"endless file name":  {conversation.UserMessage{MessageID: "m", Attachments: []conversation.Attachment{long(func(a *conversation.Attachment, s string) { a.Name = s })}}, conversation.CodeTooLarge},
		"endless uri":        {conversation.UserMessage{MessageID: "m", Attachments: []conversation.Attachment{long(func(a *conversation.Attachment, s string) { a.URI = s })}}, conversation.CodeTooLarge},
		"endless media type": {conversation.UserMessage{MessageID: "m", Attachments: []conversation.Attachment{long(func(a *conversation.Attachment, s string) { a.MediaType = s })}}, conversation.CodeTooLarge},
		"endless digest":     {conversation.UserMessage{MessageID: "m", Attachments: []conversation.Attachment{long(func(a *conversation.Attachment, s string) { a.SHA256 = s })}}, conversation.CodeTooLarge},
		"longest file name":  {conversation.UserMessage{MessageID: "m", Attachments: []conversation.Attachment{{Name: strings.Repeat("a", conversation.MaxAttachmentName), URI: "u", SHA256: "s"}}}, ""},
		"too many files":     {conversation.UserMessage{MessageID: "m", Attachments: make([]conversation.Attachment, 21)}, conversation.CodeTooLarge},
		"id of a whole page": {conversation.UserMessage{MessageID: strings.Repeat("m", 200), Text: "x"}, conversation.CodeInvalidArgument},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, tt.code, conversation.CodeOf(tt.message.Validate()))
		})
	}
}

func TestErrorsMatchByCodeAndKeepTheirCause(t *testing.T) {
	t.Parallel()
	cause := fmt.Errorf("disk full")
	err := fmt.Errorf("upload: %w", conversation.Errorf(conversation.CodeUnavailable, "store %q: %w", "a.png", cause))
	require.ErrorIs(t, err, cause)
	require.ErrorIs(t, err, &conversation.Error{Code: conversation.CodeUnavailable})
	require.Equal(t, conversation.CodeUnavailable, conversation.CodeOf(err))
	require.Equal(t, conversation.CodeInternal, conversation.CodeOf(cause))
	require.Empty(t, conversation.CodeOf(nil))
}

func TestDurationIsReadableJSON(t *testing.T) {
	t.Parallel()
	data, err := json.Marshal(conversation.Limits{}.WithDefaults())
	require.NoError(t, err)
	require.JSONEq(t, `{"materials":"5m0s","validation":"30s","review":"5m0s","confirmation":"10m0s","task":"2m0s"}`, string(data))
	var limits conversation.Limits
	require.NoError(t, json.Unmarshal([]byte(`{"materials":"90s"}`), &limits))
	require.Error(t, json.Unmarshal([]byte(`{"materials":90}`), &limits))
}
