package memory

import (
	"cmp"
	"context"
	"slices"

	"github.com/hermes-orchestrator/hermes/conversation"
)

// SaveUnfinished keeps the snapshot of a conversation that ended without commitment (SPEC C1, S5), so that the next
// conversation can offer it again. One session has one such entry: saving again replaces it. It expires
// MidtermConfig.UnfinishedFor after At; a zero At means now.
func (m *Midterm) SaveUnfinished(ctx context.Context, userID string, unfinished conversation.Unfinished) error {
	key, err := unfinishedKey(userID, unfinished.SessionID)
	if err != nil {
		return err
	}
	now := m.cfg.Now()
	if unfinished.At.IsZero() {
		unfinished.At = now
	}
	unfinished.At = unfinished.At.UTC()
	left := unfinished.At.Add(m.cfg.UnfinishedFor).Sub(now)
	if left <= 0 { // Expired before it could be written, for example after a long outage.
		return m.kv.Delete(ctx, key)
	}
	return m.put(ctx, "unfinished flow", key, unfinished, left)
}

// Unfinished returns the unfinished flows of a user, newest first.
func (m *Midterm) Unfinished(ctx context.Context, userID string) ([]conversation.Unfinished, error) {
	if err := checkUser(userID); err != nil {
		return nil, err
	}
	items, err := m.kv.List(ctx, prefix("unfinished", userID))
	if err != nil {
		return nil, err
	}
	oldest := m.cfg.Now().Add(-m.cfg.UnfinishedFor)
	all := make([]conversation.Unfinished, 0, len(items))
	for _, item := range items {
		var unfinished conversation.Unfinished
		if err := decode("an unfinished flow", item.Value, &unfinished); err != nil {
			return nil, err
		}
		// The store expires entries with a delay; nobody is to see one in the meantime.
		if unfinished.At.After(oldest) {
			all = append(all, unfinished)
		}
	}
	slices.SortFunc(all, func(a, b conversation.Unfinished) int {
		return cmp.Or(b.At.Compare(a.At), cmp.Compare(a.SessionID, b.SessionID))
	})
	return all, nil
}

// FinishUnfinished removes the unfinished flow of a session: it was taken up again, or the user does not want it. One
// that does not exist is not an error.
func (m *Midterm) FinishUnfinished(ctx context.Context, userID, sessionID string) error {
	key, err := unfinishedKey(userID, sessionID)
	if err != nil {
		return err
	}
	return m.kv.Delete(ctx, key)
}

func unfinishedKey(userID, sessionID string) (string, error) {
	if err := checkUser(userID); err != nil {
		return "", err
	}
	if err := checkPart("session id", sessionID, MaxNameLen, true); err != nil {
		return "", err
	}
	return Key("unfinished", userID, sessionID), nil
}
