package tool

import (
	"bytes"
	"container/list"
	"context"
	"encoding/json"
	"sync"
	"time"

	"github.com/hermes-orchestrator/hermes/conversation"
)

// AnswerCache keeps last good answers by key. Implementations are safe for concurrent use. The signature of what they
// return is verified again: changed data is found out, but not an answer put under another key.
type AnswerCache interface {
	// Get returns what was put last under key and when; found is false if there is nothing or its ttl is over.
	Get(ctx context.Context, key string) (data []byte, at time.Time, found bool, err error)
	// Put keeps data under key for ttl. At is when the answer was good.
	Put(ctx context.Context, key string, data []byte, at time.Time, ttl time.Duration) error
}

// MemoryCache is an AnswerCache in the memory of this process, for tools and command lines that run alone. When it is
// full, the answer that was used least recently makes room.
type MemoryCache struct {
	max int
	now func() time.Time

	mu      sync.Mutex
	entries map[string]*list.Element
	recent  *list.List // Front: used last.
}

type cached struct {
	key  string
	data []byte
	at   time.Time
	end  time.Time
}

// NewMemoryCache keeps at most max answers (0 or less: 1024). Now is the clock, nil is time.Now.
func NewMemoryCache(max int, now func() time.Time) *MemoryCache {
	if max <= 0 {
		max = 1024
	}
	if now == nil {
		now = time.Now
	}
	return &MemoryCache{max: max, now: now, entries: map[string]*list.Element{}, recent: list.New()}
}

// Get implements AnswerCache.
func (m *MemoryCache) Get(_ context.Context, key string) ([]byte, time.Time, bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	element, ok := m.entries[key]
	if !ok {
		return nil, time.Time{}, false, nil
	}
	entry, _ := element.Value.(cached)
	if !m.now().Before(entry.end) {
		m.drop(element)
		return nil, time.Time{}, false, nil
	}
	m.recent.MoveToFront(element)
	return bytes.Clone(entry.data), entry.at, true, nil
}

// Put implements AnswerCache.
func (m *MemoryCache) Put(_ context.Context, key string, data []byte, at time.Time, ttl time.Duration) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if element, ok := m.entries[key]; ok {
		m.drop(element)
	}
	m.entries[key] = m.recent.PushFront(cached{key: key, data: bytes.Clone(data), at: at, end: at.Add(ttl)})
	for m.recent.Len() > m.max {
		m.drop(m.recent.Back())
	}
	return nil
}

func (m *MemoryCache) drop(element *list.Element) {
	entry, _ := m.recent.Remove(element).(cached)
	delete(m.entries, entry.key)
}

// cacheKey names the answer to the same question: tool, operation and canonical arguments, digested because arguments
// may hold what keys of a shared server should not show.
func cacheKey(req Request) (string, error) {
	decoder := json.NewDecoder(bytes.NewReader(req.arguments()))
	decoder.UseNumber()
	var tree any
	if err := decoder.Decode(&tree); err != nil {
		return "", conversation.Errorf(conversation.CodeInvalidArgument,
			"tool %q, operation %q: the arguments are not JSON", req.Call.Tool, req.Call.Operation)
	}
	canonical, err := json.Marshal(tree) // Sorts the keys.
	if err != nil {
		return "", conversation.Errorf(conversation.CodeInvalidArgument,
			"tool %q, operation %q: the arguments are not JSON", req.Call.Tool, req.Call.Operation)
	}
	return "answer:" + req.Call.Tool + "/" + req.Call.Operation + ":" + BodyDigest(canonical), nil
}

// remember keeps a verified answer for the day the tool does not give one. That it cannot is not worth failing a call.
func (c *Client) remember(ctx context.Context, req Request, operation Operation, e evidence) {
	key, err := cacheKey(req)
	var data []byte
	if err == nil {
		data, err = json.Marshal(e)
	}
	if err == nil {
		err = c.cache.Put(ctx, key, data, c.now(), operation.Fallback.StaleAfter)
	}
	if err != nil {
		c.logger.WarnContext(ctx, "answer could not be kept as a fallback", "tool", req.Call.Tool, "operation",
			req.Call.Operation, "error", err)
	}
}
