package contract

import (
	"go.temporal.io/sdk/interceptor"
	"go.temporal.io/sdk/temporal"
)

// NewPlugin returns the one value that carries the contract's interceptors. Give the same to worker, test environment
// and replayer: interceptors decide what is dispatched, so a replay without them is another program.
func NewPlugin() (*temporal.SimplePlugin, error) {
	return temporal.NewSimplePlugin(temporal.SimplePluginOptions{
		Name:               "hermes.contract",
		WorkerInterceptors: []interceptor.WorkerInterceptor{NewInterceptor()},
	})
}
