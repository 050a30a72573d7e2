package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"github.com/hermes-orchestrator/hermes/conversation"
)

// lateLimit is how long a script waits for the reply that an interim reply has announced.
const lateLimit = 5 * time.Minute

const chatHelp = `Each line is a message. A number chooses one of the options of the last reply.
  /file PATH...  upload images and send them
  /path          print the path so far
  /quit          leave; the conversation stays open

From a pipe or a file, each line is sent when the reply to the one before it has come, also one that comes late. The
exit code is 1 if a message was refused.`

// newChat is "hermes chat": a conversation in the terminal.
func newChat(getenv func(string) string) *cobra.Command {
	var req startRequest
	command := &cobra.Command{
		Use:   "chat",
		Short: "Talk to Hermes in the terminal",
		Long:  "Talk to Hermes in the terminal.\n\n" + chatHelp,
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			api, err := clientOf(cmd)
			if err != nil {
				return err
			}
			c := &chat{api: api, out: cmd.OutOrStdout(), interactive: isTerminal(cmd.InOrStdin()), shown: map[string]bool{}}
			return c.run(cmd.Context(), req, cmd.InOrStdin())
		},
	}
	user := getenv("USER")
	if user == "" {
		user = "me"
	}
	command.Flags().StringVar(&req.UserID, "user", user, "whose conversation it is")
	command.Flags().StringVar(&req.SessionID, "session", "", "session to start or to continue; empty: a new one")
	command.Flags().StringVar(&req.Flow, "flow", "", "flow to start; empty: the first message decides")
	command.Flags().StringVar(&req.Locale, "locale", "", "zh or en")
	command.Flags().StringVar(&req.Zone, "zone", "", "time zone, for example Asia/Shanghai")
	return command
}

// isTerminal reports whether a person is at the other end of in.
func isTerminal(in io.Reader) bool {
	file, ok := in.(*os.File)
	if !ok {
		return false
	}
	info, err := file.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// chat is one session in a terminal. Everything in it belongs to the goroutine of run.
type chat struct {
	api         *apiClient
	out         io.Writer
	interactive bool

	session  string
	events   chan event
	shown    map[string]bool // Replies that were printed: the answer to a message is also published.
	options  []conversation.Option
	revision int64
	waiting  bool // An interim reply has announced another.
	ended    bool
	refused  int
}

func (c *chat) run(ctx context.Context, req startRequest, in io.Reader) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	answer, err := c.api.start(ctx, req)
	if err != nil {
		return err
	}
	c.session = answer.SessionID
	fmt.Fprintf(c.out, "session %s\n", c.session)
	if c.interactive {
		fmt.Fprintln(c.out, chatHelp)
	}
	var after int64
	if !answer.Created {
		if after, err = c.resume(ctx); err != nil {
			return err
		}
	}
	c.events = make(chan event)
	go c.api.follow(ctx, c.session, after, c.events)
	lines := make(chan string)
	go readLines(ctx, in, lines)
	if err := c.loop(ctx, lines); err != nil {
		return err
	}
	if c.refused > 0 && !c.interactive {
		return conversation.Errorf(conversation.CodeInvalidArgument, "%d messages were refused", c.refused)
	}
	return nil
}

// resume prints where a session that is open already stands.
func (c *chat) resume(ctx context.Context) (after int64, err error) {
	events, err := c.api.published(ctx, c.session)
	if err != nil || len(events) == 0 {
		return 0, err
	}
	for _, e := range events {
		c.shown[key(e.reply)] = true
	}
	last := events[len(events)-1]
	delete(c.shown, key(last.reply))
	c.show(last.reply)
	return last.sequence, nil
}

// loop takes what comes first: a line, or a reply that comes by itself.
func (c *chat) loop(ctx context.Context, lines <-chan string) error {
	for !c.ended {
		c.prompt()
		input, limit := lines, (<-chan time.Time)(nil)
		if c.waiting && !c.interactive {
			input, limit = nil, time.After(lateLimit)
		}
		select {
		case <-ctx.Done():
			return nil
		case e := <-c.events:
			c.show(e.reply)
		case <-limit:
			return conversation.Errorf(conversation.CodeUnavailable, "the announced reply did not come within %s", lateLimit)
		case line, more := <-input:
			if !more {
				return nil
			}
			if done := c.handle(ctx, strings.TrimSpace(line)); done {
				return nil
			}
		}
	}
	return nil
}

func (c *chat) prompt() {
	if c.interactive {
		fmt.Fprint(c.out, "> ")
	}
}

// handle does what a line asks, and reports whether it asks to leave.
func (c *chat) handle(ctx context.Context, line string) (done bool) {
	message := conversation.UserMessage{MessageID: uuid.NewString(), SentAt: time.Now()}
	command, rest, _ := strings.Cut(line, " ")
	switch {
	case line == "":
		return false
	case !utf8.ValidString(line):
		c.refuse(conversation.Errorf(conversation.CodeInvalidUTF8,
			"the line is not UTF-8: set the terminal's encoding to UTF-8"))
		return false
	case command == "/quit":
		return true
	case command == "/path":
		answer, err := c.api.path(ctx, c.session)
		if err != nil {
			c.refuse(err)
			return false
		}
		fmt.Fprintln(c.out, answer.Path)
		return false
	case command == "/file":
		var err error
		if message.Attachments, err = c.uploads(ctx, strings.TrimSpace(rest)); err != nil {
			c.refuse(err)
			return false
		}
	case strings.HasPrefix(line, "/"):
		fmt.Fprintln(c.out, chatHelp)
		return false
	default:
		message.Text = line
		if n, err := strconv.Atoi(line); err == nil && n >= 1 && n <= len(c.options) {
			message.Text, message.Choice = "", c.options[n-1].ID
		}
	}
	if c.interactive {
		// A script has seen every reply before it sends its next line; a person may type while one comes.
		message.Revision = c.revision
	}
	reply, err := c.api.send(ctx, c.session, message)
	if err != nil {
		c.refuse(err)
		c.ended = c.ended || isCode(err, conversation.CodeConversationEnded)
		return false
	}
	if reply.Verdict == conversation.VerdictRefused {
		c.refused++
	}
	c.show(reply)
	return false
}

// uploads sends the files that a line names: one path, which may have spaces in it, or several.
func (c *chat) uploads(ctx context.Context, rest string) ([]conversation.Attachment, error) {
	paths := strings.Fields(rest)
	if _, err := os.Stat(rest); err == nil {
		paths = []string{rest}
	}
	if len(paths) == 0 {
		return nil, conversation.Errorf(conversation.CodeInvalidArgument, "/file needs the path of an image")
	}
	var attachments []conversation.Attachment
	for _, path := range paths {
		attachment, err := c.api.upload(ctx, path)
		if err != nil {
			return nil, err
		}
		attachments = append(attachments, attachment)
	}
	return attachments, nil
}

func (c *chat) refuse(err error) {
	c.refused++
	fmt.Fprintln(c.out, "error:", plain(err.Error()))
}

// readLines sends every line of in, and closes lines at its end.
func readLines(ctx context.Context, in io.Reader, lines chan<- string) {
	defer close(lines)
	for reader := bufio.NewReader(in); ; {
		line, err := reader.ReadString('\n')
		if line != "" {
			select {
			case lines <- line:
			case <-ctx.Done():
				return
			}
		}
		if err != nil {
			if !errors.Is(err, io.EOF) {
				fmt.Fprintln(os.Stderr, "hermes: input:", err)
			}
			return
		}
	}
}
