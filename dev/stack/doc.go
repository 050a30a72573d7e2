// Package stack starts everything that Hermes stands on, in one process: a Temporal server with an SQLite file,
// Temporal Web, etcd and the Redis protocol. They are the real programs, built in as libraries; only Redis is a
// look-alike (miniredis), and only unless a Redis address is given.
//
// Several stacks can run in one process at the same time: every listener is on a loopback port of its own, every file
// is below the stack's own data directory, and none of the parts registers anything process-wide when it starts. So
// each test may have its own.
//
// It imports conversation and the servers. main and the end-to-end tests of this module import it; nothing of the
// product does.
package stack
