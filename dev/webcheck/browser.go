package webcheck

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/hermes-orchestrator/hermes/conversation"
)

// browser is a running Chromium with one page, spoken to in the DevTools protocol over a pair of pipes: JSON messages
// that end with a zero byte. Commands are sent one at a time.
//
// The command-line modes --dump-dom and --virtual-time-budget would be less to write, but wait for the end of every
// request, and a page of Temporal Web always has one under way that waits for the next event.
type browser struct {
	command *exec.Cmd
	profile string
	in      *os.File
	out     *os.File
	answers *bufio.Reader
	stderr  *os.File
	session string
	lastID  int
}

// message is a command, its answer or an event.
type message struct {
	ID        int             `json:"id,omitempty"`
	Method    string          `json:"method,omitempty"`
	SessionID string          `json:"sessionId,omitempty"`
	Params    any             `json:"params,omitempty"`
	Result    json.RawMessage `json:"result,omitempty"`
	Error     *struct {
		Message string `json:"message"`
	} `json:"error,omitempty"`
}

// openBrowser starts Chromium with a profile of its own and an empty page of the given size. The end of ctx kills it.
func openBrowser(ctx context.Context, width, height int) (*browser, error) {
	path, err := Find()
	if err != nil {
		return nil, err
	}
	profile, err := os.MkdirTemp("", "hermes-webcheck-")
	if err != nil {
		return nil, err
	}
	b := &browser{profile: profile}
	if err := b.start(ctx, path); err != nil {
		return nil, errors.Join(err, os.RemoveAll(profile))
	}
	if err := b.openPage(width, height); err != nil {
		return nil, errors.Join(err, b.close())
	}
	return b, nil
}

func (b *browser) start(ctx context.Context, path string) error {
	commandsOut, in, err := os.Pipe()
	if err != nil {
		return err
	}
	out, answersIn, err := os.Pipe()
	if err != nil {
		return errors.Join(err, commandsOut.Close(), in.Close())
	}
	b.in, b.out, b.answers = in, out, bufio.NewReader(out)
	//nolint:gosec // The path is that of Find, the profile is our own.
	b.command = exec.CommandContext(ctx, path,
		// Containers have neither the privileges for a sandbox nor a large /dev/shm. The pages are our own.
		"--headless", "--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu", "--hide-scrollbars",
		"--no-first-run", "--no-default-browser-check", "--disable-background-networking", "--disable-component-update",
		"--disable-sync", "--disable-extensions", "--disable-crash-reporter",
		"--user-data-dir="+b.profile, "--remote-debugging-pipe")
	b.command.ExtraFiles = []*os.File{commandsOut, answersIn} // 3 and 4 in the browser.
	// A file, because Wait would wait for every helper process that holds the other end of a pipe.
	if b.stderr, err = os.Create(filepath.Join(b.profile, "stderr")); err != nil {
		return errors.Join(err, commandsOut.Close(), in.Close(), out.Close(), answersIn.Close())
	}
	b.command.Stderr = b.stderr
	// Its helper processes are in the same group and end with it.
	b.command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	b.command.Cancel = b.kill
	err = b.command.Start()
	// The browser has its own copies. Without ours, the end of the browser is the end of the pipe.
	if err := errors.Join(err, commandsOut.Close(), answersIn.Close()); err != nil {
		return errors.Join(err, in.Close(), out.Close(), b.stderr.Close())
	}
	return nil
}

func (b *browser) openPage(width, height int) error {
	var target struct {
		ID string `json:"targetId"`
	}
	if err := b.call("Target.createTarget", map[string]any{"url": "about:blank"}, &target); err != nil {
		return err
	}
	var attached struct {
		SessionID string `json:"sessionId"`
	}
	attach := map[string]any{"targetId": target.ID, "flatten": true}
	if err := b.call("Target.attachToTarget", attach, &attached); err != nil {
		return err
	}
	b.session = attached.SessionID
	size := map[string]any{"width": width, "height": height, "deviceScaleFactor": 1, "mobile": false}
	return b.call("Emulation.setDeviceMetricsOverride", size, nil)
}

// call sends a command and decodes its result into result, which may be nil.
func (b *browser) call(method string, params map[string]any, result any) error {
	b.lastID++
	data, err := json.Marshal(message{ID: b.lastID, Method: method, SessionID: b.session, Params: params})
	if err != nil {
		return err
	}
	if _, err := b.in.Write(append(data, 0)); err != nil {
		return b.failed(method, err)
	}
	for {
		data, err := b.answers.ReadBytes(0)
		if err != nil {
			return b.failed(method, err)
		}
		var answer message
		if err := json.Unmarshal(bytes.TrimSuffix(data, []byte{0}), &answer); err != nil {
			return b.failed(method, err)
		}
		switch {
		case answer.ID != b.lastID: // An event.
			continue
		case answer.Error != nil:
			return b.failed(method, errors.New(answer.Error.Message))
		case result == nil:
			return nil
		default:
			return json.Unmarshal(answer.Result, result)
		}
	}
}

func (b *browser) failed(method string, err error) error {
	said, _ := os.ReadFile(b.stderr.Name())
	lines := strings.Split(strings.TrimSpace(string(said)), "\n")
	return conversation.Errorf(conversation.CodeUnavailable,
		"ask Chromium for %s: %w (its last words: %q)", method, err, lines[len(lines)-1])
}

func (b *browser) kill() error { return syscall.Kill(-b.command.Process.Pid, syscall.SIGKILL) }

// close ends the browser and removes its profile.
func (b *browser) close() error {
	// There is nothing to save, so there is nothing to wait for. That it was killed is no error.
	_ = b.kill()
	_ = b.command.Wait()
	return errors.Join(b.in.Close(), b.out.Close(), b.stderr.Close(), os.RemoveAll(b.profile))
}
