package tool

import (
	"bytes"
	"crypto/ed25519"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"time"
)

// Defaults and bounds of a manifest.
const (
	DefaultLatencyLimit = 2 * time.Second
	DefaultTimeout      = 5 * time.Second
	DefaultMaxAttempts  = 3
	DefaultBackoff      = 200 * time.Millisecond

	maxTimeout  = 10 * time.Minute
	maxAttempts = 20
	maxNameLen  = 64
)

// Manifest is what Hermes knows of one tool. It is read-only once a Registry holds it.
type Manifest struct {
	Name string
	// URL is the base of the tool's endpoints, without query.
	URL string
	// Keys are the public keys by which answers are verified, by key id. Several allow a change of keys.
	Keys       map[string]ed25519.PublicKey
	Operations map[string]Operation
	// Alternate names a registered tool that is asked instead while this one is unhealthy (SPEC T1). Only reading
	// operations move: a write that was tried here and repeated there might happen twice.
	Alternate string
	// LatencyLimit above which the tool counts as unhealthy. Defaults to 2 s.
	LatencyLimit time.Duration
	// Dev admits reading operations without fallback (SPEC T3: debug only).
	Dev bool
}

// Operation is what a manifest says of one operation. Zero values mean the defaults.
type Operation struct {
	// Effect is EffectRead or EffectWrite.
	Effect string
	// Timeout of one attempt. Defaults to 5 s.
	Timeout time.Duration
	// MaxAttempts that Temporal may make. Defaults to 3.
	MaxAttempts int32
	// Backoff before the second attempt. Defaults to 200 ms.
	Backoff  time.Duration
	Fallback Fallback
	// Async says that the operation may be accepted now and answered later.
	Async bool
	// Batch names the argument whose length multiplies the tool's latency.
	Batch string
}

// Strategies of a Fallback (SPEC T3).
const (
	FallbackCache = "cache"
	FallbackMock  = "mock"
	FallbackProxy = "proxy"
	FallbackNone  = "none"
)

// Fallback is what stands in for an operation that cannot be asked.
type Fallback struct {
	// Strategy is cache, mock, proxy or none. Write operations know only proxy and none, and default to none.
	Strategy string
	// StaleAfter is the age from which on a cached answer is not used any more.
	StaleAfter time.Duration
	// Answer is the output of mock, a JSON object that complies with the operation's schema.
	Answer json.RawMessage
	// URL of the alternate endpoint of proxy. Empty means the tool's Alternate. If a registered tool has this URL, the
	// answer is verified with that tool's name and keys; otherwise with the name and the keys of this tool, of which it
	// is then a second instance. For a write operation it must share its record of idempotency keys with the first.
	URL string
}

// problem is one error of a manifest. Field is a path such as "operations.debit.fallback.strategy".
type problem struct{ field, message string }

type problems []problem

func (p *problems) addf(field, format string, args ...any) {
	*p = append(*p, problem{field: field, message: fmt.Sprintf(format, args...)})
}

// withDefaults returns a copy that shares no map with m.
func (m Manifest) withDefaults() Manifest {
	m.URL = strings.TrimRight(m.URL, "/")
	m.Keys = maps.Clone(m.Keys)
	if m.LatencyLimit == 0 {
		m.LatencyLimit = DefaultLatencyLimit
	}
	operations := make(map[string]Operation, len(m.Operations))
	for name, o := range m.Operations {
		if o.Timeout == 0 {
			o.Timeout = DefaultTimeout
		}
		if o.MaxAttempts == 0 {
			o.MaxAttempts = DefaultMaxAttempts
		}
		if o.Backoff == 0 {
			o.Backoff = DefaultBackoff
		}
		if o.Fallback.Strategy == "" && o.Effect == EffectWrite {
			o.Fallback.Strategy = FallbackNone
		}
		o.Fallback.URL = strings.TrimRight(o.Fallback.URL, "/")
		operations[name] = o
	}
	m.Operations = operations
	return m
}

// check returns what is wrong with a manifest by itself, defaults filled in.
func (m Manifest) check() problems {
	var p problems
	if !ValidName(m.Name) {
		p.addf("name", "name %q is not 1–%d letters, digits, '.', '_' or '-'", m.Name, maxNameLen)
	}
	if m.URL == "" {
		p.addf("url", "url is missing: give the base URL of the tool")
	} else if reason := badURL(m.URL); reason != "" {
		p.addf("url", "url %q %s", m.URL, reason)
	}
	if len(m.Keys) == 0 {
		p.addf("keys", "keys are missing: give at least one public key by which answers are verified")
	}
	for _, id := range slices.Sorted(maps.Keys(m.Keys)) {
		if !validKeyID(id) {
			p.addf("keys", "key id %q is not 1–%d letters, digits, '.', '_' or '-'", id, maxKeyIDLen)
		}
		if len(m.Keys[id]) != ed25519.PublicKeySize {
			p.addf("keys."+id, "key %q has %d bytes, an Ed25519 public key has %d", id, len(m.Keys[id]),
				ed25519.PublicKeySize)
		}
	}
	if m.LatencyLimit < 0 {
		p.addf("latency_limit", "latency_limit %s is negative", m.LatencyLimit)
	}
	if m.Alternate != "" && m.Alternate == m.Name {
		p.addf("alternate", "alternate %q is the tool itself: name another one", m.Alternate)
	}
	if len(m.Operations) == 0 {
		p.addf("operations", "operations are missing: name at least one")
	}
	for _, name := range slices.Sorted(maps.Keys(m.Operations)) {
		m.Operations[name].check(&p, name, m)
	}
	return p
}

func (o Operation) check(p *problems, name string, m Manifest) {
	field := "operations." + name
	if !ValidName(name) {
		p.addf(field, "operation %q is not 1–%d letters, digits, '.', '_' or '-'", name, maxNameLen)
	}
	if o.Effect != EffectRead && o.Effect != EffectWrite {
		p.addf(field+".effect", "effect %q is not one of %q, %q", o.Effect, EffectRead, EffectWrite)
	}
	if o.Timeout < 0 || o.Timeout > maxTimeout {
		p.addf(field+".timeout", "timeout %s is not between 1ms and %s", o.Timeout, maxTimeout)
	}
	if o.MaxAttempts < 1 || o.MaxAttempts > maxAttempts {
		p.addf(field+".max_attempts", "max_attempts %d is not between 1 and %d", o.MaxAttempts, maxAttempts)
	}
	if o.Backoff < 0 || o.Backoff > maxTimeout {
		p.addf(field+".backoff", "backoff %s is not between 1ms and %s", o.Backoff, maxTimeout)
	}
	o.Fallback.check(p, field+".fallback", o.Effect, m)
}

func (f Fallback) check(p *problems, field, effect string, m Manifest) {
	at := field + ".strategy"
	switch f.Strategy {
	case FallbackCache:
		if f.StaleAfter <= 0 {
			p.addf(field+".stale_after",
				"stale_after is missing: a cache needs an age from which on its answer is not used")
		}
	case FallbackMock:
		if !isObject(f.Answer) {
			p.addf(field+".answer", "answer is missing or not an object: a mock needs the output that it stands for")
		}
	case FallbackProxy:
		if reason := badURL(f.URL); f.URL != "" && reason != "" {
			p.addf(field+".url", "url %q %s", f.URL, reason)
		}
		if f.URL == "" && m.Alternate == "" {
			p.addf(field+".url", "url is missing: a proxy needs an alternate endpoint, or the tool an alternate")
		}
	case FallbackNone:
		if effect == EffectRead && !m.Dev {
			p.addf(at,
				"strategy %q is for write operations: choose cache, mock or proxy, or set dev: true outside production",
				f.Strategy)
		}
	case "":
		p.addf(field, "fallback is missing: choose the strategy cache, mock or proxy")
	default:
		p.addf(at, "strategy %q is not one of cache, mock, proxy, none", f.Strategy)
	}
	if effect == EffectWrite && (f.Strategy == FallbackCache || f.Strategy == FallbackMock) {
		p.addf(at,
			"strategy %q is not for write operations: an effect that did not take place must not look as if it had",
			f.Strategy)
	}
	if f.StaleAfter != 0 && f.Strategy != FallbackCache {
		p.addf(field+".stale_after", "stale_after belongs to the strategy cache, not to %q", f.Strategy)
	}
	if len(f.Answer) != 0 && f.Strategy != FallbackMock {
		p.addf(field+".answer", "answer belongs to the strategy mock, not to %q", f.Strategy)
	}
	if f.URL != "" && f.Strategy != FallbackProxy {
		p.addf(field+".url", "url belongs to the strategy proxy, not to %q", f.Strategy)
	}
}

// ValidName reports whether name may be that of a tool or of an operation: 1–64 letters, digits, '.', '_' and '-'.
// Names are signed, used in paths and as labels of metrics.
func ValidName(name string) bool { return validKeyID(name) && name != "." && name != ".." }

// badURL says why text is not a base URL, or nothing.
func badURL(text string) string {
	u, err := url.Parse(text)
	switch {
	case err != nil:
		return "cannot be read as a URL"
	case u.Scheme != "http" && u.Scheme != "https":
		return "does not start with http:// or https://"
	case u.Hostname() == "":
		return "names no host"
	case u.User != nil:
		return "holds a user or a password: these would end up in logs"
	case u.RawQuery != "" || u.Fragment != "" || u.ForceQuery:
		return "has a query or a fragment: give the base only"
	}
	return ""
}

func isObject(data json.RawMessage) bool {
	return json.Valid(data) && bytes.HasPrefix(bytes.TrimLeft(data, " \t\r\n"), []byte("{"))
}
