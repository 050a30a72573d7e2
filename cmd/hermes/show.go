package main

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/hermes-orchestrator/hermes/conversation"
)

// show prints a reply once, whichever way it comes.
func (c *chat) show(reply conversation.Reply) {
	if c.shown[key(reply)] {
		return
	}
	c.shown[key(reply)] = true
	if c.interactive {
		fmt.Fprint(c.out, "\r") // Over the prompt.
	}
	fmt.Fprintln(c.out, "Hermes:", plain(reply.Text))
	if reply.Error != nil {
		fmt.Fprintf(c.out, "  error: %s\n", plain(reply.Error.Error()))
	}
	if reply.Interim && reply.EstimatedTime != "" {
		fmt.Fprintf(c.out, "  … about %s\n", plain(reply.EstimatedTime))
	}
	for _, d := range reply.Degraded {
		fmt.Fprintf(c.out, "  ! %s (%s): %s", plain(d.Component), plain(d.Strategy), plain(d.Reason))
		if d.AsOf != "" {
			fmt.Fprintf(c.out, ", as of %s", plain(d.AsOf))
		}
		fmt.Fprintln(c.out)
	}
	for _, step := range reply.VerificationSteps {
		fmt.Fprintf(c.out, "  ✓ %s\n", plain(step))
	}
	for i, option := range reply.Options {
		fmt.Fprintf(c.out, "  [%d] %s\n", i+1, plain(option.Label))
	}
	fmt.Fprintf(c.out, "  %s", plain(reply.Path))
	if reply.Outcome != "" {
		fmt.Fprintf(c.out, " (%s)", plain(string(reply.Outcome)))
	}
	fmt.Fprintln(c.out)
	c.options = reply.Options
	c.revision = max(c.revision, reply.Revision)
	c.waiting = reply.Interim
	c.ended = c.ended || reply.State == conversation.StateEnd
}

// key tells replies apart. The answer to a message and its published copy have the same.
func key(reply conversation.Reply) string {
	about := reply.MessageID
	if about == "" {
		about = reply.CycleID
	}
	return about + "\x00" + reply.Text
}

// plain takes control characters out of what comes over the wire, so that it cannot command the terminal. Line feeds
// and tabs stay.
func plain(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\t' {
			return -1
		}
		return r
	}, text)
}
