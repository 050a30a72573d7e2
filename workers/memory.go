package workers

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/hermes-orchestrator/hermes/conversation"
	"github.com/hermes-orchestrator/hermes/internal/config"
	"github.com/hermes-orchestrator/hermes/memory"
	"github.com/hermes-orchestrator/hermes/memory/blob"
	"github.com/hermes-orchestrator/hermes/memory/etcd"
	"github.com/hermes-orchestrator/hermes/memory/neo4j"
	"github.com/hermes-orchestrator/hermes/memory/redis"
	"github.com/hermes-orchestrator/hermes/memory/sqlite"
)

// Memory is every tier that a process needs, opened from its configuration.
type Memory struct {
	Midterm  *memory.Midterm
	Sessions *memory.Sessions
	Events   *memory.Events
	Cache    memory.Cache
	Graph    *memory.Graph
	Files    *blob.Store

	close []func() error
}

// OpenMemory opens all tiers. Servers are not waited for: what is down is down for the calls that need it, and named
// there.
func OpenMemory(ctx context.Context, cfg config.Config) (*Memory, error) {
	m := &Memory{}
	kv, err := etcd.Open(etcd.Config{Endpoints: cfg.EtcdEndpoints, Namespace: cfg.EtcdNamespace})
	if err != nil {
		return nil, err
	}
	m.close = append(m.close, kv.Close)
	m.Midterm = memory.NewMidterm(kv, memory.MidtermConfig{})

	store, err := redis.Open(redis.Config{Addr: cfg.RedisAddress, Password: cfg.RedisPassword})
	if err != nil {
		return nil, m.closeAfter(err)
	}
	m.close = append(m.close, store.Close)
	m.Sessions = memory.NewSessions(store, memory.SessionsConfig{})
	m.Events = memory.NewEvents(store, memory.EventsConfig{})
	m.Cache = store.Cache()

	graph, closeGraph, err := openGraph(ctx, cfg)
	if err != nil {
		return nil, m.closeAfter(err)
	}
	m.close = append(m.close, closeGraph)
	m.Graph = memory.NewGraph(graph)

	if m.Files, err = blob.Open(ctx, blob.Config{URL: cfg.BlobURL}); err != nil {
		return nil, m.closeAfter(err)
	}
	m.close = append(m.close, m.Files.Close)
	return m, nil
}

func openGraph(ctx context.Context, cfg config.Config) (memory.GraphDriver, func() error, error) {
	if path, ok := strings.CutPrefix(cfg.GraphURL, "sqlite:"); ok {
		graph, err := sqlite.Open(ctx, sqlite.Config{Path: path})
		if err != nil {
			return nil, nil, err
		}
		return graph, graph.Close, nil
	}
	graph, err := neo4j.Open(neo4j.Config{URI: cfg.GraphURL, Username: cfg.GraphUser, Password: cfg.GraphPassword})
	if err != nil {
		return nil, nil, err
	}
	// Constraints and query plans take a cold server seconds: no conversation should be the one that waits. A server
	// that is down now is prepared by the first operation instead.
	if err := graph.Prepare(ctx); err != nil && !conversation.CodeOf(err).Retryable() {
		return nil, nil, errors.Join(err, graph.Close())
	}
	return graph, graph.Close, nil
}

func (m *Memory) closeAfter(err error) error {
	_ = m.Close()
	return err
}

// Close closes what OpenMemory opened, in reverse order, and returns the first error.
func (m *Memory) Close() error {
	var first error
	for _, closeStore := range slices.Backward(m.close) {
		if err := closeStore(); err != nil && first == nil {
			first = conversation.Errorf(conversation.CodeInternal, "close memory: %w", err)
		}
	}
	m.close = nil
	return first
}
