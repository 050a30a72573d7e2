package starter

import (
	"context"
	"encoding/hex"
	"math"
	"strings"

	"go.temporal.io/sdk/client"

	"github.com/hermes-orchestrator/hermes/conversation"
	hermesv1 "github.com/hermes-orchestrator/hermes/proto/hermes/v1"
)

// maxRuns is how many runs of a conversation one message is offered to, when runs end before they answer.
const maxRuns = 3

// blobPrefix begins the URI of every upload.
const blobPrefix = "blob:sha256/"

// SendMessage delivers a message by the update converse and waits for its reply, with update-with-start when the
// sender names a user.
func (s *service) SendMessage(
	ctx context.Context, req *hermesv1.SendMessageRequest,
) (*hermesv1.SendMessageResponse, error) {
	sessionID := req.GetSessionId()
	if err := checkSession(sessionID); err != nil {
		return nil, err
	}
	message, err := s.messageOf(ctx, req)
	if err != nil {
		return nil, err
	}
	deliver := s.updateOnly
	if req.GetUserId() != "" {
		if deliver, err = s.updateWithStart(ctx, req); err != nil {
			return nil, err
		}
	} else if req.GetFlow() != "" {
		return nil, conversation.Errorf(conversation.CodeInvalidArgument,
			"flow %q without user_id: a conversation is started for a user", req.GetFlow())
	}
	ctx, cancel := context.WithTimeout(ctx, s.cfg.ReplyTimeout)
	defer cancel()
	leave, err := s.messages.enter(ctx, sessionID)
	if err != nil {
		return nil, s.temporalError(ctx, "message", sessionID, err)
	}
	defer leave()
	update := client.UpdateWorkflowOptions{
		// The message id as update id makes a repeated request meet the first one's answer within a run; across runs
		// the conversation's own record of message ids does.
		UpdateID:     message.MessageID,
		WorkflowID:   conversation.WorkflowID(sessionID),
		UpdateName:   conversation.UpdateConverse,
		Args:         []any{message},
		WaitForStage: client.WorkflowUpdateStageCompleted,
	}
	var reply conversation.Reply
	for range maxRuns {
		var handle client.WorkflowUpdateHandle
		if handle, err = deliver(ctx, update); err == nil {
			err = handle.Get(ctx, &reply)
		}
		if !runEnded(err) {
			break
		}
	}
	if err != nil {
		return nil, s.temporalError(ctx, "message", sessionID, err)
	}
	return &hermesv1.SendMessageResponse{Reply: replyProto(&reply)}, nil
}

type deliverFunc func(context.Context, client.UpdateWorkflowOptions) (client.WorkflowUpdateHandle, error)

func (s *Server) updateOnly(ctx context.Context, u client.UpdateWorkflowOptions) (client.WorkflowUpdateHandle, error) {
	return s.cfg.Temporal.UpdateWorkflow(ctx, u)
}

// updateWithStart returns a delivery that starts the conversation in the same step when there is none. Whose session
// it is, is asked first: update-with-start would join any.
func (s *Server) updateWithStart(ctx context.Context, req *hermesv1.SendMessageRequest) (deliverFunc, error) {
	input := conversation.ConversationInput{
		SessionID: req.GetSessionId(), UserID: req.GetUserId(), Flow: req.GetFlow(),
		Locale: req.GetLocale(), Zone: req.GetZone(),
	}
	if err := s.prepare(&input); err != nil {
		return nil, err
	}
	owner, found := s.owners.get(input.SessionID)
	if !found {
		described, err := s.describe(ctx, input.SessionID)
		if err != nil && conversation.CodeOf(err) != conversation.CodeNotFound {
			return nil, err
		}
		owner, found = described.userHash, err == nil
	}
	if found {
		if err := s.checkOwner(input.SessionID, owner, input.UserHash); err != nil {
			return nil, err
		}
	}
	return func(ctx context.Context, u client.UpdateWorkflowOptions) (client.WorkflowUpdateHandle, error) {
		return s.cfg.Temporal.UpdateWithStartWorkflow(ctx, client.UpdateWithStartWorkflowOptions{
			// One start operation serves one request only, so each attempt makes its own.
			StartWorkflowOperation: s.cfg.Temporal.NewWithStartWorkflowOperation(
				s.startOptions(&input), conversation.WorkflowType, input),
			UpdateOptions: u,
		})
	}, nil
}

// messageOf makes the message and checks everything that can be checked outside the conversation.
func (s *Server) messageOf(ctx context.Context, req *hermesv1.SendMessageRequest) (conversation.UserMessage, error) {
	message := conversation.UserMessage{
		MessageID: req.GetMessageId(), Text: req.GetText(), Choice: req.GetChoice(),
		Locale: req.GetLocale(), Zone: req.GetZone(), Revision: int64(req.GetRevision()),
		// Relative dates mean the sender's moment; this is the nearest to it that can be known.
		SentAt: s.cfg.Now().UTC(),
	}
	if at := req.GetSentAt(); at != nil {
		if err := at.CheckValid(); err != nil {
			return message, conversation.Errorf(conversation.CodeInvalidArgument, "sent_at is not a time: %w", err)
		}
		message.SentAt = at.AsTime()
	}
	for i, a := range req.GetAttachments() {
		attachment, err := s.attachmentOf(ctx, i, a)
		if err != nil {
			return message, err
		}
		message.Attachments = append(message.Attachments, attachment)
		if len(message.Attachments) > conversation.MaxAttachments {
			break // Validate says so; the rest need not be looked up.
		}
	}
	if err := checkZone(message.Zone); err != nil {
		return message, err
	}
	return message, message.Validate()
}

// attachmentOf checks that an attachment names a file that was uploaded, so that a wrong one is refused to its sender
// and not discovered by a tool.
func (s *Server) attachmentOf(ctx context.Context, i int, a *hermesv1.Attachment) (conversation.Attachment, error) {
	sum := a.GetSha256()
	if sum == "" {
		sum = strings.TrimPrefix(a.GetUri(), blobPrefix)
	}
	if !validSum(sum) || a.GetUri() != "" && a.GetUri() != blobPrefix+sum {
		return conversation.Attachment{}, conversation.Errorf(conversation.CodeInvalidArgument,
			"attachments[%d] %q: uri %q and sha256 %q do not name one upload: pass on what POST /v1/files answered",
			i, a.GetName(), a.GetUri(), a.GetSha256())
	}
	content, mediaType, err := s.open(ctx, sum)
	if err != nil {
		return conversation.Attachment{}, err
	}
	if err := content.Close(); err != nil {
		s.cfg.Logger.WarnContext(ctx, "file not closed", "sha256", sum, "error", err)
	}
	return conversation.Attachment{
		Name: a.GetName(), MediaType: mediaType, URI: blobPrefix + sum, SHA256: sum, Size: int64(a.GetSize()),
	}, nil
}

// validSum reports whether sum is the hex form of a SHA-256, in lower case.
func validSum(sum string) bool {
	raw, err := hex.DecodeString(sum)
	return err == nil && len(raw) == 32 && strings.ToLower(sum) == sum
}

// clamp fits counters, which are 64 bits wide inside, into the 32 bits that JSON clients read as numbers.
func clamp(n int64) int32 {
	return int32(max(math.MinInt32, min(n, math.MaxInt32)))
}
