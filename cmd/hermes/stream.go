package main

import (
	"bufio"
	"context"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/hermes-orchestrator/hermes/conversation"
)

// reconnectPause is how long a broken stream waits before it is opened again.
const reconnectPause = time.Second

// follow sends the events of a session after a sequence to events until ctx ends. It opens the stream again, behind the
// last event, whenever it breaks.
func (c *apiClient) follow(ctx context.Context, session string, after int64, events chan<- event) {
	for ctx.Err() == nil {
		after = c.followOnce(ctx, session, after, events)
		select {
		case <-ctx.Done():
		case <-time.After(reconnectPause):
		}
	}
}

// followOnce follows one connection to its end, and returns the last sequence that it saw.
func (c *apiClient) followOnce(ctx context.Context, session string, after int64, events chan<- event) int64 {
	path := sessionPath(session, "events?after="+strconv.FormatInt(after, 10))
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, c.base+path, nil)
	if err != nil {
		return after
	}
	got, err := c.http.Do(request)
	if err != nil {
		return after
	}
	defer func() { _ = got.Body.Close() }() // It was only read.
	if got.StatusCode != http.StatusOK {
		return after
	}
	var id int64
	var data strings.Builder
	for in := bufio.NewReader(got.Body); ; {
		line, err := in.ReadString('\n')
		if err != nil {
			return after
		}
		line = strings.TrimRight(line, "\r\n")
		field, value, _ := strings.Cut(line, ":")
		value = strings.TrimPrefix(value, " ")
		switch field {
		case "id":
			if id, err = strconv.ParseInt(value, 10, 64); err != nil {
				return after
			}
		case "data":
			data.WriteString(value + "\n")
		case "": // The line that ends an event, or a comment.
			if line != "" || data.Len() == 0 {
				continue
			}
			var reply conversation.Reply
			if err := json.Unmarshal([]byte(data.String()), &reply); err == nil {
				select {
				case events <- event{id, reply}:
				case <-ctx.Done():
					return after
				}
			}
			after = id
			data.Reset()
		}
	}
}
