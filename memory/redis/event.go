package redis

import (
	"context"
	_ "embed" // For the script.
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/hermes-orchestrator/hermes/conversation"
	"github.com/hermes-orchestrator/hermes/memory"
)

var _ memory.StreamDriver = (*Store)(nil)

//go:embed publish.lua
var publishScript string

// readSlice is the longest that Redis is asked to wait in one go. The client cannot interrupt a command that waits, so
// this is how soon Read notices that its context was cancelled.
const readSlice = 500 * time.Millisecond

// Publish implements memory.StreamDriver in one Lua script.
func (s *Store) Publish(
	ctx context.Context, sessionID string, sequence int64, data []byte, maxLen int64, ttl time.Duration,
) error {
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	last, err := s.publish.Run(ctx, s.commands, []string{sessionKey(sessionID, "events")},
		strconv.FormatInt(sequence, 10), data, maxLen, ttl.Milliseconds()).Int64()
	if err != nil {
		return memory.Unavailable(ctx, "redis", "publish", err)
	}
	if last != 0 {
		return conversation.Errorf(conversation.CodeConflict,
			"redis publish: event %d of session %q comes after event %d: publish in order", sequence, sessionID, last)
	}
	return nil
}

// Read implements memory.StreamDriver.
func (s *Store) Read(
	ctx context.Context, sessionID string, after int64, block time.Duration, limit int,
) ([]memory.Event, error) {
	for {
		slice := min(block, readSlice)
		events, err := s.readOnce(ctx, sessionID, after, slice, limit)
		block -= slice
		if err != nil || len(events) > 0 || block <= 0 {
			return events, err
		}
		if err := ctx.Err(); err != nil {
			return nil, memory.Unavailable(ctx, "redis", "read", err)
		}
	}
}

func (s *Store) readOnce(
	ctx context.Context, sessionID string, after int64, block time.Duration, limit int,
) ([]memory.Event, error) {
	client := s.readers
	if block <= 0 {
		client, block = s.commands, -1 // Less than 0 does not wait; 0 would wait for ever.
	} else if block < time.Millisecond {
		block = time.Millisecond
	}
	ctx, cancel := context.WithTimeout(ctx, s.timeout+max(block, 0))
	defer cancel()
	streams, err := client.XRead(ctx, &redis.XReadArgs{
		Streams: []string{sessionKey(sessionID, "events"), strconv.FormatInt(after, 10) + "-1"},
		Count:   int64(limit), Block: block,
	}).Result()
	if errors.Is(err, redis.Nil) {
		return nil, nil
	}
	if err != nil {
		return nil, memory.Unavailable(ctx, "redis", "read", err)
	}
	var events []memory.Event
	for _, stream := range streams {
		for _, message := range stream.Messages {
			event, err := readEvent(message)
			if err != nil {
				return nil, err
			}
			events = append(events, event)
		}
	}
	return events, nil
}

func readEvent(message redis.XMessage) (memory.Event, error) {
	number, _, _ := strings.Cut(message.ID, "-")
	sequence, err := strconv.ParseInt(number, 10, 64)
	data, ok := message.Values["data"].(string)
	if err != nil || !ok {
		return memory.Event{}, conversation.Errorf(conversation.CodeInternal,
			"redis read: stream entry %q is not one that Hermes writes", message.ID)
	}
	return memory.Event{Sequence: sequence, Data: []byte(data)}, nil
}
