package stack

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"go.temporal.io/server/common/authorization"
	"go.temporal.io/server/common/cluster"
	"go.temporal.io/server/common/config"
	serverlog "go.temporal.io/server/common/log"
	"go.temporal.io/server/common/membership/static"
	"go.temporal.io/server/common/primitives"
	"go.temporal.io/server/temporal"
	"go.uber.org/zap"

	"github.com/hermes-orchestrator/hermes/conversation"
)

const (
	// historyShards is fixed when a database is made. One shard would serialise all conversations of a laptop; more
	// than a few only cost start time.
	historyShards = 4

	clusterName = "active"

	// startAttempts is how often a start is repeated when a free port was taken between choosing and opening it.
	startAttempts = 3
)

// startTemporal starts the four services of a Temporal server and waits until they serve.
func (s *Stack) startTemporal(ctx context.Context) error {
	making := new(atomic.Bool)
	log, err := s.openLog(temporalLog, fatalHook{making})
	if err != nil {
		return err
	}
	database, err := s.openDatabase()
	if err != nil {
		return err
	}
	for attempt := 1; ; attempt++ {
		var ports map[primitives.ServiceName]int
		if ports, err = s.temporalPorts(ctx); err != nil {
			return err
		}
		var server temporal.Server
		server, err = runTemporal(serverConfig(database, ports), log, making)
		if err == nil {
			s.onClose("stop Temporal", server.Stop)
			s.temporalAddress = Address(ports[primitives.FrontendService])
			return s.connect(ctx, log)
		}
		if attempt == startAttempts || !errors.As(err, new(fatalError)) {
			return conversation.Errorf(conversation.CodeUnavailable,
				"start Temporal on port %d (%s): see %s in %q (%w)",
				ports[primitives.FrontendService], FlagTemporalPort, temporalLog, s.dir, err)
		}
	}
}

// temporalPorts chooses a port for each service; only the front end's can be given.
func (s *Stack) temporalPorts(ctx context.Context) (map[primitives.ServiceName]int, error) {
	ports := map[primitives.ServiceName]int{}
	for _, name := range temporal.DefaultServices {
		service := primitives.ServiceName(name)
		if service == primitives.FrontendService && s.options.TemporalPort != 0 {
			ports[service] = s.options.TemporalPort
			continue
		}
		number, err := freePort(ctx)
		if err != nil {
			return nil, err
		}
		ports[service] = number
	}
	return ports, nil
}

// runTemporal makes and starts a server.
func runTemporal(serverConfig *config.Config, log *zap.Logger, making *atomic.Bool) (temporal.Server, error) {
	server, err := makeTemporal(serverConfig, log, making)
	if err != nil {
		return nil, fmt.Errorf("make server: %w", err)
	}
	if err := server.Start(); err != nil {
		return nil, fmt.Errorf("start services: %w", errors.Join(err, server.Stop()))
	}
	return server, nil
}

// makeTemporal makes a server, which opens its ports. What that ends the process for is returned as a fatalError.
func makeTemporal(
	serverConfig *config.Config, log *zap.Logger, making *atomic.Bool,
) (server temporal.Server, err error) {
	making.Store(true)
	defer func() {
		making.Store(false)
		switch reason := recover().(type) {
		case nil:
		case fatalError:
			server, err = nil, reason
		default:
			panic(reason) //nolint:forbidigo // Not ours.
		}
	}()
	hosts := map[primitives.ServiceName]static.Hosts{}
	for name, service := range serverConfig.Services {
		hosts[primitives.ServiceName(name)] = static.SingleLocalHost(Address(service.RPC.GRPCPort))
	}
	return temporal.NewServer(
		temporal.WithConfig(serverConfig),
		temporal.ForServices(temporal.DefaultServices),
		// With known hosts there is no gossip: fewer ports, and nothing to wait for.
		temporal.WithStaticHosts(hosts),
		temporal.WithDynamicConfigClient(dynamicConfig()),
		temporal.WithLogger(serverlog.NewZapLogger(log)),
		temporal.WithAuthorizer(authorization.NewNoopAuthorizer()),
		temporal.WithClaimMapper(func(*config.Config) authorization.ClaimMapper {
			return authorization.NewNoopClaimMapper()
		}),
	)
}

// serverConfig is what a cluster reads from its YAML file.
func serverConfig(database *config.SQL, ports map[primitives.ServiceName]int) *config.Config {
	frontend := Address(ports[primitives.FrontendService])
	services := map[string]config.Service{}
	for service, number := range ports {
		services[string(service)] = config.Service{RPC: config.RPC{GRPCPort: number, BindOnIP: loopback}}
	}
	const store = "sqlite"
	return &config.Config{
		Services: services,
		Persistence: config.Persistence{
			DefaultStore:     store,
			VisibilityStore:  store,
			NumHistoryShards: historyShards,
			DataStores:       map[string]config.DataStore{store: {SQL: database}},
		},
		ClusterMetadata: &cluster.Config{
			FailoverVersionIncrement: 10,
			MasterClusterName:        clusterName,
			CurrentClusterName:       clusterName,
			ClusterInformation: map[string]cluster.ClusterInformation{
				// The address is stored in the database, where it would be that of an earlier start: no one dials it.
				clusterName: {Enabled: true, InitialFailoverVersion: 1, RPCAddress: loopback + ":0"},
			},
		},
		DCRedirectionPolicy: config.DCRedirectionPolicy{Policy: "noop"},
		PublicClient:        config.PublicClient{HostPort: frontend},
		Archival: config.Archival{
			History:    config.HistoryArchival{State: "disabled"},
			Visibility: config.VisibilityArchival{State: "disabled"},
		},
		NamespaceDefaults: config.NamespaceDefaults{
			Archival: config.ArchivalNamespaceDefaults{
				History:    config.HistoryArchivalNamespaceDefaults{State: "disabled"},
				Visibility: config.VisibilityArchivalNamespaceDefaults{State: "disabled"},
			},
		},
	}
}

// TemporalAddress is the host:port of Temporal's front end, empty when Temporal was not asked for.
func (s *Stack) TemporalAddress() string { return s.temporalAddress }
