package starter

import (
	"sync"

	"github.com/hermes-orchestrator/hermes/conversation"
)

// maxOwners bounds what is remembered of whose a session is. An entry has about 200 bytes.
const maxOwners = 10_000

// owners remembers which user a session belongs to, so that a message that names its user need not ask Temporal each
// time. A session's owner never changes, so nothing in it grows stale. Safe for concurrent use.
type owners struct {
	mu    sync.Mutex
	users map[string]string // Session id → keyed hash of the user.
	order []string          // Ring of the session ids, oldest at next.
	next  int
}

func newOwners() *owners {
	return &owners{users: map[string]string{}}
}

func (o *owners) get(sessionID string) (userHash string, found bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	userHash, found = o.users[sessionID]
	return userHash, found
}

func (o *owners) put(sessionID, userHash string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if _, ok := o.users[sessionID]; ok {
		return
	}
	if len(o.order) < maxOwners {
		o.order = append(o.order, sessionID)
	} else {
		delete(o.users, o.order[o.next])
		o.order[o.next] = sessionID
		o.next = (o.next + 1) % maxOwners
	}
	o.users[sessionID] = userHash
}

// checkOwner refuses a user who names another user's session. A conversation that was started without a memo (by the
// temporal command line, say) belongs to whoever knows its id.
func (s *Server) checkOwner(sessionID, owner, user string) error {
	if owner != "" && owner != user {
		return conversation.Errorf(conversation.CodeConflict,
			"session %q belongs to another user: choose another session_id", sessionID)
	}
	s.owners.put(sessionID, user)
	return nil
}
