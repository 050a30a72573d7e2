package starter

import (
	"context"
	"errors"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"

	"github.com/hermes-orchestrator/hermes/conversation"
	hermesv1 "github.com/hermes-orchestrator/hermes/proto/hermes/v1"
)

// Limits of names that clients choose.
const (
	maxSessionIDLen = 128
	maxUserIDLen    = 256
	maxNameLen      = 128
)

// StartConversation starts the workflow of a session, or finds it open (see the service's proto).
func (s *service) StartConversation(
	ctx context.Context, req *hermesv1.StartConversationRequest,
) (*hermesv1.StartConversationResponse, error) {
	input := conversation.ConversationInput{
		SessionID: req.GetSessionId(), UserID: req.GetUserId(), Flow: req.GetFlow(), FlowVersion: req.GetFlowVersion(),
		Locale: req.GetLocale(), Zone: req.GetZone(), Limits: limitsOf(req.GetLimits()),
	}
	if input.SessionID == "" {
		input.SessionID = uuid.NewString()
	}
	if err := s.prepare(&input); err != nil {
		return nil, err
	}
	options := s.startOptions(&input)
	// Fail where it is open already: whose it is must be known before it is handed to anybody.
	options.WorkflowIDConflictPolicy = enumspb.WORKFLOW_ID_CONFLICT_POLICY_FAIL
	options.WorkflowExecutionErrorWhenAlreadyStarted = true
	answer := &hermesv1.StartConversationResponse{SessionId: input.SessionID, WorkflowId: options.ID}
	run, err := s.cfg.Temporal.ExecuteWorkflow(ctx, options, conversation.WorkflowType, input)
	if err == nil {
		s.owners.put(input.SessionID, input.UserHash)
		answer.RunId, answer.Created = run.GetRunID(), new(true)
		return answer, nil
	}
	if _, ok := errors.AsType[*serviceerror.WorkflowExecutionAlreadyStarted](err); !ok {
		return nil, s.temporalError(ctx, "start", input.SessionID, err)
	}
	found, err := s.describe(ctx, input.SessionID)
	if err != nil {
		return nil, err
	}
	if !found.open {
		return nil, ended(input.SessionID)
	}
	if err := s.checkOwner(input.SessionID, found.userHash, input.UserHash); err != nil {
		return nil, err
	}
	answer.RunId, answer.Created = found.runID, new(false)
	return answer, nil
}

// startOptions are the same whoever starts the conversation: a request of its own or its first message.
func (s *Server) startOptions(input *conversation.ConversationInput) client.StartWorkflowOptions {
	flow := input.Flow
	if flow == "" {
		flow = "decided by the first message"
	}
	return client.StartWorkflowOptions{
		ID:        conversation.WorkflowID(input.SessionID),
		TaskQueue: s.cfg.TaskQueue,
		// An open conversation is continued; a session id is used for one conversation only, so that a late message
		// can never begin another.
		WorkflowIDConflictPolicy: enumspb.WORKFLOW_ID_CONFLICT_POLICY_USE_EXISTING,
		WorkflowIDReusePolicy:    enumspb.WORKFLOW_ID_REUSE_POLICY_REJECT_DUPLICATE,
		Memo:                     map[string]any{memoUser: input.UserHash, "flow": input.Flow, "locale": input.Locale},
		StaticSummary:            "flow: " + flow,
		StaticDetails:            "Conversation of user `" + input.UserHash + "`",
	}
}

// prepare checks the input and fills in what the starter knows.
func (s *Server) prepare(input *conversation.ConversationInput) error {
	if err := checkUser(input.UserID); err != nil {
		return err
	}
	if err := checkSession(input.SessionID); err != nil {
		return err
	}
	if err := s.checkFlow(input.Flow, input.FlowVersion); err != nil {
		return err
	}
	if l := input.Locale; l != "" && l != conversation.LocaleChinese && l != conversation.LocaleEnglish {
		return conversation.Errorf(conversation.CodeInvalidArgument,
			"locale %q is not one of %q, %q", l, conversation.LocaleChinese, conversation.LocaleEnglish)
	}
	if err := checkZone(input.Zone); err != nil {
		return err
	}
	input.UserHash = s.cfg.HashUser(input.UserID)
	return nil
}

func checkUser(userID string) error {
	switch {
	case userID == "":
		return conversation.Errorf(conversation.CodeInvalidArgument, "user_id is empty: say whose conversation it is")
	case len(userID) > maxUserIDLen:
		return conversation.Errorf(conversation.CodeInvalidArgument,
			"user_id has %d bytes, at most %d are allowed", len(userID), maxUserIDLen)
	case !utf8.ValidString(userID):
		return conversation.Errorf(conversation.CodeInvalidUTF8, "user_id is not valid UTF-8")
	}
	return nil
}

// checkSession keeps session ids to what is safe in paths, workflow ids and command lines.
func checkSession(sessionID string) error {
	if sessionID == "" {
		return conversation.Errorf(conversation.CodeInvalidArgument, "session_id is empty")
	}
	if len(sessionID) > maxSessionIDLen {
		return conversation.Errorf(conversation.CodeInvalidArgument,
			"session_id has %d bytes, at most %d are allowed", len(sessionID), maxSessionIDLen)
	}
	for _, r := range sessionID {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '-', r == '_', r == '.', r == ':':
		default:
			return conversation.Errorf(conversation.CodeInvalidArgument,
				`session_id %q: only letters, digits, "-", "_", "." and ":" are allowed`, sessionID)
		}
	}
	return nil
}

func checkZone(zone string) error {
	if zone == "" {
		return nil
	}
	if _, err := time.LoadLocation(zone); err != nil || zone == "Local" {
		return conversation.Errorf(conversation.CodeInvalidArgument,
			"zone %q is not a time zone name such as \"Asia/Shanghai\"", zone)
	}
	return nil
}

func (s *Server) checkFlow(id, version string) error {
	if id == "" && version != "" {
		return conversation.Errorf(conversation.CodeInvalidArgument, "flow_version %q without flow: name the flow", version)
	}
	if id == "" || s.cfg.Flows == nil {
		return nil
	}
	known := s.cfg.Flows.Refs()
	found := slices.ContainsFunc(known, func(ref conversation.FlowRef) bool {
		return ref.ID == id && (version == "" || ref.Version == version)
	})
	if found {
		return nil
	}
	if version != "" {
		return conversation.Errorf(conversation.CodeUnknownFlow, "flow %q has no version %q here", id, version)
	}
	var ids []string
	for _, ref := range known {
		if !slices.Contains(ids, ref.ID) {
			ids = append(ids, ref.ID)
		}
	}
	return conversation.Errorf(conversation.CodeUnknownFlow, "flow %q is not known: there are %q", id, ids)
}

func limitsOf(l *hermesv1.Limits) conversation.Limits {
	return conversation.Limits{
		Materials:    conversation.Duration(l.GetMaterials().AsDuration()),
		Validation:   conversation.Duration(l.GetValidation().AsDuration()),
		Review:       conversation.Duration(l.GetReview().AsDuration()),
		Confirmation: conversation.Duration(l.GetConfirmation().AsDuration()),
		Task:         conversation.Duration(l.GetTask().AsDuration()),
	}
}
