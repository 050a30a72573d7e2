package tool

import (
	"bytes"
	"crypto/ed25519"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/goccy/go-yaml/ast"
)

// manifestReader reads one entry of "tools".
type manifestReader struct {
	loader   *loader
	file     string
	place    place
	manifest Manifest
}

func (r *manifestReader) failf(line int, format string, args ...any) {
	r.loader.failf(r.file, line, format, args...)
}

func (r *manifestReader) read(node ast.Node) {
	r.loader.each(r.file, node, func(e yamlEntry) bool {
		r.place.lines[e.key] = e.line
		switch e.key {
		case "name":
			r.manifest.Name = r.text(e)
		case "url":
			r.manifest.URL = r.text(e)
		case "alternate":
			r.manifest.Alternate = r.text(e)
		case "latency_limit":
			r.manifest.LatencyLimit = r.duration(e)
		case "dev":
			r.manifest.Dev = r.flag(e)
		case "keys":
			r.keys(e)
		case "keys_file":
			r.keysFile(e)
		case "operations":
			r.operations(e)
		default:
			return false
		}
		return true
	}, "name", "url", "keys", "keys_file", "operations", "alternate", "latency_limit", "dev")
}

func (r *manifestReader) operations(e yamlEntry) {
	entries, err := mappingOf(e.value)
	if err != nil {
		r.failf(e.line, "operations: %s", err)
		return
	}
	for _, entry := range entries {
		r.place.lines["operations."+entry.key] = entry.line
		r.manifest.Operations[entry.key] = r.operation(entry)
	}
}

func (r *manifestReader) operation(at yamlEntry) Operation {
	var o Operation
	prefix := "operations." + at.key + "."
	r.loader.each(r.file, at.value, func(e yamlEntry) bool {
		r.place.lines[prefix+e.key] = e.line
		switch e.key {
		case "effect":
			o.Effect = r.text(e)
		case "timeout":
			o.Timeout = r.duration(e)
		case "max_attempts":
			o.MaxAttempts = r.count(e)
		case "backoff":
			o.Backoff = r.duration(e)
		case "async":
			o.Async = r.flag(e)
		case "batch":
			o.Batch = r.text(e)
		case "fallback":
			o.Fallback = r.fallback(e, prefix+"fallback.")
		default:
			return false
		}
		return true
	}, "effect", "timeout", "max_attempts", "backoff", "fallback", "async", "batch")
	return o
}

func (r *manifestReader) fallback(at yamlEntry, prefix string) Fallback {
	var f Fallback
	r.loader.each(r.file, at.value, func(e yamlEntry) bool {
		r.place.lines[prefix+e.key] = e.line
		switch e.key {
		case "strategy":
			f.Strategy = r.text(e)
		case "stale_after":
			f.StaleAfter = r.duration(e)
		case "url":
			f.URL = r.text(e)
		case "answer":
			answer, err := jsonOf(e.value, 0)
			if err != nil {
				r.failf(e.line, "answer: %s", err)
			}
			f.Answer = answer
		default:
			return false
		}
		return true
	}, "strategy", "stale_after", "answer", "url")
	return f
}

func (r *manifestReader) keys(e yamlEntry) {
	entries, err := mappingOf(e.value)
	if err != nil {
		r.failf(e.line, "keys: %s", err)
		return
	}
	for _, entry := range entries {
		r.place.lines["keys."+entry.key] = entry.line
		if text := r.text(entry); text != "" {
			r.key(entry.line, entry.key, text, "")
		}
	}
}

// keysFile reads lines "kid base64", relative to the manifest's own directory. Empty lines and # comments are skipped.
func (r *manifestReader) keysFile(e yamlEntry) {
	path := r.text(e)
	if path == "" {
		return
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(filepath.Dir(r.file), path)
	}
	data, err := readBounded(path)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			err = fmt.Errorf("%q does not exist: write the tool's public keys there, lines of the form \"kid base64\"",
				path)
		}
		r.failf(e.line, "keys_file: %s", err)
		return
	}
	number := 0
	for line := range bytes.Lines(data) {
		number++
		fields := strings.Fields(string(line))
		if len(fields) == 0 || strings.HasPrefix(fields[0], "#") {
			continue
		}
		at := fmt.Sprintf("%s:%d: ", path, number)
		if len(fields) != 2 {
			r.failf(e.line, "%sa line of the form \"kid base64\" is expected", at)
			continue
		}
		r.key(e.line, fields[0], fields[1], at)
	}
}

func (r *manifestReader) key(line int, id, text, at string) {
	key, err := DecodeKey(text)
	if err != nil {
		r.failf(line, "%skey %q is not the base64 of %d bytes, a raw Ed25519 public key", at, id, ed25519.PublicKeySize)
		return
	}
	if known, ok := r.manifest.Keys[id]; ok && !known.Equal(key) {
		r.failf(line, "%skey %q is given twice, with different values", at, id)
		return
	}
	r.manifest.Keys[id] = key
}

func (r *manifestReader) text(e yamlEntry) string {
	text, err := scalarOf(e.value)
	if err == nil {
		text, err = expand(text, r.loader.getenv)
	}
	if err != nil {
		r.failf(e.line, "%s: %s", e.key, err)
		return ""
	}
	return text
}

func (r *manifestReader) duration(e yamlEntry) time.Duration {
	text := r.text(e)
	if text == "" {
		return 0
	}
	d, err := time.ParseDuration(text)
	if err != nil || d <= 0 {
		r.failf(e.line, "%s: %q is not a duration such as 200ms, 5s or 10m", e.key, text)
		return 0
	}
	return d
}

func (r *manifestReader) flag(e yamlEntry) bool {
	text := r.text(e)
	if text == "" {
		return false
	}
	value, err := strconv.ParseBool(text)
	if err != nil {
		r.failf(e.line, "%s: %q is neither true nor false", e.key, text)
	}
	return value
}

func (r *manifestReader) count(e yamlEntry) int32 {
	text := r.text(e)
	if text == "" {
		return 0
	}
	value, err := strconv.ParseInt(text, 10, 32)
	if err != nil || value < 1 {
		r.failf(e.line, "%s: %q is not a whole number from 1", e.key, text)
		return 0
	}
	return int32(value)
}
