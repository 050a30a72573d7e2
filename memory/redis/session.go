package redis

import (
	"context"
	_ "embed" // For the script.
	"strconv"
	"time"

	"github.com/hermes-orchestrator/hermes/conversation"
	"github.com/hermes-orchestrator/hermes/memory"
)

var _ memory.SessionDriver = (*Store)(nil)

//go:embed swap.lua
var swapScript string

// Swap implements memory.SessionDriver in one Lua script.
func (s *Store) Swap(
	ctx context.Context, key memory.SessionKey, expected int64, writer string, ttl time.Duration,
) (conversation.Accepted, error) {
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	keys := []string{sessionKey(key.SessionID, "session"), sessionKey(key.SessionID, "state", string(key.State))}
	answer, err := s.swap.Run(ctx, s.commands, keys,
		strconv.FormatInt(expected, 10), writer, string(key.State), ttl.Milliseconds(),
		time.Now().UTC().Format(time.RFC3339Nano)).Slice()
	if err != nil {
		return conversation.Accepted{}, memory.Unavailable(ctx, "redis", "swap", err)
	}
	revision, conflict, winner, ok := readSwap(answer)
	if !ok {
		return conversation.Accepted{}, conversation.Errorf(conversation.CodeInternal,
			"redis swap: the script answered %v", answer)
	}
	return conversation.Accepted{Revision: revision, Conflict: conflict, Winner: winner}, nil
}

func readSwap(answer []any) (revision int64, conflict bool, winner string, ok bool) {
	if len(answer) != 3 {
		return 0, false, "", false
	}
	revision, isRevision := answer[0].(int64)
	flag, isFlag := answer[1].(int64)
	winner, isWinner := answer[2].(string)
	return revision, flag == 1, winner, isRevision && isFlag && isWinner
}
