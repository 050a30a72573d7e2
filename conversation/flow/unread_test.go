package flow_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/hermes-orchestrator/hermes/conversation"
	"github.com/hermes-orchestrator/hermes/conversation/flow"
)

// complete is a walk to which nothing is missing any more.
func complete(t *testing.T) *walk {
	w := newWalk(t)
	w.phase(conversation.PhasePrepare)
	w.upload("a.png", "itinerary.png")
	w.phase(conversation.PhaseInspect)
	require.Empty(t, w.plan.Missing)
	return w
}

func (w *walk) inspected() []bool {
	var list []bool
	for _, m := range w.plan.Case.Materials {
		list = append(list, m.Inspected)
	}
	return list
}

// A new upload that cannot be read while nothing is missing stays unread and is counted: the user decides about it.
func TestUnreadUploadIsNotLeftOut(t *testing.T) {
	t.Parallel()
	t.Run("the call failed", func(t *testing.T) {
		t.Parallel()
		w := complete(t)
		w.upload("fourth.png")
		w.step(w.request(conversation.PhaseInspect))
		require.Len(t, w.plan.Calls, 1)
		request := w.request(conversation.PhaseInspect)
		request.Failed = []conversation.FailedStep{{Step: "read_uploads", Tool: "ocr_tool", Code: conversation.CodeToolUnavailable}}
		w.step(request)
		requireUnread(t, w)
	})
	t.Run("the tool is known to be down", func(t *testing.T) {
		t.Parallel()
		w := complete(t)
		w.tools["ocr_tool.read"] = flow.Capability{Effect: "read", Unhealthy: "tesseract is not installed"}
		w.upload("fourth.png")
		w.step(w.request(conversation.PhaseInspect))
		requireUnread(t, w)
	})
}

func requireUnread(t *testing.T, w *walk) {
	t.Helper()
	require.Equal(t, 1, w.plan.Unread)
	require.Empty(t, w.plan.Missing)
	require.Empty(t, w.plan.Manual, "figures are asked for only where something is missing")
	require.Empty(t, w.plan.Calls)
	require.Equal(t, []bool{true, true, false}, w.inspected())

	rendered := w.render(conversation.ReplyUnread, "")
	require.NotEmpty(t, rendered.Text)
	var ids []string
	for _, option := range rendered.Options {
		ids = append(ids, option.ID)
	}
	require.Equal(t, []string{conversation.ChoiceRetry, conversation.ChoiceGoOn, conversation.ChoiceCancel}, ids)

	// Asked again, the tool reads that upload and nothing else.
	delete(w.tools, "ocr_tool.read")
	w.step(w.request(conversation.PhaseInspect))
	require.Len(t, w.plan.Calls, 1)
	require.Contains(t, string(w.plan.Calls[0].Arguments), "fourth.png")
	require.NotContains(t, string(w.plan.Calls[0].Arguments), "a.png")
}

// While something is missing the user is asked for the figures instead, and nothing counts as unread.
func TestUnreadUploadWhileSomethingIsMissing(t *testing.T) {
	t.Parallel()
	w := newWalk(t)
	w.phase(conversation.PhasePrepare)
	w.upload("a.png")
	request := w.request(conversation.PhaseInspect)
	request.Failed = []conversation.FailedStep{{Step: "read_uploads", Tool: "ocr_tool", Code: conversation.CodeToolUnavailable}}
	w.step(request)
	require.Equal(t, "read_uploads", w.plan.Manual)
	require.Zero(t, w.plan.Unread)
}

// A late answer is that of the uploads which its call was given: those that came since are called for of their own.
func TestLateAnswerDoesNotReadNewerUploads(t *testing.T) {
	t.Parallel()
	w := newWalk(t)
	w.phase(conversation.PhasePrepare)
	w.upload("a.png")
	request := w.request(conversation.PhaseInspect)
	processing := w.answers["read_uploads"]
	processing.Status = conversation.AnswerProcessing
	request.Answers = []conversation.Answer{processing}
	w.step(request)
	require.Equal(t, []bool{true}, w.inspected(), "it is in the tool's hands")

	w.upload("b.png")
	request = w.request(conversation.PhaseInspect)
	request.Answers, request.Late = []conversation.Answer{uploadsAnswer}, true
	w.step(request)
	require.Equal(t, []bool{true, false}, w.inspected())
	require.Contains(t, w.plan.Case.Done, "read_uploads")

	w.step(w.request(conversation.PhaseInspect))
	require.Len(t, w.plan.Calls, 1)
	require.Contains(t, string(w.plan.Calls[0].Arguments), "b.png")
	require.NotContains(t, string(w.plan.Calls[0].Arguments), `"a.png"`)
}

// An operation that writes is called for its answer, also where its tool could answer later.
func TestWriteIsNeverPlannedAsynchronous(t *testing.T) {
	t.Parallel()
	w := complete(t)
	w.tools["ocr_tool.read"] = flow.Capability{Effect: "read", Async: true}
	w.tools["finance_tool.debit"] = flow.Capability{Effect: "write", Async: true}
	w.upload("fourth.png")
	w.step(w.request(conversation.PhaseInspect))
	require.True(t, w.plan.Calls[0].Async, "reading may come later")
	w.phase(conversation.PhaseInspect)
	w.phase(conversation.PhaseValidate)
	w.step(w.request(conversation.PhaseCommit))
	require.Equal(t, "debit", w.plan.Calls[0].Step)
	require.False(t, w.plan.Calls[0].Async)
}
