package starter

import (
	"encoding/json"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/structpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/hermes-orchestrator/hermes/conversation"
	hermesv1 "github.com/hermes-orchestrator/hermes/proto/hermes/v1"
)

// each converts a slice.
func each[From, To any](from []From, convert func(*From) To) []To {
	if len(from) == 0 {
		return nil
	}
	to := make([]To, len(from))
	for i := range from {
		to[i] = convert(&from[i])
	}
	return to
}

func replyProto(r *conversation.Reply) *hermesv1.Reply {
	reply := &hermesv1.Reply{
		MessageId: r.MessageID, Verdict: string(r.Verdict), Text: r.Text, Locale: r.Locale,
		Options: each(r.Options, optionProto), State: string(r.State), Outcome: string(r.Outcome), Path: r.Path,
		Revision: clamp(r.Revision), TraceId: r.TraceID, CycleId: r.CycleID,
		Degraded: each(r.Degraded, degradedProto), VerificationSteps: r.VerificationSteps,
		Interim: r.Interim, Status: r.Status, EstimatedTime: r.EstimatedTime,
	}
	if r.Error != nil {
		reply.Error = &hermesv1.Error{Code: string(r.Error.Code), Message: r.Error.Message}
	}
	return reply
}

func optionProto(o *conversation.Option) *hermesv1.Option {
	return &hermesv1.Option{Id: o.ID, Label: o.Label}
}

func degradedProto(d *conversation.Degraded) *hermesv1.Degraded {
	return &hermesv1.Degraded{Component: d.Component, Strategy: d.Strategy, Reason: d.Reason, AsOf: d.AsOf}
}

func attachmentProto(a *conversation.Attachment) *hermesv1.Attachment {
	return &hermesv1.Attachment{Name: a.Name, MediaType: a.MediaType, Uri: a.URI, Sha256: a.SHA256, Size: clamp(a.Size)}
}

func snapshotProto(s *conversation.Snapshot) *hermesv1.Snapshot {
	return &hermesv1.Snapshot{
		State: string(s.State), EnteredAt: timeProto(s.EnteredAt), Tokens: clamp(s.Tokens), UserHash: s.UserHash,
		SessionId: s.SessionID, TraceId: s.TraceID, Flow: s.Flow, Revision: clamp(s.Revision), Summary: s.Summary,
		Intent: s.Intent, Facts: each(s.Facts, factProto), Tools: each(s.Tools, toolTraceProto), Truncated: s.Truncated,
	}
}

func factProto(f *conversation.Fact) *hermesv1.Fact {
	return &hermesv1.Fact{
		Name: f.Name, Value: valueProto(f.Value), Status: string(f.Status), Source: f.Source, MessageId: f.MessageID,
		At: timeProto(f.At), Confidence: f.Confidence,
	}
}

func toolTraceProto(t *conversation.ToolTrace) *hermesv1.ToolTrace {
	return &hermesv1.ToolTrace{
		Tool: t.Tool, Operation: t.Operation, ArgumentDigest: t.ArgumentDigest, Status: t.Status,
	}
}

func stepProto(s *conversation.Step) *hermesv1.Step {
	return &hermesv1.Step{State: string(s.State), At: timeProto(s.At), Event: string(s.Event), Reason: s.Reason}
}

func turnProto(t *conversation.Turn) *hermesv1.Turn {
	return &hermesv1.Turn{
		At: timeProto(t.At), Role: t.Role, MessageId: t.MessageID, Text: t.Text, State: string(t.State), Files: t.Files,
		Options: each(t.Options, optionProto),
	}
}

func caseProto(v *conversation.CaseView) *hermesv1.GetCaseResponse {
	return &hermesv1.GetCaseResponse{
		State: string(v.State), Outcome: string(v.Outcome), TraceId: v.TraceID, Revision: clamp(v.Revision),
		Flow: v.Flow.ID, FlowVersion: v.Flow.Version, Intent: v.Case.Intent, Facts: each(v.Case.Facts, factProto),
		Materials: each(v.Case.Materials, materialProto), Symbols: each(v.Case.Symbols, symbolProto),
		Findings: each(v.Case.Findings, findingProto), Degraded: each(v.Case.Degraded, degradedProto),
		VerificationSteps: v.Case.Verification, Tools: each(v.Tools, toolTraceProto), Pending: v.Pending,
	}
}

func materialProto(m *conversation.Material) *hermesv1.Material {
	return &hermesv1.Material{
		Name: m.Name, Attachment: attachmentProto(&m.Attachment), MessageId: m.MessageID, Inspected: m.Inspected,
	}
}

func symbolProto(s *conversation.Symbol) *hermesv1.Symbol {
	return &hermesv1.Symbol{
		Name: s.Name, Entity: valueProto(s.Entity), At: timeProto(s.At),
		ValidFor: durationpb.New(time.Duration(s.ValidFor)), Verifier: s.Verifier,
	}
}

func findingProto(f *conversation.Finding) *hermesv1.Finding {
	return &hermesv1.Finding{
		Id: f.ID, Kind: string(f.Kind), Text: f.Text, Accepted: f.Accepted, AcceptedBy: f.AcceptedBy,
	}
}

func timeProto(t time.Time) *timestamppb.Timestamp {
	if t.IsZero() {
		return nil
	}
	return timestamppb.New(t)
}

// valueProto carries a JSON value. One that is not JSON cannot have come out of a conversation; it is shown as text
// rather than lost.
func valueProto(raw json.RawMessage) *structpb.Value {
	if len(raw) == 0 {
		return nil
	}
	value := &structpb.Value{}
	if err := value.UnmarshalJSON(raw); err != nil {
		return structpb.NewStringValue(string(raw))
	}
	return value
}
