package config

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"strings"

	"github.com/hermes-orchestrator/hermes/conversation"
)

// Load reads the configuration of a program: defaults, then the environment, then flags, the later going before the
// earlier. args are the arguments without the program's name; getenv is os.Getenv or a test's. For -h and --help it
// writes every setting with its environment variable and default to out and returns flag.ErrHelp. Other errors have
// CodeInvalidConfig and name the field, its flag and its environment variable.
//
// Load reads; Validate, which the program calls next, checks.
func Load(program string, args []string, getenv func(string) string, out io.Writer) (Config, error) {
	c := Default()
	settings := c.settings()
	usage := func() { writeHelp(out, program, settings) }

	flags := flag.NewFlagSet(program, flag.ContinueOnError)
	flags.SetOutput(io.Discard) // Errors are reported once, by the caller, with their code.
	given := map[string]string{}
	for _, s := range settings {
		flags.Func(s.flag, s.help, func(text string) error {
			given[s.flag] = text
			return nil
		})
	}
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			usage() // The defaults are still untouched by the environment.
			return c, flag.ErrHelp
		}
		return c, conversation.Errorf(conversation.CodeInvalidConfig, "%s: %w: see %s --help", program, err, program)
	}
	if rest := flags.Args(); len(rest) > 0 {
		return c, conversation.Errorf(conversation.CodeInvalidConfig,
			"%s: argument %q is not a flag: see %s --help", program, rest[0], program)
	}
	for _, s := range settings {
		source := s.env()
		text, ok := given[s.flag]
		if ok {
			source = "--" + s.flag
		} else if text = getenv(source); text == "" {
			continue
		}
		if err := s.value.set(text); err != nil {
			if coded, ok := errors.AsType[*conversation.Error](err); ok {
				err = errors.New(coded.Message) // The code is the same, and said once.
			}
			return c, conversation.Errorf(conversation.CodeInvalidConfig, "%s, set by %s: %w", s.field, source, err)
		}
	}
	if c.TracesEndpoint == "" {
		c.TracesEndpoint = getenv("OTEL_EXPORTER_OTLP_ENDPOINT")
	}
	return c, nil
}

func writeHelp(out io.Writer, program string, settings []setting) {
	var b strings.Builder
	fmt.Fprintf(&b, "Usage: %s [flags]\n\n", program)
	b.WriteString("Every flag can also be given as an environment variable; a flag goes first.\n\n")
	for _, s := range settings {
		fmt.Fprintf(&b, "  --%s   %s\n        %s", s.flag, s.env(), s.help)
		if byDefault := s.value.text(); byDefault != "" {
			fmt.Fprintf(&b, " (default %s)", byDefault)
		}
		b.WriteString("\n")
	}
	b.WriteString("\nTLS and API keys for Temporal come from Temporal's own environment: TEMPORAL_TLS_*,\n" +
		"TEMPORAL_API_KEY, TEMPORAL_PROFILE (https://docs.temporal.io/develop/environment-configuration).\n")
	_, _ = io.WriteString(out, b.String()) // Nobody is left to tell when the terminal is gone.
}
