package stack

import (
	"context"

	"github.com/alicebob/miniredis/v2"
)

// startRedis starts the built-in Redis. It holds volatile data only: sessions, caches, event streams.
func (s *Stack) startRedis(context.Context) error {
	if s.options.RedisAddress != "" {
		s.redisAddress = s.options.RedisAddress
		return nil
	}
	server := miniredis.NewMiniRedis()
	// Without it, keys expire only when a test says so.
	server.ClockTTL(true)
	if err := server.StartAddr(Address(s.options.RedisPort)); err != nil {
		return portError("Redis", FlagRedisPort, s.options.RedisPort, err)
	}
	s.redisAddress = server.Addr()
	s.onClose("stop Redis", func() error {
		server.Close()
		return nil
	})
	return nil
}

// RedisAddress is the host:port of Redis: the built-in one or that of the options.
func (s *Stack) RedisAddress() string { return s.redisAddress }
