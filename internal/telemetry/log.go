package telemetry

import (
	"io"
	"log/slog"
)

// NewLogger returns a logger that writes lines of JSON (format "json") or of key=value text (any other format) to w.
// Time is UTC, so that lines of several machines sort. It is safe for concurrent use.
func NewLogger(w io.Writer, level slog.Leveler, format string) *slog.Logger {
	options := &slog.HandlerOptions{Level: level, ReplaceAttr: utc}
	if format == "json" {
		return slog.New(slog.NewJSONHandler(w, options))
	}
	return slog.New(slog.NewTextHandler(w, options))
}

func utc(groups []string, a slog.Attr) slog.Attr {
	if len(groups) == 0 && a.Key == slog.TimeKey {
		a.Value = slog.TimeValue(a.Value.Time().UTC())
	}
	return a
}
