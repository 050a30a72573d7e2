package server

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"strconv"
	"time"

	"github.com/hermes-orchestrator/hermes/conversation"
	"github.com/hermes-orchestrator/hermes/tool"
)

const (
	// asyncTimeout bounds an accepted call whose caller named no time limit.
	asyncTimeout = 10 * time.Minute
	// deliveryTimeout bounds one attempt to deliver.
	deliveryTimeout = 10 * time.Second
	// maxBackoffFactor bounds how far the pauses between attempts grow.
	maxBackoffFactor = 64
	// defaultEstimate is told while nothing was measured.
	defaultEstimate = 30 * time.Second
)

// accept starts a call that is answered later. A repeated request for a call in progress gets the same answer and
// starts nothing: the caller may not have seen the first.
func (s *Server) accept(operation compiled, call *Call, callback string, timeout time.Duration) (int, []byte) {
	if timeout <= 0 {
		timeout = asyncTimeout
	}
	key := operation.Name + "\n" + call.MessageID
	estimate := s.estimate(operation, call)

	s.mu.Lock()
	defer s.mu.Unlock()
	earlier, repeated := s.accepted[key]
	var refused *failure
	switch {
	case repeated:
		estimate = earlier
	case s.closed:
		refused = fail(http.StatusServiceUnavailable, CodeUnavailable, true, "the tool is shutting down")
	case len(s.accepted) >= s.config.MaxAsync:
		refused = fail(http.StatusTooManyRequests, CodeBusy, true, "%d calls are in progress already", len(s.accepted))
	default:
		s.accepted[key] = estimate
		s.jobs.Go(func() {
			defer s.forget(key)
			s.work(operation, call, callback, timeout)
		})
	}
	if refused != nil {
		return refused.status, failureBody(refused, measured{})
	}
	diagnostics := measured{}.diagnostics()
	body, err := marshal(tool.AnswerBody{
		Status: conversation.AnswerProcessing, EstimatedTime: estimate.String(), Diagnostics: &diagnostics,
	})
	if err != nil { // Strings and figures always can be written.
		f := fail(http.StatusInternalServerError, CodeInternal, true, "the answer cannot be written")
		return f.status, failureBody(f, measured{})
	}
	return http.StatusAccepted, body
}

func (s *Server) forget(key string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.accepted, key)
}

// estimate is rounded up to seconds: it is told to people.
func (s *Server) estimate(operation compiled, call *Call) time.Duration {
	estimate := s.stats.latency(operation.Name) * time.Duration(call.items(operation.Batch))
	if operation.Estimate != nil {
		estimate = operation.Estimate(call)
	}
	if estimate <= 0 {
		estimate = defaultEstimate
	}
	return (estimate + time.Second - 1).Truncate(time.Second)
}

func (s *Server) work(operation compiled, call *Call, callback string, timeout time.Duration) {
	ctx, cancel := context.WithTimeout(s.lifetime, timeout)
	defer cancel()
	status, body := s.run(ctx, operation, call)
	s.deliver(callback, operation.Name, call.MessageID, status, body)
}

// deliver offers a late answer until the receiver takes it, the attempts are used up, or the server is closed.
func (s *Server) deliver(callback, operation, messageID string, status int, body []byte) {
	logger := s.logger.With("operation", operation, "message_id", messageID)
	signature, err := tool.Sign(s.config.Key, s.config.KeyID, s.config.Name, messageID, status, body)
	if err != nil {
		logger.Error("late answer cannot be signed", "error", err)
		return
	}
	pause := s.config.CallbackBackoff
	for attempt := 1; ; attempt++ {
		got, err := s.post(callback, messageID, status, signature, body)
		switch {
		case s.lifetime.Err() != nil:
			logger.Warn("late answer not delivered: the tool is shutting down")
			return
		case err == nil && got >= 200 && got < 300:
			logger.Debug("late answer delivered", "attempt", attempt)
			return
		case err == nil && got == http.StatusGone:
			logger.Warn("late answer not delivered: nobody waits for it any more")
			return
		case attempt >= s.config.CallbackAttempts:
			logger.Error("late answer not delivered: attempts are used up", "attempts", attempt, "status", got, "error",
				err)
			return
		}
		logger.Warn("late answer was not taken, it is offered again", "attempt", attempt, "status", got, "error", err)
		timer := time.NewTimer(pause)
		select {
		case <-timer.C:
		case <-s.lifetime.Done():
			timer.Stop()
		}
		pause = min(2*pause, maxBackoffFactor*s.config.CallbackBackoff)
	}
}

func (s *Server) post(callback, messageID string, status int, signature string, body []byte) (int, error) {
	ctx, cancel := context.WithTimeout(s.lifetime, deliveryTimeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, callback, bytes.NewReader(body))
	if err != nil {
		return 0, err
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set(tool.HeaderMessageID, messageID)
	request.Header.Set(tool.HeaderSignature, signature)
	request.Header.Set(tool.HeaderStatus, strconv.Itoa(status))
	response, err := s.config.HTTP.Do(request)
	if err != nil {
		return 0, err
	}
	defer response.Body.Close()
	// Read a little, so that the connection can be used again.
	if _, err := io.CopyN(io.Discard, response.Body, 4<<10); err != nil && !errors.Is(err, io.EOF) {
		s.logger.Debug("answer to a delivery ended early", "error", err)
	}
	return response.StatusCode, nil
}
