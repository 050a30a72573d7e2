// Package nlu understands one message of a user by rules, in Chinese and English: what it means in the present state
// and which facts it declares (SPEC C1, C2, C6, C10). It proposes; conversation.Next and the workflow decide.
//
// It prefers not to understand over understanding wrongly. A message confirms an act only if it consists of consent and
// of nothing else; a hedge, a condition or a question accepts nothing; two readings are handed back as options to
// choose from. Words that belong to a job are those of its flow; the core knows only the words of lexicon/*.yaml.
//
// Relative dates are resolved by package timex against the time that the message was sent, in the message's zone.
//
// Imports: conversation, conversation/flow, conversation/nlu/timex, golang.org/x/text and a YAML reader. Nothing here
// reads a clock, a file or the network; all of it is safe for concurrent use, and linear in the length of a message.
package nlu
