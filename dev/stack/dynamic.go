package stack

import (
	"time"

	"go.temporal.io/server/common/dynamicconfig"
)

// pollsPerSecond is how often a shard may look for new tasks. The default of 20 is made for clusters with hundreds of
// shards; with four it would put up to 50 ms between a command and its activity.
const pollsPerSecond = 2000

// requestsPerSecond lifts the limits that keep one tenant of a cluster from another. On a laptop there is one.
const requestsPerSecond = 100_000

// dynamicConfig holds the settings that differ from Temporal's defaults. The limits that a conversation must live with
// in production are left alone on purpose (DESIGN 3): 2 MB a payload, 51,200 events, 10 updates in flight and 2,000 in
// a run. What breaks there breaks here.
func dynamicConfig() dynamicconfig.Client {
	return dynamicconfig.StaticClient{
		// Fairness between users on one task queue; production needs it as well (DESIGN 3).
		dynamicconfig.MatchingEnableFairness.Key(): true,

		dynamicconfig.TransferProcessorMaxPollRPS.Key():       pollsPerSecond,
		dynamicconfig.TransferProcessorMaxPollHostRPS.Key():   pollsPerSecond * historyShards,
		dynamicconfig.TimerProcessorMaxPollRPS.Key():          pollsPerSecond,
		dynamicconfig.TimerProcessorMaxPollHostRPS.Key():      pollsPerSecond * historyShards,
		dynamicconfig.VisibilityProcessorMaxPollRPS.Key():     pollsPerSecond,
		dynamicconfig.VisibilityProcessorMaxPollHostRPS.Key(): pollsPerSecond * historyShards,
		dynamicconfig.OutboundProcessorMaxPollRPS.Key():       pollsPerSecond,
		dynamicconfig.OutboundProcessorMaxPollHostRPS.Key():   pollsPerSecond * historyShards,

		dynamicconfig.FrontendRPS.Key():                        requestsPerSecond,
		dynamicconfig.FrontendMaxNamespaceRPSPerInstance.Key(): requestsPerSecond,
		dynamicconfig.FrontendPersistenceMaxQPS.Key():          requestsPerSecond,
		dynamicconfig.HistoryRPS.Key():                         requestsPerSecond,
		dynamicconfig.HistoryPersistenceMaxQPS.Key():           requestsPerSecond,
		dynamicconfig.MatchingRPS.Key():                        requestsPerSecond,
		dynamicconfig.MatchingPersistenceMaxQPS.Key():          requestsPerSecond,
		dynamicconfig.VisibilityPersistenceMaxReadQPS.Key():    requestsPerSecond,
		dynamicconfig.VisibilityPersistenceMaxWriteQPS.Key():   requestsPerSecond,

		dynamicconfig.FrontendEnableUpdateWorkflowExecution.Key():              true,
		dynamicconfig.FrontendEnableUpdateWorkflowExecutionAsyncAccepted.Key(): true,

		// One partition: with one matching host more of them only make a task travel.
		dynamicconfig.MatchingNumTaskqueueReadPartitions.Key():  1,
		dynamicconfig.MatchingNumTaskqueueWritePartitions.Key(): 1,

		// A search attribute that was just registered is known at once.
		dynamicconfig.ForceSearchAttributesCacheRefreshOnRead.Key(): true,

		// Does not tell version.temporal.io that it was started.
		dynamicconfig.EnableServerVersionCheck.Key(): false,

		// Housekeeping for databases that grow for years. The server never stops the workers of these.
		dynamicconfig.TaskQueueScannerEnabled.Key():       false,
		dynamicconfig.HistoryScannerEnabled.Key():         false,
		dynamicconfig.EnableParentClosePolicyWorker.Key(): false,

		// Close waits for background long polls, so they are kept short.
		dynamicconfig.RefreshNexusEndpointsLongPollTimeout.Key():      time.Minute,
		dynamicconfig.MatchingListNexusEndpointsLongPollTimeout.Key(): 50 * time.Second,
	}
}
