package ocr

import (
	"context"
	"crypto/ed25519"
	"log/slog"
	"regexp"
	"time"

	"github.com/hermes-orchestrator/hermes/conversation"
)

// Config is the configuration of the tool.
type Config struct {
	// Key signs the answers. Required by New.
	Key ed25519.PrivateKey
	// KeyID names the key in signatures. Defaults to "k1".
	KeyID string
	// Tesseract is the program's name or path. Defaults to "tesseract", looked up in PATH at every call, so that
	// installing it needs no restart.
	Tesseract string
	// Languages are tesseract's languages, joined by "+". Defaults to "chi_sim+eng".
	Languages string
	// MaxProcesses is how many tesseract processes run at once. Defaults to 2.
	MaxProcesses int
	// PageTimeout is the most time one tesseract process gets. Defaults to 30 s.
	PageTimeout time.Duration
	// EstimateFloor is the shortest time that the tool promises when it is asked to answer later: it says so even if it
	// expects to be faster, because a promise is there to be kept on a bad day. Defaults to 30 s.
	EstimateFloor time.Duration
	// Lifetime ends the self-test that New starts. Defaults to context.Background(): it then ends by itself.
	Lifetime context.Context
	// Now is the clock. Defaults to time.Now.
	Now func() time.Time
	// Logger is where the tool logs. Defaults to slog.Default().
	Logger *slog.Logger
}

func (c Config) withDefaults() Config {
	if c.KeyID == "" {
		c.KeyID = "k1"
	}
	if c.Tesseract == "" {
		c.Tesseract = "tesseract"
	}
	if c.Languages == "" {
		c.Languages = "chi_sim+eng"
	}
	if c.MaxProcesses == 0 {
		c.MaxProcesses = 2
	}
	if c.PageTimeout == 0 {
		c.PageTimeout = 30 * time.Second
	}
	if c.EstimateFloor == 0 {
		c.EstimateFloor = 30 * time.Second
	}
	if c.Lifetime == nil {
		c.Lifetime = context.Background()
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Logger == nil {
		c.Logger = slog.Default()
	}
	return c
}

var languagesPattern = regexp.MustCompile(`^[A-Za-z_]+(\+[A-Za-z_]+)*$`)

// validateReader checks what the reader needs.
func (c Config) validateReader() error {
	switch {
	case !languagesPattern.MatchString(c.Languages):
		return conversation.Errorf(conversation.CodeInvalidConfig,
			"ocr Languages %q: use names such as %q", c.Languages, "chi_sim+eng")
	case c.MaxProcesses < 1:
		return conversation.Errorf(conversation.CodeInvalidConfig, "ocr MaxProcesses %d: use 1 or more", c.MaxProcesses)
	case c.PageTimeout < 0 || c.EstimateFloor < 0:
		return conversation.Errorf(conversation.CodeInvalidConfig, "ocr PageTimeout %s, EstimateFloor %s: use more than 0",
			c.PageTimeout, c.EstimateFloor)
	}
	return nil
}
