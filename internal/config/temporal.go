package config

import (
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/contrib/envconfig"

	"github.com/hermes-orchestrator/hermes/conversation"
)

// TemporalOptions returns the options to connect to Temporal: those of Temporal's own environment (address, namespace,
// TLS, API key, profile), over which TemporalAddress and Namespace go when they are set.
func (c *Config) TemporalOptions() (client.Options, error) {
	options, err := envconfig.LoadDefaultClientOptions()
	if err != nil {
		return client.Options{}, conversation.Errorf(conversation.CodeInvalidConfig,
			"Temporal's environment (TEMPORAL_*): %w", err)
	}
	if c.TemporalAddress != "" {
		options.HostPort = c.TemporalAddress
	}
	if c.Namespace != "" {
		options.Namespace = c.Namespace
	}
	return options, nil
}
