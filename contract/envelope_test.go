package contract_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/hermes-orchestrator/hermes/contract"
	"github.com/hermes-orchestrator/hermes/conversation"
)

func sealed(t require.TestingT, arguments string) contract.Envelope {
	e := contract.Envelope{
		MessageID: "m", Timestamp: 1717380000000, Source: "conversation:S2", Target: "tool:a", TraceID: "t", CycleID: "c",
		Payload: contract.Payload{Task: "read", Context: contract.Context{UserID: "u", SessionID: "s", Arguments: json.RawMessage(arguments)}},
	}
	require.NoError(t, e.Seal())
	return e
}

// The digest is of what is meant, not of how it is written: key order, white space and escapes do not count, every
// value does.
func TestDigestIsOfTheCanonicalForm(t *testing.T) {
	t.Parallel()
	require.Equal(t, sealed(t, `{"a":1,"b":"<张>"}`).Digest, sealed(t, "{ \"b\":\"\\u003c张>\",\n \"a\":1 }").Digest)
	require.NotEqual(t, sealed(t, `{"a":1}`).Digest, sealed(t, `{"a":2}`).Digest)
	require.NotEqual(t, sealed(t, `{"a":12345678901234567890}`).Digest, sealed(t, `{"a":12345678901234567891}`).Digest)
}

func TestCheckSurvivesTheWire(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		value, err := json.Marshal(rapid.MapOf(rapid.String(), rapid.String()).Draw(t, "arguments"))
		require.NoError(t, err)
		data, err := json.Marshal(sealed(t, string(value)))
		require.NoError(t, err)
		var received contract.Envelope
		require.NoError(t, json.Unmarshal(data, &received))
		require.NoError(t, received.Check())
		received.Payload.Context.UserID += "x"
		require.Equal(t, conversation.CodeMalformedEnvelope, conversation.CodeOf(received.Check()))
	})
}

func TestCheckNamesTheField(t *testing.T) {
	t.Parallel()
	for field, spoil := range map[string]func(*contract.Envelope){
		"message_id":                 func(e *contract.Envelope) { e.MessageID = "" },
		"timestamp":                  func(e *contract.Envelope) { e.Timestamp = 0 },
		"source":                     func(e *contract.Envelope) { e.Source = "nobody" },
		"target":                     func(e *contract.Envelope) { e.Target = ":x" },
		"payload.task":               func(e *contract.Envelope) { e.Payload.Task = "" },
		"payload.context.session_id": func(e *contract.Envelope) { e.Payload.Context.SessionID = "" },
		"trace_id":                   func(e *contract.Envelope) { e.TraceID = "" },
		"cycle_id":                   func(e *contract.Envelope) { e.CycleID = "" },
		"digest":                     func(e *contract.Envelope) { e.Digest = "" },
		"metadata.timeout_ms":        func(e *contract.Envelope) { e.Metadata.TimeoutMS = -1 },
	} {
		t.Run(field, func(t *testing.T) {
			t.Parallel()
			e := sealed(t, `{}`)
			spoil(&e)
			require.ErrorContains(t, e.Check(), field)
		})
	}
}

func FuzzEnvelope(f *testing.F) {
	good, err := json.Marshal(sealed(f, `{"a":[1,"二"]}`))
	require.NoError(f, err)
	f.Add(good)
	f.Add([]byte(`{"payload":{"context":{"arguments":`))
	f.Fuzz(func(t *testing.T, data []byte) {
		var e contract.Envelope
		if json.Unmarshal(data, &e) != nil {
			return
		}
		if err := e.Check(); err != nil {
			require.Equal(t, conversation.CodeMalformedEnvelope, conversation.CodeOf(err))
			return
		}
		again := e
		require.NoError(t, again.Seal())
		require.Equal(t, e.Digest, again.Digest)
	})
}
