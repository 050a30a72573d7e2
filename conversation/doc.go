// Package conversation is the domain of Hermes: the states of a conversation, the pure function that moves between
// them, the snapshot made before each move, and the names and JSON payloads that clients, workflows and activities
// exchange. It decides; it performs nothing. It imports the standard library only and is imported by everything else.
//
// Values of this package are stored in Temporal histories. Fields may be added; a field or a constant that has been
// released is never renamed and never changes its meaning.
package conversation
