// Package starter is the front door of Hermes: gRPC and HTTP/JSON to start and continue conversations, uploads and
// downloads of files, the stream of replies (server-sent events), the callback of asynchronous tools, health, metrics,
// and a small web console. It is stateless: a conversation lives in its workflow, so any number of starters may run.
//
// It does not authenticate: put a proxy in front that does, and that decides which user may name which session.
//
// It imports conversation, contract, memory (for the shape of an event), tool (for its callback), proto and the
// Temporal client. It never
// imports an adapter: files and events come in through the two ports of Config. Only programs (cmd, dev) import it.
package starter
