package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/hermes-orchestrator/hermes/conversation"
)

// apiClient speaks HTTP/JSON with a starter (docs/api.md). Errors are *conversation.Error: those of the server with
// the server's code.
type apiClient struct {
	base string
	http *http.Client
}

func newClient(server string) (*apiClient, error) {
	u, err := url.Parse(server)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, conversation.Errorf(conversation.CodeInvalidArgument,
			"--server %q is not a URL such as %q", server, defaultServer)
	}
	// No time limit: a reply may take as long as tools take, and event streams have no end.
	return &apiClient{base: strings.TrimRight(server, "/"), http: &http.Client{}}, nil
}

// startRequest is the body of POST /v1/conversations.
type startRequest struct {
	UserID    string `json:"user_id"`
	SessionID string `json:"session_id,omitempty"`
	Flow      string `json:"flow,omitempty"`
	Locale    string `json:"locale,omitempty"`
	Zone      string `json:"zone,omitempty"`
}

type startAnswer struct {
	SessionID  string `json:"session_id"`
	WorkflowID string `json:"workflow_id"`
	Created    bool   `json:"created"`
}

func (c *apiClient) start(ctx context.Context, req startRequest) (startAnswer, error) {
	var answer startAnswer
	err := c.postJSON(ctx, "/v1/conversations", req, &answer)
	return answer, err
}

func (c *apiClient) send(ctx context.Context, session string, m conversation.UserMessage) (conversation.Reply, error) {
	var reply conversation.Reply
	err := c.postJSON(ctx, sessionPath(session, "messages"), m, &reply)
	return reply, err
}

// upload sends a file. What it is, the server sees from its bytes.
func (c *apiClient) upload(ctx context.Context, path string) (conversation.Attachment, error) {
	var attachment conversation.Attachment
	file, err := os.Open(path)
	if err != nil {
		return attachment, conversation.Errorf(conversation.CodeInvalidArgument, "upload: %w", err)
	}
	defer func() { _ = file.Close() }() // It was only read.
	query := url.Values{"name": {filepath.Base(path)}}
	err = c.do(ctx, http.MethodPost, "/v1/files?"+query.Encode(), "application/octet-stream", file, &attachment)
	return attachment, err
}

// pathAnswer is the body of GET …/path.
type pathAnswer struct {
	Path  string            `json:"path"`
	Steps conversation.Path `json:"steps"`
}

func (c *apiClient) path(ctx context.Context, session string) (pathAnswer, error) {
	var answer pathAnswer
	err := c.do(ctx, http.MethodGet, sessionPath(session, "path"), "", nil, &answer)
	return answer, err
}

// event is a published reply and its place in the stream of the session.
type event struct {
	sequence int64
	reply    conversation.Reply
}

// published returns the events that a session has already, newest last.
func (c *apiClient) published(ctx context.Context, session string) ([]event, error) {
	var answer struct {
		Events []struct {
			Sequence string             `json:"sequence"` // 64 bits: a text in JSON.
			Reply    conversation.Reply `json:"reply"`
		} `json:"events"`
	}
	err := c.do(ctx, http.MethodGet, sessionPath(session, "events/list?page_size=1000"), "", nil, &answer)
	if err != nil {
		return nil, err
	}
	events := make([]event, 0, len(answer.Events))
	for _, e := range answer.Events {
		sequence, err := strconv.ParseInt(e.Sequence, 10, 64)
		if err != nil {
			return nil, conversation.Errorf(conversation.CodeInternal, "event sequence %q: %w", e.Sequence, err)
		}
		events = append(events, event{sequence, e.Reply})
	}
	return events, nil
}

func sessionPath(session, rest string) string {
	return "/v1/conversations/" + url.PathEscape(session) + "/" + rest
}

func (c *apiClient) postJSON(ctx context.Context, path string, body, answer any) error {
	data, err := json.Marshal(body)
	if err != nil {
		return conversation.Errorf(conversation.CodeInternal, "request %q: %w", path, err)
	}
	return c.do(ctx, http.MethodPost, path, "application/json", bytes.NewReader(data), answer)
}

func (c *apiClient) do(ctx context.Context, method, path, mediaType string, body io.Reader, answer any) error {
	request, err := http.NewRequestWithContext(ctx, method, c.base+path, body)
	if err != nil {
		return conversation.Errorf(conversation.CodeInvalidArgument, "request: %w", err)
	}
	if mediaType != "" {
		request.Header.Set("Content-Type", mediaType)
	}
	got, err := c.http.Do(request)
	if err != nil {
		return conversation.Errorf(conversation.CodeUnavailable,
			"the starter at %q does not answer: %w: is it running, and is --server right?", c.base, err)
	}
	defer func() { _ = got.Body.Close() }() // It was only read.
	if got.StatusCode/100 != 2 {
		return refusal(got)
	}
	if err := json.NewDecoder(got.Body).Decode(answer); err != nil {
		return conversation.Errorf(conversation.CodeInternal, "answer of %q is not readable: %w", c.base, err)
	}
	return nil
}

// refusal reads the error of an answer.
func refusal(got *http.Response) error {
	var body struct {
		Error *conversation.Error `json:"error"`
	}
	if err := json.NewDecoder(got.Body).Decode(&body); err != nil || body.Error == nil {
		return conversation.Errorf(conversation.CodeUnavailable,
			"the server answers %q: is --server a Hermes starter?", got.Status)
	}
	return body.Error
}

// isCode reports whether err has that code.
func isCode(err error, code conversation.Code) bool {
	return errors.Is(err, &conversation.Error{Code: code})
}
