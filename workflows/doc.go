// Package workflows holds the durable conversation: one Temporal workflow a session. It drives; it knows nothing of
// flows, tools or memory beyond what activities answer. It imports conversation, contract and the Temporal SDK only,
// and is imported by workers. Everything in it runs again at replay: no clock but workflow.Now, no randomness, no
// maps that are ranged over, no interfaces that could hide any of these.
//
// testdata/histories holds recorded histories by situation; a change here must replay all of them.
package workflows
