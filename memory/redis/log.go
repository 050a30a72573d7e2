package redis

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/redis/go-redis/v9"
)

// LogTo makes the Redis client library log to logger, at debug level: every failure is returned as well. The library
// has one logger for the whole process, so this is for a main program to call, once, before Open; otherwise it writes
// lines of its own to standard error.
func LogTo(logger *slog.Logger) { redis.SetLogger(bridge{logger}) }

type bridge struct{ logger *slog.Logger }

func (b bridge) Printf(ctx context.Context, format string, v ...any) {
	//nolint:sloglint // The library makes the message.
	b.logger.DebugContext(ctx, fmt.Sprintf(format, v...), "component", "redis")
}
