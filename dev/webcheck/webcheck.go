// Package webcheck looks at web pages with a headless Chromium, the way a person would see them: scripts have run and
// their requests have been answered. Tests use it to check what Temporal Web and the web console show.
//
// It imports conversation only. Tests of this module import it.
package webcheck

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/hermes-orchestrator/hermes/conversation"
)

// EnvCI is set to 1 where every program that tests need is installed: there, a missing one fails the test.
const EnvCI = "HERMES_CI"

// settle is how long a page may take to come to rest, in milliseconds of the page's own clock. The browser skips time
// in which nothing happens and stops the clock while requests are under way, so this is no real time.
const settle = "15000"

// limit bounds one look at a page in real time.
const limit = 2 * time.Minute

// windowSize shows all of a workflow's page that matters without scrolling.
const windowSize = "1600,1400"

// DOM returns the HTML of the page after its scripts have run. CodeUnavailable when there is no Chromium or it gives up.
func DOM(ctx context.Context, url string) (string, error) {
	return run(ctx, url, "--dump-dom")
}

// Screenshot writes a PNG image of the page to path. CodeUnavailable when there is no Chromium or it gives up.
func Screenshot(ctx context.Context, url, path string) error {
	absolute, err := filepath.Abs(path)
	if err != nil {
		return conversation.Errorf(conversation.CodeInvalidArgument, "take screenshot to %q: %w", path, err)
	}
	if _, err := run(ctx, url, "--hide-scrollbars", "--screenshot="+absolute); err != nil {
		return err
	}
	if _, err := os.Stat(absolute); err != nil {
		return conversation.Errorf(conversation.CodeUnavailable, "take screenshot of %q: Chromium wrote no image (%w)", url, err)
	}
	return nil
}

// Find returns the path of Chromium. CodeUnavailable when there is none in PATH.
func Find() (string, error) {
	names := []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome"}
	for _, name := range names {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", conversation.Errorf(conversation.CodeUnavailable, "find a browser: none of %s is in PATH: install Chromium", strings.Join(names, ", "))
}

// TB is what Require needs of a test.
type TB interface {
	Helper()
	Skipf(format string, args ...any)
	Fatalf(format string, args ...any)
}

// Require skips the test when there is no Chromium, and fails it where EnvCI says that there must be one.
func Require(t TB) {
	t.Helper()
	_, err := Find()
	if err == nil {
		return
	}
	if os.Getenv(EnvCI) == "1" {
		t.Fatalf("%s=1, but: %v", EnvCI, err)
		return
	}
	t.Skipf("SKIPPED, NOT CHECKED: what the page shows: %v", err)
}

// run opens url in a browser with a profile of its own and returns what that prints.
func run(ctx context.Context, url string, action ...string) (string, error) {
	browser, err := Find()
	if err != nil {
		return "", err
	}
	profile, err := os.MkdirTemp("", "hermes-webcheck-")
	if err != nil {
		return "", conversation.Errorf(conversation.CodeUnavailable, "open %q: %w", url, err)
	}
	defer os.RemoveAll(profile)
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	args := append([]string{
		// Containers have neither the privileges for a sandbox nor a large /dev/shm. The pages are our own.
		"--headless", "--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu",
		"--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync",
		"--disable-extensions", "--disable-crash-reporter", "--no-default-browser-check",
		"--user-data-dir=" + profile, "--window-size=" + windowSize, "--virtual-time-budget=" + settle,
	}, action...)
	command := exec.CommandContext(ctx, browser, append(args, url)...)
	// Its helper processes are in the same group and end with it.
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	command.Cancel = func() error { return syscall.Kill(-command.Process.Pid, syscall.SIGKILL) }
	command.WaitDelay = 5 * time.Second
	var stdout, stderr bytes.Buffer
	command.Stdout, command.Stderr = &stdout, &stderr
	if err := command.Run(); err != nil {
		return "", conversation.Errorf(conversation.CodeUnavailable, "open %q in %s: %w: %s", url, browser, errors.Join(err, ctx.Err()), lastLine(stderr.String()))
	}
	return stdout.String(), nil
}

func lastLine(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return lines[len(lines)-1]
}
