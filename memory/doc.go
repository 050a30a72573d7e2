// Package memory holds what Hermes knows in portable types over minimal drivers (SPEC M): preferences, unfinished
// flows and warnings (mid-term), sessions and event streams (volatile), the graph (long-term) and uploaded files. It
// imports conversation only; activities, workers and starter may import it. Each adapter package (etcd, redis, sqlite,
// neo4j, blob) imports this package and its own client library, never another adapter; memorytest has the conformance
// suites that all of them run.
package memory
