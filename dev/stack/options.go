package stack

import (
	"path/filepath"
	"strings"

	"go.uber.org/zap/zapcore"

	"github.com/hermes-orchestrator/hermes/conversation"
)

// Namespace is the Temporal namespace that a stack registers and that everything in it uses.
const Namespace = "default"

// Options says what to start and where. The zero value starts nothing but etcd and Redis on free ports, in a temporary
// directory.
type Options struct {
	// DataDir keeps everything that outlives a restart: workflows, etcd's keys, the graph, uploaded files, logs. It is
	// made when it does not exist and locked while the stack runs. Empty means a temporary directory that Close removes;
	// there, nothing is synced to disk.
	DataDir string

	// Temporal starts a Temporal server.
	Temporal bool

	// UI starts Temporal Web. It needs Temporal.
	UI bool

	// TemporalPort, UIPort, EtcdPort and RedisPort are TCP ports on 127.0.0.1. 0 means a free one.
	TemporalPort int
	UIPort       int
	EtcdPort     int
	RedisPort    int

	// RedisAddress is the host:port of a Redis server to use in place of the built-in one.
	RedisAddress string

	// Neo4jURL, for example "neo4j://127.0.0.1:7687", is a Neo4j server to keep the graph in. Empty means an SQLite file
	// in DataDir. The stack only hands it on, see GraphURL.
	Neo4jURL string

	// LogLevel is what the servers log to files in DataDir: debug, info, warn or error. Defaults to warn.
	LogLevel string
}

// Flags of package main that set the ports: an error about a port names the flag that changes it.
const (
	FlagTemporalPort = "--temporal-port"
	FlagUIPort       = "--ui-port"
	FlagEtcdPort     = "--etcd-port"
	FlagRedisPort    = "--redis-port"
)

func (o Options) withDefaults() Options {
	if o.LogLevel == "" {
		o.LogLevel = "warn"
	}
	return o
}

// validate reports the first setting that cannot work, with CodeInvalidConfig.
func (o Options) validate() error {
	if o.UI && !o.Temporal {
		return conversation.Errorf(conversation.CodeInvalidConfig,
			"start stack: UI shows a Temporal server: set Temporal as well")
	}
	if _, err := zapcore.ParseLevel(o.LogLevel); err != nil {
		return conversation.Errorf(conversation.CodeInvalidConfig,
			"start stack: log level %q: use debug, info, warn or error", o.LogLevel)
	}
	if o.Neo4jURL != "" && !strings.Contains(o.Neo4jURL, "://") {
		return conversation.Errorf(conversation.CodeInvalidConfig,
			"start stack: Neo4j address %q: write it as a URL, for example neo4j://127.0.0.1:7687", o.Neo4jURL)
	}
	if o.RedisAddress != "" && o.RedisPort != 0 {
		return conversation.Errorf(conversation.CodeInvalidConfig,
			"start stack: Redis address %q and %s %d: the built-in Redis does not start when an address is given, so "+
				"leave the port out", o.RedisAddress, FlagRedisPort, o.RedisPort)
	}
	if o.DataDir != "" && !filepath.IsAbs(o.DataDir) {
		return conversation.Errorf(conversation.CodeInvalidConfig,
			"start stack: data directory %q: give an absolute path", o.DataDir)
	}
	for _, port := range o.ports() {
		if port.number < 0 || port.number > 65535 {
			return conversation.Errorf(conversation.CodeInvalidConfig,
				"start stack: %s %d is not a TCP port: use 1 to 65535, or 0 for a free one", port.flag, port.number)
		}
	}
	return nil
}

// port is a port that was asked for.
type port struct {
	of, flag string
	number   int
}

// ports lists the ports of what will be started.
func (o Options) ports() []port {
	ports := []port{{"etcd", FlagEtcdPort, o.EtcdPort}}
	if o.RedisAddress == "" {
		ports = append(ports, port{"Redis", FlagRedisPort, o.RedisPort})
	}
	if o.Temporal {
		ports = append(ports, port{"Temporal", FlagTemporalPort, o.TemporalPort})
	}
	if o.UI {
		ports = append(ports, port{"Temporal Web", FlagUIPort, o.UIPort})
	}
	return ports
}
