// Package memory holds what Hermes knows in portable types over minimal drivers (SPEC M): preferences, unfinished
// flows and warnings (Midterm), sessions and event streams (Sessions, Events; volatile) and the graph (Graph;
// long-term). Policy is here and written once: names and limits, who must have confirmed, what must be proven, when
// things expire. What is short-term lives in the workflow itself (conversation.Symbol).
//
// It imports conversation only; activities, workers and starter may import it. Each adapter package (etcd, redis,
// sqlite, neo4j, blob) imports this package and its own client library, never another adapter; memorytest has the
// conformance suites that all of them run. Package inmem is a real KV in the memory of one process, for tests of this
// package's policies.
package memory
