package fault

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"time"
)

// Rule is one thing that goes wrong.
type Rule struct {
	Operation   string // Empty: all operations.
	Kind        string // See the kinds below.
	Status      int
	Delay       time.Duration
	LatencyMS   int64
	SuccessRate float64
	After       int // So many calls pass first.
	Times       int // The rule ends after so many calls; 0: never.
}

// Kinds of rules.
const (
	Down     = "down"             // The connection is closed without an answer.
	Status   = "status"           // Answers Rule.Status without asking the tool.
	Latency  = "latency"          // Asks the tool and answers after Rule.Delay.
	Hang     = "hang"             // Never answers; ends with the request.
	Forge    = "forge"            // Alters the body after the tool has signed it.
	Replay   = "replay"           // Sends an earlier answer of the same operation again.
	Unsigned = "absent_signature" // Removes the signature.
	Lost     = "lost_callback"    // The answer that was to come later goes nowhere.
	Health   = "health"           // The health says Rule.LatencyMS and Rule.SuccessRate.
)

const (
	signatureHeader = "X-Verification-Signature"
	callbackHeader  = "X-Hermes-Callback"
)

// Proxy is an http.Handler in front of one tool. It is safe for concurrent use.
type Proxy struct {
	forward *httputil.ReverseProxy

	mu      sync.Mutex
	rules   []*ruleState
	last    map[string]answer // By operation.
	calls   map[string]int    // By operation.
	onCall  func(operation string)
	onReply func(operation string)
}

type ruleState struct {
	Rule
	seen int
}

type answer struct {
	status int
	header http.Header
	body   []byte
}

// New returns a proxy without rules in front of target.
func New(target *url.URL) *Proxy {
	base := *target
	if !strings.HasPrefix(base.Path, "/") {
		base.Path = "/" + base.Path // url.JoinPath leaves it out where there was no path before.
	}
	p := &Proxy{last: map[string]answer{}, calls: map[string]int{}}
	p.forward = &httputil.ReverseProxy{
		Rewrite:      func(r *httputil.ProxyRequest) { r.SetURL(&base) },
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, _ error) { w.WriteHeader(http.StatusBadGateway) },
	}
	return p
}

// Set replaces all rules.
func (p *Proxy) Set(rules []Rule) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.rules = nil
	for _, rule := range rules {
		p.rules = append(p.rules, &ruleState{Rule: rule})
	}
}

// Watch has before called when a call of the tool arrives and after when the tool has answered it, before the answer
// is passed on. Either may be nil.
func (p *Proxy) Watch(before, after func(operation string)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.onCall, p.onReply = before, after
}

// Calls returns how many calls of an operation have arrived.
func (p *Proxy) Calls(operation string) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.calls[operation]
}

func (p *Proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	operation, isCall := strings.CutPrefix(r.URL.Path, "/invoke/")
	if !isCall {
		if r.URL.Path == "/health" {
			p.serveHealth(w, r)
			return
		}
		p.forward.ServeHTTP(w, r)
		return
	}
	rule, before, after := p.arrive(operation)
	if before != nil {
		before(operation)
	}
	switch rule.Kind {
	case Down:
		panic(http.ErrAbortHandler) //nolint:forbidigo // The way to close the connection without an answer.
	case Status:
		w.WriteHeader(rule.Status)
		return
	case Hang:
		<-r.Context().Done()
		return
	case Lost:
		if r.Header.Get(callbackHeader) != "" {
			r.Header.Set(callbackHeader, "http://127.0.0.1:1/")
		}
	case Replay:
		if old, found := p.lastAnswer(operation); found {
			send(w, old)
			return
		}
	}
	got := p.ask(r)
	if after != nil {
		after(operation)
	}
	p.mu.Lock()
	p.last[operation] = got
	p.mu.Unlock()
	switch rule.Kind {
	case Latency:
		timer := time.NewTimer(rule.Delay)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-r.Context().Done():
			return
		}
	case Forge:
		got.body = forge(got.body)
	case Unsigned:
		got.header = got.header.Clone()
		got.header.Del(signatureHeader)
	}
	send(w, got)
}

// arrive counts the call and returns the rule that applies to it.
func (p *Proxy) arrive(operation string) (Rule, func(string), func(string)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.calls[operation]++
	for _, rule := range p.rules {
		if rule.Kind == Health || (rule.Operation != "" && rule.Operation != operation) {
			continue
		}
		rule.seen++
		if rule.seen > rule.After && (rule.Times == 0 || rule.seen <= rule.After+rule.Times) {
			return rule.Rule, p.onCall, p.onReply
		}
	}
	return Rule{}, p.onCall, p.onReply
}

func (p *Proxy) lastAnswer(operation string) (answer, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	a, found := p.last[operation]
	return a, found
}

func (p *Proxy) serveHealth(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	var health, down *ruleState
	for _, rule := range p.rules {
		if rule.Kind == Health {
			health = rule
		}
		if rule.Kind == Down && rule.Operation == "" && rule.After == 0 && rule.Times == 0 {
			down = rule
		}
	}
	p.mu.Unlock()
	if down != nil {
		panic(http.ErrAbortHandler) //nolint:forbidigo // As for a call.
	}
	got := p.ask(r)
	if health != nil {
		var fields map[string]any
		if json.Unmarshal(got.body, &fields) == nil {
			fields["latency_ms"], fields["success_rate"] = health.LatencyMS, health.SuccessRate
			if body, err := json.Marshal(fields); err == nil {
				got.body = body
			}
		}
	}
	send(w, got)
}

// ask passes the request on and keeps the answer.
func (p *Proxy) ask(r *http.Request) answer {
	recorder := &recorder{header: http.Header{}, status: http.StatusOK}
	p.forward.ServeHTTP(recorder, r)
	return answer{status: recorder.status, header: recorder.header, body: recorder.body.Bytes()}
}

func send(w http.ResponseWriter, a answer) {
	for name, values := range a.header {
		if name != "Content-Length" {
			w.Header()[name] = values
		}
	}
	w.WriteHeader(a.status)
	_, _ = io.Copy(w, bytes.NewReader(a.body))
}

// forge changes one digit or letter, so that the body stays valid JSON and only the signature can tell.
func forge(body []byte) []byte {
	forged := bytes.Clone(body)
	for i := len(forged) - 1; i >= 0; i-- {
		if forged[i] >= '1' && forged[i] <= '8' {
			forged[i]++
			return forged
		}
	}
	return append(forged, ' ')
}

type recorder struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (r *recorder) Header() http.Header         { return r.header }
func (r *recorder) WriteHeader(status int)      { r.status = status }
func (r *recorder) Write(p []byte) (int, error) { return r.body.Write(p) }
