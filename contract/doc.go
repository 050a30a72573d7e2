// Package contract is the collaboration contract between the components of Hermes (SPEC P): the envelope that all of
// them exchange, the ledger of one message cycle, the frozen rule-sets over both, and the Temporal interceptors that
// apply them so that no workflow author can forget one. It imports conversation and the Temporal SDK; workflows,
// activities, workers and starter may import it. Rules are concrete pure functions: the determinism checker cannot see
// through interfaces.
package contract
