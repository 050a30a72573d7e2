package flow

// Formatting functions, for tests of their results.
var (
	Money   = money
	Dates   = dates
	Join    = join
	Percent = percent
	Plural  = plural
)

// ReplyKinds are the kinds that every catalog must have a text for.
var ReplyKinds = replyKinds
