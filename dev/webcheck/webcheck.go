// Package webcheck looks at web pages with a headless Chromium, the way a person would see them: scripts have run and
// their requests have been answered. Tests use it to check what Temporal Web and the web console show. It runs on
// systems with process groups (Linux, macOS).
//
// It imports conversation only. Tests of this module import it.
package webcheck

import (
	"context"
	"encoding/base64"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/hermes-orchestrator/hermes/conversation"
)

// EnvCI is set to 1 where every program that tests need is installed: there, a missing one fails the test.
const EnvCI = "HERMES_CI"

const (
	// limit bounds one look at a page.
	limit = time.Minute
	// glance is the pause between two looks at whether the page is there.
	glance = 50 * time.Millisecond
	// rest is how long a page without texts to wait for must have been the same to count as complete.
	rest = 2 * time.Second

	// The window shows all of a workflow's page that matters without scrolling.
	width, height = 1600, 1400
)

// DOM returns the HTML of the page, followed by that of the frames in it with their decoded addresses. It waits until
// all the texts are there, each as it stands in the HTML, or, without texts, until the page has stopped changing.
// CodeUnavailable when there is no Chromium, and CodeNotFound, with the HTML as far as it came, when a text does not
// appear within a minute.
func DOM(ctx context.Context, url string, texts ...string) (string, error) {
	var dom string
	err := look(ctx, url, texts, func(_ *browser, html string) error {
		dom = html
		return nil
	})
	return dom, err
}

// Screenshot writes a PNG image of the page to path. It waits and fails like DOM; the image is written in any case,
// because it shows best what is missing.
func Screenshot(ctx context.Context, url, path string, texts ...string) error {
	return look(ctx, url, texts, func(b *browser, _ string) error {
		var image struct {
			Data string `json:"data"`
		}
		if err := b.call("Page.captureScreenshot", map[string]any{"format": "png"}, &image); err != nil {
			return err
		}
		data, err := base64.StdEncoding.DecodeString(image.Data)
		if err != nil {
			return conversation.Errorf(conversation.CodeInternal, "take screenshot of %q: %w", url, err)
		}
		if err := os.WriteFile(path, data, 0o600); err != nil {
			return conversation.Errorf(conversation.CodeInvalidArgument, "take screenshot of %q: %w", url, err)
		}
		return nil
	})
}

// Find returns the path of Chromium. CodeUnavailable when there is none in PATH.
func Find() (string, error) {
	names := []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome"}
	for _, name := range names {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", conversation.Errorf(conversation.CodeUnavailable,
		"find a browser: none of %s is in PATH: install Chromium", strings.Join(names, ", "))
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

// look opens the page, waits for it and hands it to use, also when a text is missing.
func look(ctx context.Context, url string, texts []string, use func(b *browser, html string) error) (err error) {
	ctx, cancel := context.WithTimeout(ctx, limit+10*time.Second)
	defer cancel()
	b, err := openBrowser(ctx, width, height)
	if err != nil {
		return err
	}
	defer func() {
		if closeErr := b.close(); err == nil {
			err = closeErr
		}
	}()
	var navigated struct {
		Error string `json:"errorText"`
	}
	if err := b.call("Page.navigate", map[string]any{"url": url}, &navigated); err != nil {
		return err
	}
	if navigated.Error != "" {
		return conversation.Errorf(conversation.CodeUnavailable, "open %q in Chromium: %s", url, navigated.Error)
	}
	html, missing, err := b.wait(ctx, texts)
	if err != nil {
		return err
	}
	if err := use(b, html); err != nil {
		return err
	}
	if len(missing) > 0 {
		return conversation.Errorf(conversation.CodeNotFound, "open %q in Chromium: the page does not show %q", url, missing)
	}
	return nil
}

// collect is a script that returns the HTML of a document and of the frames that it may read, each after its decoded
// address: Temporal Web renders Markdown in a frame that nothing may read, and hands it the text in the address. Last
// comes how many requests were answered: a page that is still loading is not at rest, even when it shows nothing new.
const collect = `(function html(doc) {
	let text = doc.documentElement.outerHTML;
	for (const frame of doc.querySelectorAll("iframe")) {
		text += "\n" + decodeURIComponent(frame.src);
		try { text += "\n" + html(frame.contentDocument); } catch (e) { /* It may not be read. */ }
	}
	return text;
})(document) + "\n<!-- answered: " + performance.getEntriesByType("resource").length + " -->"`

// wait looks at the page until it has all texts, or has come to rest when there are none, or time is up. It returns the
// HTML and the texts that are missing.
func (b *browser) wait(ctx context.Context, texts []string) (html string, missing []string, err error) {
	tick := time.NewTicker(glance)
	defer tick.Stop()
	begin := time.Now()
	changed := begin
	for {
		var answer struct {
			Result struct {
				Value string `json:"value"`
			} `json:"result"`
		}
		evaluate := map[string]any{"expression": collect, "returnByValue": true}
		if err := b.call("Runtime.evaluate", evaluate, &answer); err != nil {
			return "", nil, err
		}
		if answer.Result.Value != html {
			html, changed = answer.Result.Value, time.Now()
		}
		missing = missing[:0]
		for _, text := range texts {
			if !strings.Contains(html, text) {
				missing = append(missing, text)
			}
		}
		switch {
		case len(texts) > 0 && len(missing) == 0,
			len(texts) == 0 && time.Since(changed) >= rest,
			time.Since(begin) >= limit:
			return html, missing, nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return "", nil, conversation.Errorf(conversation.CodeUnavailable, "wait for the page: %w", ctx.Err())
		}
	}
}
