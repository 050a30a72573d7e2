// Package redis keeps what is volatile in Redis: sessions (compare-and-swap, SPEC C7), event streams, and the cache of
// tools' last good answers. It imports memory and the Redis client only.
//
// All keys of one session share a hash tag, so that the scripts also work on Redis Cluster:
//
//	hermes:{<session>}:session        hash: revision, state, updated, and the writers of the last 64 revisions
//	hermes:{<session>}:state:<state>  hash: revision, writer, updated of the last change that left that state
//	hermes:{<session>}:events         stream: entry <sequence>-1 with the field data
//	hermes:cache:<key>                hash: data, at
package redis

import (
	"context"
	"crypto/tls"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"

	"github.com/hermes-orchestrator/hermes/conversation"
	"github.com/hermes-orchestrator/hermes/memory"
)

// DefaultReaders is how many listeners may wait for events at the same time.
const DefaultReaders = 1000

// Config says where Redis is.
type Config struct {
	// Addr is "host:port", or a URL "redis://user:password@host:port/db" (rediss:// for TLS) whose parts go before the
	// fields below.
	Addr     string
	Username string
	Password string
	DB       int
	// TLS is for servers with transport security; nil connects without.
	TLS *tls.Config
	// Timeout bounds dialling and each operation, in addition to the time that Read was asked to wait. Defaults to
	// memory.DefaultTimeout.
	Timeout time.Duration
	// Readers is how many Read calls may wait at the same time; each has a connection of its own while it waits, taken
	// from a separate pool so that listeners never keep a session from being written. Defaults to DefaultReaders.
	Readers int
}

// Store is a connection to Redis. It is a memory.SessionDriver and a memory.StreamDriver; Cache returns a memory.Cache.
// Safe for concurrent use.
type Store struct {
	commands *redis.Client
	readers  *redis.Client
	timeout  time.Duration
	swap     *redis.Script
	publish  *redis.Script
}

// Open returns a Store. It does not wait for the server; Ping tells whether it answers.
func Open(cfg Config) (*Store, error) {
	if cfg.Addr == "" {
		return nil, conversation.Errorf(conversation.CodeInvalidConfig, "redis: addr is empty: give host:port")
	}
	if cfg.Timeout <= 0 {
		cfg.Timeout = memory.DefaultTimeout
	}
	if cfg.Readers <= 0 {
		cfg.Readers = DefaultReaders
	}
	options := &redis.Options{
		Addr: cfg.Addr, Username: cfg.Username, Password: cfg.Password, DB: cfg.DB, TLSConfig: cfg.TLS,
	}
	if strings.Contains(cfg.Addr, "://") {
		parsed, err := redis.ParseURL(cfg.Addr)
		if err != nil { // The URL may hold a password, so it is not repeated.
			return nil, conversation.Errorf(conversation.CodeInvalidConfig,
				"redis: addr is not a URL of the form redis://host:port/db: %w", err)
		}
		options = parsed
	}
	options.DialTimeout, options.ReadTimeout, options.WriteTimeout = cfg.Timeout, cfg.Timeout, cfg.Timeout
	options.PoolTimeout = cfg.Timeout
	options.ContextTimeoutEnabled = true
	// One retry covers a pooled connection that the server has closed; all operations may be repeated. More is the
	// caller's to decide (SPEC T7).
	options.MaxRetries, options.DialerRetries = 1, 1
	// Nothing but the commands below is sent: older servers and proxies refuse the rest.
	options.DisableIdentity = true
	options.MaintNotificationsConfig = &maintnotifications.Config{Mode: maintnotifications.ModeDisabled}

	readers := *options
	readers.PoolSize = cfg.Readers
	return &Store{
		commands: redis.NewClient(options), readers: redis.NewClient(&readers), timeout: cfg.Timeout,
		swap: redis.NewScript(swapScript), publish: redis.NewScript(publishScript),
	}, nil
}

// Close ends the connections. The Store is not usable afterwards.
func (s *Store) Close() error {
	err := s.commands.Close()
	if readersErr := s.readers.Close(); err == nil {
		err = readersErr
	}
	return memory.Unavailable(context.Background(), "redis", "close", err)
}

// Ping returns CodeMemoryUnavailable unless Redis answers.
func (s *Store) Ping(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	return memory.Unavailable(ctx, "redis", "ping", s.commands.Ping(ctx).Err())
}

// sessionKey is a key of a session. memory.Key escapes braces, so the tag ends where it should.
func sessionKey(sessionID string, parts ...string) string {
	return "hermes:{" + memory.Key(sessionID) + "}:" + memory.Key(parts...)
}
