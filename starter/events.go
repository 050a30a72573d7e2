package starter

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"strconv"
	"time"

	"google.golang.org/grpc"

	"github.com/hermes-orchestrator/hermes/conversation"
	"github.com/hermes-orchestrator/hermes/memory"
	hermesv1 "github.com/hermes-orchestrator/hermes/proto/hermes/v1"
)

const (
	// eventBatch is how many events are read at a time.
	eventBatch    = 100
	maxEventBatch = 1000
	// eventWriteTimeout is how long a client may take to read what is sent before its stream is given up. It comes
	// back and resumes.
	eventWriteTimeout = 30 * time.Second
)

// ListEvents returns what has been published, without waiting.
func (s *service) ListEvents(
	ctx context.Context, req *hermesv1.ListEventsRequest,
) (*hermesv1.ListEventsResponse, error) {
	size := int(req.GetPageSize())
	if size < 0 || req.GetAfter() < 0 {
		return nil, conversation.Errorf(conversation.CodeInvalidArgument,
			"after %d and page_size %d must not be negative", req.GetAfter(), size)
	}
	if size == 0 {
		size = eventBatch
	}
	events, err := s.firstEvents(ctx, req.GetSessionId(), req.GetAfter(), min(size, maxEventBatch))
	if err != nil {
		return nil, err
	}
	answer := &hermesv1.ListEventsResponse{}
	for i := range events {
		event, err := eventProto(&events[i])
		if err != nil {
			return nil, err
		}
		answer.Events = append(answer.Events, event)
	}
	return answer, nil
}

// StreamEvents sends what has been published and what will be.
func (s *service) StreamEvents(
	req *hermesv1.StreamEventsRequest, stream grpc.ServerStreamingServer[hermesv1.StreamEventsResponse],
) error {
	ctx, cancel := s.streamContext(stream.Context())
	defer cancel()
	send := func(events []memory.Event) error {
		for i := range events {
			event, err := eventProto(&events[i])
			if err != nil {
				return err
			}
			if err := stream.Send(&hermesv1.StreamEventsResponse{Event: event}); err != nil {
				return err
			}
		}
		return nil
	}
	first, err := s.firstEvents(ctx, req.GetSessionId(), req.GetAfter(), eventBatch)
	if err != nil {
		return err
	}
	return s.follow(ctx, req.GetSessionId(), req.GetAfter(), first, send)
}

// serveEvents is GET /v1/conversations/{session}/events: the replies as server-sent events. The id of an event is its
// sequence, so that a browser resumes by itself with Last-Event-ID; ?after= does the same for others.
func (s *Server) serveEvents(w http.ResponseWriter, r *http.Request) {
	sessionID := r.PathValue("session")
	after, err := resumeAfter(r)
	if err != nil {
		s.writeError(w, r, err)
		return
	}
	ctx, cancel := s.streamContext(r.Context())
	defer cancel()
	first, err := s.firstEvents(ctx, sessionID, after, eventBatch)
	if err != nil {
		s.writeError(w, r, err)
		return
	}
	s.metrics.streams.Inc()
	defer s.metrics.streams.Dec()
	header := w.Header()
	header.Set("Content-Type", "text/event-stream; charset=utf-8")
	header.Set("Cache-Control", "no-store")
	header.Set("X-Accel-Buffering", "no") // Nginx would keep events back until its buffer is full.
	out := &eventWriter{w: w, control: http.NewResponseController(w)}
	if err := out.write([]byte("retry: 1000\n\n")); err != nil {
		return
	}
	if err := s.follow(ctx, sessionID, after, first, out.send); err != nil && ctx.Err() == nil {
		s.cfg.Logger.WarnContext(ctx, "event stream ended", "session_id", sessionID, "error", err)
	}
}

// resumeAfter reads where a stream begins. The header goes first: a browser that reconnects repeats the URL with the
// ?after= of its first request, and has seen more since.
func resumeAfter(r *http.Request) (int64, error) {
	name, text := "Last-Event-ID", r.Header.Get("Last-Event-ID")
	if text == "" {
		name, text = "after", r.URL.Query().Get("after")
	}
	if text == "" {
		return 0, nil
	}
	after, err := strconv.ParseInt(text, 10, 64)
	if err != nil || after < 0 {
		return 0, conversation.Errorf(conversation.CodeInvalidArgument,
			"%s %q is not the id of an event: pass on the id of the last one, or nothing", name, text)
	}
	return after, nil
}

// firstEvents returns what is there already. A session without events is checked to exist, because a stream of a
// mistyped session would be silent for ever.
func (s *Server) firstEvents(ctx context.Context, sessionID string, after int64, limit int) ([]memory.Event, error) {
	if err := checkSession(sessionID); err != nil {
		return nil, err
	}
	events, err := s.cfg.Events.Read(ctx, sessionID, after, 0, limit)
	if err != nil || len(events) > 0 {
		return events, err
	}
	_, err = s.describe(ctx, sessionID)
	return nil, err
}

// follow sends first, then everything after it as it comes, and an empty batch whenever nothing came for a heartbeat.
// It returns nil when ctx ends.
func (s *Server) follow(
	ctx context.Context, sessionID string, after int64, first []memory.Event, send func([]memory.Event) error,
) error {
	for events := first; ; {
		if len(events) > 0 {
			after = events[len(events)-1].Sequence
		}
		if err := send(events); err != nil {
			return err
		}
		next, err := s.cfg.Events.Read(ctx, sessionID, after, s.cfg.Heartbeat, eventBatch)
		select {
		case <-ctx.Done():
			return nil // Whatever the read says: it was cut short.
		default:
		}
		if err != nil {
			return err
		}
		events = next
	}
}

// streamContext is ctx until the server closes.
func (s *Server) streamContext(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	go func() {
		select {
		case <-s.closing:
			cancel()
		case <-ctx.Done():
		}
	}()
	return ctx, cancel
}

// eventWriter writes server-sent events.
type eventWriter struct {
	w       http.ResponseWriter
	control *http.ResponseController
}

func (e *eventWriter) send(events []memory.Event) error {
	var out bytes.Buffer
	for i := range events {
		out.WriteString("id: " + strconv.FormatInt(events[i].Sequence, 10) + "\nevent: reply\n")
		// A line feed inside data would end the event early; the format has a line for each.
		for line := range bytes.SplitSeq(events[i].Data, []byte("\n")) {
			out.WriteString("data: ")
			out.Write(bytes.TrimSuffix(line, []byte("\r")))
			out.WriteByte('\n')
		}
		out.WriteByte('\n')
	}
	if len(events) == 0 {
		out.WriteString(": heartbeat\n\n")
	}
	return e.write(out.Bytes())
}

func (e *eventWriter) write(data []byte) error {
	// Where the connection has no deadlines (tests), the write itself fails if it must.
	_ = e.control.SetWriteDeadline(time.Now().Add(eventWriteTimeout))
	if _, err := e.w.Write(data); err != nil {
		return err
	}
	return e.control.Flush()
}

func eventProto(e *memory.Event) (*hermesv1.Event, error) {
	var reply conversation.Reply
	if err := json.Unmarshal(e.Data, &reply); err != nil {
		return nil, conversation.Errorf(conversation.CodeInternal, "event %d is not a reply: %w", e.Sequence, err)
	}
	return &hermesv1.Event{Sequence: e.Sequence, Reply: replyProto(&reply)}, nil
}
