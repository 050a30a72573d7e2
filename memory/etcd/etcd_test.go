package etcd_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/hermes-orchestrator/hermes/conversation"
	"github.com/hermes-orchestrator/hermes/memory"
	"github.com/hermes-orchestrator/hermes/memory/etcd"
	"github.com/hermes-orchestrator/hermes/memory/memorytest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func open(t *testing.T, cfg etcd.Config) *etcd.KV {
	t.Helper()
	kv, err := etcd.Open(cfg)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, kv.Close()) })
	return kv
}

func TestKV_Server(t *testing.T) {
	t.Parallel()
	address := memorytest.Server(t, memorytest.Etcd)
	memorytest.KV(t, func(t *testing.T) memory.KV {
		return open(t, etcd.Config{Endpoints: []string{address}})
	}, nil)
}

func TestKV_Namespace(t *testing.T) {
	t.Parallel()
	address := memorytest.Server(t, memorytest.Etcd)
	memorytest.KV(t, func(t *testing.T) memory.KV {
		return open(t, etcd.Config{Endpoints: []string{address}, Namespace: memorytest.Fresh("ns") + "/"})
	}, nil)
}

func TestPing(t *testing.T) {
	t.Parallel()
	address := memorytest.Server(t, memorytest.Etcd)
	require.NoError(t, open(t, etcd.Config{Endpoints: []string{address}}).Ping(t.Context()))
}

func TestDown(t *testing.T) {
	t.Parallel()
	memorytest.Down(t, func(t *testing.T, address string) map[string]func(context.Context) error {
		kv := open(t, etcd.Config{Endpoints: []string{address}, Timeout: memorytest.DownTimeout})
		return map[string]func(context.Context) error{
			"ping": kv.Ping,
			"get":  func(ctx context.Context) error { _, _, _, err := kv.Get(ctx, "k"); return err },
			"list": func(ctx context.Context) error { _, err := kv.List(ctx, "k"); return err },
			"put": func(ctx context.Context) error {
				_, err := kv.Put(ctx, "k", nil, memory.AnyRevision, memorytest.DownTimeout)
				return err
			},
			"delete": func(ctx context.Context) error { return kv.Delete(ctx, "k") },
		}
	})
}

func TestOpen_InvalidConfig(t *testing.T) {
	t.Parallel()
	for _, cfg := range []etcd.Config{{}, {Endpoints: []string{""}}} {
		_, err := etcd.Open(cfg)
		require.Equal(t, conversation.CodeInvalidConfig, conversation.CodeOf(err))
	}
}
