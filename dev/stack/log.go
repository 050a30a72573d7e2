package stack

import (
	"os"
	"path/filepath"
	"runtime"
	"sync/atomic"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/hermes-orchestrator/hermes/conversation"
)

// openLog opens a log file of JSON lines in the data directory. onFatal replaces the end of the process.
func (s *Stack) openLog(name string, onFatal zapcore.CheckWriteHook) (*zap.Logger, error) {
	path := filepath.Join(s.dir, name)
	file, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, conversation.Errorf(conversation.CodeUnavailable, "open log %q: %w", path, err)
	}
	s.onClose("close "+name, file.Close)
	level, err := zapcore.ParseLevel(s.options.LogLevel)
	if err != nil {
		return nil, conversation.Errorf(conversation.CodeInvalidConfig, "log level %q: %w", s.options.LogLevel, err)
	}
	config := zap.NewProductionEncoderConfig()
	config.EncodeTime = zapcore.ISO8601TimeEncoder
	core := zapcore.NewCore(zapcore.NewJSONEncoder(config), zapcore.Lock(file), level)
	return zap.New(core, zap.WithFatalHook(onFatal), zap.ErrorOutput(zapcore.AddSync(discard{}))), nil
}

// discard swallows complaints of goroutines that log after Close has closed the file.
type discard struct{}

func (discard) Write(p []byte) (int, error) { return len(p), nil }

// fatalError is what a server said before it would have ended the process.
type fatalError struct{ message string }

func (e fatalError) Error() string { return e.message }

// fatalHook decides what a fatal log message does in place of ending the process. While a server is being made, it
// panics with a fatalError, which the caller recovers. Later it ends the goroutine that logged it: what a server finds
// fatal while it stops (a listener that was closed before it was served, for example) must not take the other stacks of
// the process with it.
type fatalHook struct{ making *atomic.Bool }

// OnWrite implements zapcore.CheckWriteHook.
func (h fatalHook) OnWrite(entry *zapcore.CheckedEntry, fields []zapcore.Field) {
	if !h.making.Load() {
		runtime.Goexit()
	}
	encoder := zapcore.NewMapObjectEncoder()
	for _, field := range fields {
		field.AddTo(encoder)
	}
	message := entry.Message
	if reason, ok := encoder.Fields["error"].(string); ok {
		message += ": " + reason
	}
	panic(fatalError{message}) //nolint:forbidigo // The caller recovers it; the library would end the process.
}
