package stack

import (
	"context"
	"net/url"
	"path/filepath"

	"go.etcd.io/etcd/server/v3/embed"
	"go.uber.org/zap/zapcore"

	"github.com/hermes-orchestrator/hermes/conversation"
)

// startEtcd starts a cluster of one and waits until it takes writes.
func (s *Stack) startEtcd(ctx context.Context) error {
	log, err := s.openLog(etcdLog, zapcore.WriteThenPanic)
	if err != nil {
		return err
	}
	config := embed.NewConfig()
	config.Name = "hermes-dev"
	config.Dir = filepath.Join(s.dir, etcdDir)
	config.ZapLoggerBuilder = embed.NewZapLoggerBuilder(log)
	client := url.URL{Scheme: "http", Host: Address(s.options.EtcdPort)}
	config.ListenClientUrls, config.AdvertiseClientUrls = []url.URL{client}, []url.URL{client}
	// There are no peers, but there must be a listener for them. What is advertised is stored in the data directory, so
	// it is always the same; no one ever dials it.
	peer := url.URL{Scheme: "http", Host: Address(0)}
	config.ListenPeerUrls, config.AdvertisePeerUrls = []url.URL{peer}, []url.URL{peer}
	config.InitialCluster = config.InitialClusterFromName(config.Name)
	// The gateway would dial the client address as configured, which may have port 0.
	config.EnableGRPCGateway = false
	// A cluster of one elects itself: with the usual second it would be the slowest part of the start.
	config.TickMs, config.ElectionMs = 20, 200
	config.AutoCompactionMode, config.AutoCompactionRetention = embed.CompactorModePeriodic, "1h"
	config.UnsafeNoFsync = s.temporary

	server, err := embed.StartEtcd(config)
	if err != nil {
		return portError("etcd", FlagEtcdPort, s.options.EtcdPort, err)
	}
	s.onClose("stop etcd", func() error {
		server.Close()
		return nil
	})
	s.etcdEndpoint = server.Clients[0].Addr().String()
	select {
	case <-server.Server.ReadyNotify():
		return nil
	case err := <-server.Err():
		return conversation.Errorf(conversation.CodeUnavailable, "start etcd in %q: see %s (%w)", config.Dir, etcdLog, err)
	case <-ctx.Done():
		return conversation.Errorf(conversation.CodeUnavailable,
			"start etcd in %q: not ready in time, see %s (%w)", config.Dir, etcdLog, ctx.Err())
	}
}

// EtcdEndpoints are the host:port addresses of etcd.
func (s *Stack) EtcdEndpoints() []string { return []string{s.etcdEndpoint} }
