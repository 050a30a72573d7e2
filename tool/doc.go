// Package tool is the protocol between Hermes and a tool (SPEC T): manifest, health, schema, signature, invocation and
// fallback. It imports conversation only (and libraries); activities, workers and starter may import it. The package
// server below it is for those who write a tool in Go; any language can speak the same HTTP protocol (docs/tools.md).
//
// A Client believes nothing before the signature of the tool has been verified: not the status, not the body, not an
// error. It makes one attempt per call; retrying is Temporal's business (SPEC T7). After an error of a write operation
// ask NoEffect whether it is certain that nothing happened; otherwise the outcome is unknown, and the next step is to
// call again with the same idempotency key.
package tool
