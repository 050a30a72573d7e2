// Package activities holds what a conversation asks to be done: one small struct a concern, each declaring the port of
// one to three methods that it needs, each with one method that is the activity. It imports conversation (with flow
// and nlu), contract, tool and memory; workers builds and registers the structs. Method names are Temporal activity
// types and therefore stable.
//
// Every activity takes one contract.Envelope. Local activities may run twice when a worker dies before its task
// completes: each of them is idempotent.
package activities
