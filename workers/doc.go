// Package workers is the composition root of the worker: configuration → clients → adapters → activities and contract
// plugin → a Temporal worker. It knows everything and nothing imports it but mains and the embedded stack.
package workers
