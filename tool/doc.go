// Package tool is the protocol between Hermes and a tool (SPEC T): manifest, health, schema, signature, invocation and
// fallback. It imports conversation only (and libraries); activities, workers and starter may import it. The package
// server below it is for those who write a tool in Go; any language can speak the same HTTP protocol (docs/tools.md).
package tool
