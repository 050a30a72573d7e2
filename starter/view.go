package starter

import (
	"context"
	"time"

	"github.com/hermes-orchestrator/hermes/conversation"
	hermesv1 "github.com/hermes-orchestrator/hermes/proto/hermes/v1"
)

// queryTimeout bounds a query: it is answered from a worker's memory, or by replaying a history there.
const queryTimeout = 10 * time.Second

// GetSnapshot answers with the conversation's query of that name.
func (s *service) GetSnapshot(
	ctx context.Context, req *hermesv1.GetSnapshotRequest,
) (*hermesv1.GetSnapshotResponse, error) {
	var snapshot conversation.Snapshot
	if err := s.query(ctx, req.GetSessionId(), conversation.QuerySnapshot, &snapshot); err != nil {
		return nil, err
	}
	return &hermesv1.GetSnapshotResponse{Snapshot: snapshotProto(&snapshot)}, nil
}

// GetPath answers with the path, from the query case, which has the steps as well.
func (s *service) GetPath(ctx context.Context, req *hermesv1.GetPathRequest) (*hermesv1.GetPathResponse, error) {
	var view conversation.CaseView
	if err := s.query(ctx, req.GetSessionId(), conversation.QueryCase, &view); err != nil {
		return nil, err
	}
	return &hermesv1.GetPathResponse{Path: view.Path.String(), Steps: each(view.Path, stepProto)}, nil
}

// GetTranscript answers with the conversation's query of that name.
func (s *service) GetTranscript(
	ctx context.Context, req *hermesv1.GetTranscriptRequest,
) (*hermesv1.GetTranscriptResponse, error) {
	var turns []conversation.Turn
	if err := s.query(ctx, req.GetSessionId(), conversation.QueryTranscript, &turns); err != nil {
		return nil, err
	}
	return &hermesv1.GetTranscriptResponse{Turns: each(turns, turnProto)}, nil
}

// GetCase answers with the conversation's query of that name.
func (s *service) GetCase(ctx context.Context, req *hermesv1.GetCaseRequest) (*hermesv1.GetCaseResponse, error) {
	var view conversation.CaseView
	if err := s.query(ctx, req.GetSessionId(), conversation.QueryCase, &view); err != nil {
		return nil, err
	}
	return caseProto(&view), nil
}

// query asks the workflow of a session, open or ended, as long as the cluster keeps it.
func (s *Server) query(ctx context.Context, sessionID, name string, result any) error {
	if err := checkSession(sessionID); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, queryTimeout)
	defer cancel()
	value, err := s.cfg.Temporal.QueryWorkflow(ctx, conversation.WorkflowID(sessionID), "", name)
	if err == nil {
		err = value.Get(result)
	}
	return s.temporalError(ctx, "query "+name, sessionID, err)
}
