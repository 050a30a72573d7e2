package workflows

import (
	"encoding/json"
	"unicode/utf8"

	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/workflow"

	"github.com/hermes-orchestrator/hermes/contract"
	"github.com/hermes-orchestrator/hermes/conversation"
)

// inboxItem is something that waits for its turn: a user message, or an envelope from a component outside.
type inboxItem struct {
	message  *conversation.UserMessage
	envelope *contract.Envelope
	signal   string // Name of the signal an envelope came with.
}

// handle registers queries and the update.
func (r *run) handle(ctx workflow.Context) error {
	queries := []struct {
		name    string
		handler any
	}{
		{conversation.QueryPath, func() (string, error) { return r.Path.String(), nil }},
		{conversation.QuerySnapshot, func() (conversation.Snapshot, error) { return r.snapshot(r.input.SessionID), nil }},
		{conversation.QueryTranscript, func() ([]conversation.Turn, error) { return r.Transcript, nil }},
		{conversation.QueryCase, func() (conversation.CaseView, error) { return r.view(), nil }},
	}
	for _, q := range queries {
		if err := workflow.SetQueryHandler(ctx, q.name, q.handler); err != nil {
			return conversation.Errorf(conversation.CodeInternal, "query handler %q: %w", q.name, err)
		}
	}
	options := workflow.UpdateHandlerOptions{
		Validator: func(raw converter.RawValue) error {
			_, err := messageOf(raw)
			return contract.ApplicationError(err)
		},
	}
	if err := workflow.SetUpdateHandlerWithOptions(ctx, conversation.UpdateConverse, r.converse, options); err != nil {
		return conversation.Errorf(conversation.CodeInternal, "update handler %q: %w", conversation.UpdateConverse, err)
	}
	return nil
}

// converse is the handler of the update: it queues the message and waits for its reply. While another message is
// worked on, this one waits its turn (policy: queue).
func (r *run) converse(ctx workflow.Context, raw converter.RawValue) (conversation.Reply, error) {
	m, err := messageOf(raw)
	if err != nil {
		return conversation.Reply{}, contract.ApplicationError(err)
	}
	already := r.recordOf(m.MessageID) != nil || r.queued(m.MessageID)
	if !already {
		delete(r.refusals, m.MessageID)
		r.enqueue(ctx, m)
	}
	var record *messageRecord
	var refusal *conversation.Reply
	err = workflow.Await(ctx, func() bool {
		record, refusal = r.recordOf(m.MessageID), r.refusals[m.MessageID]
		return record != nil || refusal != nil
	})
	switch {
	case err != nil:
		return conversation.Reply{}, err
	case record == nil:
		return *refusal, nil
	}
	reply := conversation.Reply{
		MessageID: m.MessageID, State: r.State, Path: r.Path.String(), Revision: r.Revision, TraceID: r.TraceID,
	}
	if record.Reply != nil {
		reply = *record.Reply
	}
	if already {
		reply.Verdict = conversation.VerdictDuplicate
	}
	return reply, nil
}

// listen receives the signals in coroutines of their own, so that none waits in a channel unseen.
func (r *run) listen(ctx workflow.Context) {
	for _, name := range signalNames {
		workflow.Go(ctx, func(ctx workflow.Context) {
			channel := workflow.GetSignalChannel(ctx, name)
			for {
				var raw converter.RawValue
				if !channel.Receive(ctx, &raw) {
					return
				}
				r.receive(ctx, name, raw)
			}
		})
	}
}

var signalNames = [...]string{
	conversation.SignalUserMessage, conversation.SignalComplete, conversation.SignalContinue,
	conversation.SignalErrorReport,
}

// drain takes what is still in the channels, and says whether there was anything.
func (r *run) drain(ctx workflow.Context) bool {
	any := false
	for _, name := range signalNames {
		channel := workflow.GetSignalChannel(ctx, name)
		for {
			var raw converter.RawValue
			if !channel.ReceiveAsync(&raw) {
				break
			}
			any = true
			r.receive(ctx, name, raw)
		}
	}
	// A signal of an unknown name is not ours to interpret, but it is not lost either: it is in the history, and
	// the log names it.
	for _, name := range workflow.GetUnhandledSignalNames(ctx) {
		channel := workflow.GetSignalChannel(ctx, name)
		for {
			var raw converter.RawValue
			if !channel.ReceiveAsync(&raw) {
				break
			}
			r.reject(ctx, name, conversation.Errorf(conversation.CodeInvalidArgument,
				"signal %q is not known: send %q", name, conversation.SignalUserMessage))
		}
	}
	return any
}

// receive decodes one signal. A payload that cannot be used is counted and logged with its reason; the conversation
// lives on.
func (r *run) receive(ctx workflow.Context, name string, raw converter.RawValue) {
	if name == conversation.SignalUserMessage {
		m, err := messageOf(raw)
		if err != nil {
			r.reject(ctx, name, err)
			return
		}
		if r.recordOf(m.MessageID) == nil && !r.queued(m.MessageID) {
			r.enqueue(ctx, m)
		}
		return
	}
	data := raw.Payload().GetData()
	if !utf8.Valid(data) {
		r.reject(ctx, name, conversation.Errorf(conversation.CodeInvalidUTF8,
			"signal %q: its payload is not valid UTF-8", name))
		return
	}
	var e contract.Envelope
	if err := json.Unmarshal(data, &e); err != nil {
		r.reject(ctx, name, conversation.Errorf(conversation.CodeMalformedEnvelope, "signal %q: %w", name, err))
		return
	}
	if err := e.Check(); err != nil {
		r.reject(ctx, name, err)
		return
	}
	r.inbox = append(r.inbox, inboxItem{envelope: &e, signal: name})
}

// messageOf decodes and checks a message, the same for signal and update. It reads the bytes as they came: a decoder
// would put U+FFFD in place of what is not UTF-8, and the user would have said something else.
func messageOf(raw converter.RawValue) (conversation.UserMessage, error) {
	var m conversation.UserMessage
	data := raw.Payload().GetData()
	if !utf8.Valid(data) {
		return m, conversation.Errorf(conversation.CodeInvalidUTF8, "message: its payload is not valid UTF-8")
	}
	if err := json.Unmarshal(data, &m); err != nil {
		return m, conversation.Errorf(conversation.CodeInvalidArgument, "message: %w", err)
	}
	return m, m.Validate()
}

// enqueue pins what depends on the moment of arrival: relative dates mean the sender's clock, never a later one.
func (r *run) enqueue(ctx workflow.Context, m conversation.UserMessage) {
	if m.SentAt.IsZero() {
		m.SentAt = workflow.Now(ctx)
	}
	r.inbox = append(r.inbox, inboxItem{message: &m})
}

func (r *run) queued(messageID string) bool {
	for i := range r.inbox {
		if m := r.inbox[i].message; m != nil && m.MessageID == messageID {
			return true
		}
	}
	return false
}

func (r *run) reject(ctx workflow.Context, name string, err error) {
	code := conversation.CodeOf(err)
	workflow.GetMetricsHandler(ctx).WithTags(map[string]string{"code": string(code)}).
		Counter("hermes_rejected_signals").Inc(1)
	r.logger.Warn("signal rejected", "signal", conversation.Clip(name, 64), "code", string(code), "error", err.Error(),
		"trace_id", r.TraceID)
}
