// Package config is the configuration of worker and starter: one flat struct, read from flags and HERMES_* environment
// variables over documented defaults, and checked before anything is started. It imports conversation, the Temporal
// client and its envconfig; only the programs (cmd, dev, workers) import it.
package config
