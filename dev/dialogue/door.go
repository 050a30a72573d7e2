package dialogue

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/hermes-orchestrator/hermes/conversation"
)

// Door talks to the front door over HTTP/JSON, as any client in any language would.
type Door struct {
	base string
	http *http.Client
}

// NewDoor returns a client of the starter at base, as in "http://127.0.0.1:8080".
func NewDoor(base string) *Door {
	return &Door{base: strings.TrimSuffix(base, "/"), http: &http.Client{Transport: &http.Transport{}}}
}

// Close ends idle connections.
func (d *Door) Close() { d.http.CloseIdleConnections() }

// Start begins a conversation.
func (d *Door) Start(ctx context.Context, input conversation.ConversationInput) error {
	body := map[string]any{
		"user_id": input.UserID, "session_id": input.SessionID, "flow": input.Flow, "locale": input.Locale,
		"zone": input.Zone,
	}
	limits := map[string]string{}
	for name, limit := range map[string]conversation.Duration{
		"materials": input.Limits.Materials, "validation": input.Limits.Validation, "review": input.Limits.Review,
		"confirmation": input.Limits.Confirmation, "task": input.Limits.Task,
	} {
		if limit > 0 {
			limits[name] = fmt.Sprintf("%.3fs", time.Duration(limit).Seconds())
		}
	}
	if len(limits) > 0 {
		body["limits"] = limits
	}
	return d.post(ctx, "/v1/conversations", body, nil)
}

// Send delivers a message and returns its reply. A refusal by the front door is a *conversation.Error.
func (d *Door) Send(ctx context.Context, session string, m conversation.UserMessage) (conversation.Reply, error) {
	var reply conversation.Reply
	err := d.post(ctx, "/v1/conversations/"+url.PathEscape(session)+"/messages", m, &reply)
	return reply, err
}

// Upload stores a file.
func (d *Door) Upload(ctx context.Context, name, mediaType string, data []byte) (conversation.Attachment, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, d.base+"/v1/files?name="+url.QueryEscape(name),
		bytes.NewReader(data))
	if err != nil {
		return conversation.Attachment{}, err
	}
	request.Header.Set("Content-Type", mediaType)
	var attachment conversation.Attachment
	err = d.do(request, &attachment)
	return attachment, err
}

func (d *Door) post(ctx context.Context, path string, body, result any) error {
	data, err := json.Marshal(body)
	if err != nil {
		return err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, d.base+path, bytes.NewReader(data))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/json")
	return d.do(request, result)
}

func (d *Door) do(request *http.Request, result any) error {
	response, err := d.http.Do(request)
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }()
	data, err := io.ReadAll(response.Body)
	if err != nil {
		return err
	}
	if response.StatusCode >= http.StatusBadRequest {
		var refused struct {
			Error *conversation.Error `json:"error"`
		}
		if json.Unmarshal(data, &refused) == nil && refused.Error != nil {
			return refused.Error
		}
		return fmt.Errorf("%s %s: %s: %s", request.Method, request.URL.Path, response.Status, data)
	}
	if result == nil {
		return nil
	}
	return json.Unmarshal(data, result)
}

// Events are the replies of a session as its event stream brings them. It is safe for concurrent use.
type Events struct {
	cancel context.CancelFunc
	done   chan struct{}

	mu      sync.Mutex
	replies []conversation.Reply
	taken   map[int]bool
	changed chan struct{}
}

// Listen opens the event stream of a session (server-sent events) and resumes it when it breaks.
func (d *Door) Listen(session string) (*Events, error) {
	ctx, cancel := context.WithCancel(context.Background())
	e := &Events{cancel: cancel, done: make(chan struct{}), taken: map[int]bool{}, changed: make(chan struct{}, 1)}
	go func() {
		defer close(e.done)
		last := ""
		for ctx.Err() == nil {
			last = d.stream(ctx, session, last, e)
		}
	}()
	return e, nil
}

// stream reads one connection until it ends, and returns the id of the last event.
func (d *Door) stream(ctx context.Context, session, last string, e *Events) string {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet,
		d.base+"/v1/conversations/"+url.PathEscape(session)+"/events", nil)
	if err != nil {
		return last
	}
	if last != "" {
		request.Header.Set("Last-Event-ID", last)
	}
	response, err := d.http.Do(request)
	if err != nil {
		select { // The server may be starting again.
		case <-time.After(100 * time.Millisecond):
		case <-ctx.Done():
		}
		return last
	}
	defer func() { _ = response.Body.Close() }()
	id := last
	scanner := bufio.NewScanner(response.Body)
	scanner.Buffer(nil, 8<<20)
	for scanner.Scan() {
		line := scanner.Text()
		if value, found := strings.CutPrefix(line, "id:"); found {
			id = strings.TrimSpace(value)
		}
		if value, found := strings.CutPrefix(line, "data:"); found {
			var reply conversation.Reply
			if json.Unmarshal([]byte(strings.TrimSpace(value)), &reply) == nil {
				e.add(reply)
			}
		}
	}
	return id
}

func (e *Events) add(r conversation.Reply) {
	e.mu.Lock()
	e.replies = append(e.replies, r)
	e.mu.Unlock()
	select {
	case e.changed <- struct{}{}:
	default:
	}
}

// Next returns the first reply that fits and has not been returned before, and waits for it.
func (e *Events) Next(ctx context.Context, fits func(conversation.Reply) bool) (conversation.Reply, error) {
	for {
		e.mu.Lock()
		for i, r := range e.replies {
			if !e.taken[i] && fits(r) {
				e.taken[i] = true
				e.mu.Unlock()
				return r, nil
			}
		}
		e.mu.Unlock()
		select {
		case <-e.changed:
		case <-ctx.Done():
			return conversation.Reply{}, fmt.Errorf("no reply came by event: %w", ctx.Err())
		}
	}
}

// Close ends the stream.
func (e *Events) Close() {
	e.cancel()
	<-e.done
}
