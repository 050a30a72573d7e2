// Package etcd keeps mid-term memory in etcd (SPEC M2). It imports memory and the etcd client only.
package etcd

import (
	"context"
	"crypto/tls"
	"errors"
	"math"
	"slices"
	"time"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"

	"github.com/hermes-orchestrator/hermes/conversation"
	"github.com/hermes-orchestrator/hermes/memory"
)

// Config says where etcd is.
type Config struct {
	// Endpoints are "host:port" or URLs, at least one.
	Endpoints []string
	// Username and Password are for servers with authentication; empty otherwise.
	Username string
	Password string
	// TLS is for servers with transport security; nil connects without.
	TLS *tls.Config
	// Namespace is put before every key, so that several installations can share a cluster. Defaults to none.
	Namespace string
	// Timeout bounds dialling and each operation. Defaults to memory.DefaultTimeout.
	Timeout time.Duration
}

func (c Config) validate() error {
	if len(c.Endpoints) == 0 {
		return conversation.Errorf(conversation.CodeInvalidConfig, "etcd: no endpoints: give at least one host:port")
	}
	if slices.Contains(c.Endpoints, "") {
		return conversation.Errorf(conversation.CodeInvalidConfig, "etcd: one of the endpoints %q is empty", c.Endpoints)
	}
	return nil
}

var _ memory.KV = (*KV)(nil)

// KV is a memory.KV over etcd. Revisions are etcd's modification revisions, expiry is by leases (whole seconds, rounded
// up). Safe for concurrent use.
type KV struct {
	client    *clientv3.Client
	namespace string
	timeout   time.Duration
}

// Open returns a KV. It does not wait for the server: a conversation without mid-term memory goes on, degraded, until
// etcd is back. Ping tells whether it answers.
func Open(cfg Config) (*KV, error) {
	if err := cfg.validate(); err != nil {
		return nil, err
	}
	if cfg.Timeout <= 0 {
		cfg.Timeout = memory.DefaultTimeout
	}
	client, err := clientv3.New(clientv3.Config{
		Endpoints: cfg.Endpoints, Username: cfg.Username, Password: cfg.Password, TLS: cfg.TLS,
		DialTimeout: cfg.Timeout, DialKeepAliveTime: 30 * time.Second, DialKeepAliveTimeout: cfg.Timeout,
		// Few retries inside an operation: the caller's retry policy is the one that counts (SPEC T7).
		MaxUnaryRetries: 2, BackoffWaitBetween: 20 * time.Millisecond,
		Logger: zap.NewNop(), // Every failure is returned.
	})
	if err != nil {
		return nil, memory.Unavailable(context.Background(), "etcd", "open", err)
	}
	return &KV{client: client, namespace: cfg.Namespace, timeout: cfg.Timeout}, nil
}

// Close ends the connections. The KV is not usable afterwards.
func (kv *KV) Close() error {
	return memory.Unavailable(context.Background(), "etcd", "close", kv.client.Close())
}

// Ping returns CodeMemoryUnavailable unless etcd answers a linearizable read.
func (kv *KV) Ping(ctx context.Context) error {
	_, _, _, err := kv.Get(ctx, "ping")
	return err
}

// Get implements memory.KV.
func (kv *KV) Get(ctx context.Context, key string) ([]byte, int64, bool, error) {
	ctx, cancel := context.WithTimeout(ctx, kv.timeout)
	defer cancel()
	response, err := kv.client.Get(ctx, kv.namespace+key)
	if err != nil {
		return nil, 0, false, coded(ctx, "get", err)
	}
	if len(response.Kvs) == 0 {
		return nil, 0, false, nil
	}
	return response.Kvs[0].Value, response.Kvs[0].ModRevision, true, nil
}

// List implements memory.KV.
func (kv *KV) List(ctx context.Context, prefix string) ([]memory.Item, error) {
	ctx, cancel := context.WithTimeout(ctx, kv.timeout)
	defer cancel()
	response, err := kv.client.Get(ctx, kv.namespace+prefix, clientv3.WithPrefix())
	if err != nil {
		return nil, coded(ctx, "list", err)
	}
	items := make([]memory.Item, len(response.Kvs))
	for i, pair := range response.Kvs {
		items[i] = memory.Item{
			Key: string(pair.Key[len(kv.namespace):]), Value: pair.Value, Revision: pair.ModRevision,
		}
	}
	return items, nil
}

// Put implements memory.KV.
func (kv *KV) Put(
	ctx context.Context, key string, value []byte, expected int64, ttl time.Duration,
) (int64, error) {
	if err := memory.CheckValue("etcd", value); err != nil {
		return 0, err
	}
	ctx, cancel := context.WithTimeout(ctx, kv.timeout)
	defer cancel()
	options := []clientv3.OpOption{clientv3.WithPrevKV()}
	lease := clientv3.NoLease
	if ttl > 0 {
		granted, err := kv.client.Grant(ctx, int64(math.Ceil(ttl.Seconds())))
		if err != nil {
			return 0, coded(ctx, "put", err)
		}
		lease = granted.ID
		options = append(options, clientv3.WithLease(granted.ID))
	}
	txn := kv.client.Txn(ctx)
	if expected != memory.AnyRevision {
		// An absent key compares as revision 0, which is memory.AbsentRevision.
		txn = txn.If(clientv3.Compare(clientv3.ModRevision(kv.namespace+key), "=", expected))
	}
	response, err := txn.Then(clientv3.OpPut(kv.namespace+key, string(value), options...)).Commit()
	if err != nil {
		// Whether it was written is unknown, so the lease stays: revoking it could delete the entry.
		return 0, coded(ctx, "put", err)
	}
	if !response.Succeeded {
		kv.revoke(ctx, lease)
		return 0, conversation.Errorf(conversation.CodeConflict,
			"etcd put: the revision is not the expected %d: read again", expected)
	}
	if previous := response.Responses[0].GetResponsePut().GetPrevKv(); previous != nil {
		kv.revoke(ctx, clientv3.LeaseID(previous.Lease))
	}
	return response.Header.Revision, nil
}

// Delete implements memory.KV.
func (kv *KV) Delete(ctx context.Context, key string) error {
	ctx, cancel := context.WithTimeout(ctx, kv.timeout)
	defer cancel()
	response, err := kv.client.Delete(ctx, kv.namespace+key, clientv3.WithPrevKV())
	if err != nil {
		return coded(ctx, "delete", err)
	}
	for _, previous := range response.PrevKvs {
		kv.revoke(ctx, clientv3.LeaseID(previous.Lease))
	}
	return nil
}

// revoke gives back a lease that no key has any more: each lease has one key, and that one was replaced or removed. It
// is housekeeping: a lease that stays ends by itself, so an error changes nothing for the caller.
func (kv *KV) revoke(ctx context.Context, lease clientv3.LeaseID) {
	if lease != clientv3.NoLease {
		_, _ = kv.client.Revoke(ctx, lease)
	}
}

func coded(ctx context.Context, operation string, err error) error {
	// The limit of the server may be set lower than memory.MaxValueBytes.
	if errors.Is(err, rpctypes.ErrRequestTooLarge) {
		return conversation.Errorf(conversation.CodeTooLarge, "etcd %s: %w", operation, err)
	}
	return memory.Unavailable(ctx, "etcd", operation, err)
}
