package starter

import (
	"context"
	"sync"
)

// maxInFlight is how many messages of one session this server has under way at a time; more wait here for their turn,
// as they would in the conversation. Temporal admits ten updates of a workflow at a time. It refuses the eleventh by
// throwing away what it knows of the other ten, so that clients that try again keep each other from ever being
// answered. Four leaves room for a second server, and for services that send updates themselves.
const maxInFlight = 4

// inFlight bounds what is under way for each session. The zero value is ready; it is safe for concurrent use.
type inFlight struct {
	mu       sync.Mutex
	sessions map[string]*turns
}

// turns are those of one session.
type turns struct {
	taken chan struct{}
	users int // Who has a turn or waits for one: the last one to leave removes the entry.
}

// enter waits for a turn. The caller must call leave; the error is that of ctx.
func (f *inFlight) enter(ctx context.Context, sessionID string) (leave func(), err error) {
	f.mu.Lock()
	t := f.sessions[sessionID]
	if t == nil {
		if f.sessions == nil {
			f.sessions = map[string]*turns{}
		}
		t = &turns{taken: make(chan struct{}, maxInFlight)}
		f.sessions[sessionID] = t
	}
	t.users++
	f.mu.Unlock()
	select {
	case t.taken <- struct{}{}:
		return func() { <-t.taken; f.forget(sessionID, t) }, nil
	case <-ctx.Done():
		f.forget(sessionID, t)
		return nil, ctx.Err()
	}
}

func (f *inFlight) forget(sessionID string, t *turns) {
	f.mu.Lock()
	defer f.mu.Unlock()
	t.users--
	if t.users == 0 {
		delete(f.sessions, sessionID)
	}
}
