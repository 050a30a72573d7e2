package redis

import (
	"context"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/hermes-orchestrator/hermes/conversation"
	"github.com/hermes-orchestrator/hermes/memory"
)

var _ memory.Cache = (*Cache)(nil)

// Cache is a memory.Cache, and with the same methods the answer cache of package tool.
type Cache struct {
	store *Store
}

// Cache returns the cache that is kept in this Redis. It lives as long as the Store.
func (s *Store) Cache() *Cache { return &Cache{store: s} }

// Get implements memory.Cache.
func (c *Cache) Get(ctx context.Context, key string) ([]byte, time.Time, bool, error) {
	ctx, cancel := context.WithTimeout(ctx, c.store.timeout)
	defer cancel()
	fields, err := c.store.commands.HGetAll(ctx, cacheKey(key)).Result()
	if err != nil {
		return nil, time.Time{}, false, memory.Unavailable(ctx, "redis", "cache get", err)
	}
	if len(fields) == 0 {
		return nil, time.Time{}, false, nil
	}
	at, err := time.Parse(time.RFC3339Nano, fields["at"])
	if err != nil {
		return nil, time.Time{}, false, conversation.Errorf(conversation.CodeInternal,
			"redis cache get: the entry is not one that Hermes writes: %w", err)
	}
	return []byte(fields["data"]), at, true, nil
}

// Put implements memory.Cache.
func (c *Cache) Put(ctx context.Context, key string, data []byte, at time.Time, ttl time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, c.store.timeout)
	defer cancel()
	_, err := c.store.commands.TxPipelined(ctx, func(tx redis.Pipeliner) error {
		tx.HSet(ctx, cacheKey(key), "data", data, "at", at.UTC().Format(time.RFC3339Nano))
		if ttl > 0 {
			tx.PExpire(ctx, cacheKey(key), max(ttl, time.Millisecond))
		} else {
			tx.Persist(ctx, cacheKey(key))
		}
		return nil
	})
	return memory.Unavailable(ctx, "redis", "cache put", err)
}

func cacheKey(key string) string { return "hermes:cache:" + memory.Key(key) }
