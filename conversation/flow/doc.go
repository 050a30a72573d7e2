// Package flow reads flow definitions and decides by them (SPEC C9): a YAML file becomes a validated, immutable Flow
// that plans the next tool calls, folds answers into facts, raises findings and renders texts. It is where everything
// that is specific to a trade lives; the Go code knows none of it.
//
// It imports conversation, CEL, YAML and JSON Schema libraries. Activities, nlu, workers and the command line may
// import it; workflows may not, because none of these libraries is written for replay.
package flow
