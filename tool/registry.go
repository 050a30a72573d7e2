package tool

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/hermes-orchestrator/hermes/conversation"
)

// Registry holds the manifests of all tools. It does not change, so it is safe for concurrent use.
type Registry struct{ tools map[string]Manifest }

// NewRegistry checks the manifests, each by itself and against the others, and fills in defaults. The error has
// CodeInvalidConfig and lists everything that is wrong, a line each.
func NewRegistry(manifests []Manifest) (*Registry, error) {
	registry, found := newRegistry(manifests)
	var lines []string
	for i, list := range found {
		for _, p := range list {
			lines = append(lines, "tool "+quoted(manifests[i].Name, i)+": "+p.field+": "+p.message)
		}
	}
	if len(lines) > 0 {
		return nil, conversation.Errorf(conversation.CodeInvalidConfig, "%s", strings.Join(lines, "\n"))
	}
	return registry, nil
}

// newRegistry returns, beside the registry, the problems of each manifest.
func newRegistry(manifests []Manifest) (*Registry, []problems) {
	registry := &Registry{tools: make(map[string]Manifest, len(manifests))}
	found := make([]problems, len(manifests))
	filled := make([]Manifest, len(manifests))
	for i, m := range manifests {
		filled[i] = m.withDefaults()
		found[i] = filled[i].check()
		if _, twice := registry.tools[m.Name]; twice {
			found[i].addf("name", "tool %q is described twice: remove one", m.Name)
			continue
		}
		registry.tools[m.Name] = filled[i]
	}
	for i, m := range filled {
		registry.checkAlternate(&found[i], m)
		registry.checkProxies(&found[i], m)
	}
	return registry, found
}

func (r *Registry) checkAlternate(p *problems, m Manifest) {
	if m.Alternate == "" || m.Alternate == m.Name {
		return
	}
	alternate, ok := r.tools[m.Alternate]
	if !ok {
		p.addf("alternate", "alternate %q is not registered", m.Alternate)
		return
	}
	shared := false
	for _, name := range slices.Sorted(maps.Keys(m.Operations)) {
		o, ok := alternate.Operations[name]
		shared = shared || ok
		if ok && o.Effect != m.Operations[name].Effect {
			p.addf("operations."+name+".effect", "effect %q differs from %q of the alternate %q",
				m.Operations[name].Effect, o.Effect, m.Alternate)
		}
	}
	if !shared {
		p.addf("alternate", "alternate %q has none of the operations of %q", m.Alternate, m.Name)
	}
}

func (r *Registry) checkProxies(p *problems, m Manifest) {
	for _, name := range slices.Sorted(maps.Keys(m.Operations)) {
		o := m.Operations[name]
		field := "operations." + name + ".fallback.url"
		if o.Fallback.Strategy != FallbackProxy {
			continue
		}
		if o.Fallback.URL == m.URL {
			p.addf(field, "url %q is the tool's own: a proxy needs another endpoint", o.Fallback.URL)
			continue
		}
		proxy, ok := r.proxy(m, o)
		if !ok {
			continue // The alternate is missing, which is reported already.
		}
		if other, ok := proxy.Operations[name]; !ok || other.Effect != o.Effect {
			p.addf(field, "tool %q has no %s operation %q", proxy.Name, o.Effect, name)
		}
	}
}

// proxy returns the manifest by which the answers of an operation's proxy are verified, with its URL.
func (r *Registry) proxy(m Manifest, o Operation) (Manifest, bool) {
	if o.Fallback.URL == "" {
		alternate, ok := r.tools[m.Alternate]
		return alternate, ok
	}
	for _, name := range r.Names() {
		if r.tools[name].URL == o.Fallback.URL {
			return r.tools[name], true
		}
	}
	m.URL = o.Fallback.URL
	return m, true
}

// Lookup returns the manifest and the operation, or CodeUnknownTool with a list of what there is. The maps in the
// manifest belong to the registry: read them only.
func (r *Registry) Lookup(tool, operation string) (Manifest, Operation, error) {
	m, err := r.manifest(tool)
	if err != nil {
		return Manifest{}, Operation{}, err
	}
	o, ok := m.Operations[operation]
	if !ok {
		return Manifest{}, Operation{}, conversation.Errorf(conversation.CodeUnknownTool,
			"tool %q has no operation %q: it has %s", tool, operation,
			strings.Join(slices.Sorted(maps.Keys(m.Operations)), ", "))
	}
	return m, o, nil
}

func (r *Registry) manifest(tool string) (Manifest, error) {
	m, ok := r.tools[tool]
	if !ok {
		return Manifest{}, conversation.Errorf(conversation.CodeUnknownTool,
			"tool %q is not registered: registered are %s", tool, strings.Join(r.Names(), ", "))
	}
	return m, nil
}

// Manifests returns every registered tool, in the order of names. They are read-only.
func (r *Registry) Manifests() []Manifest {
	manifests := make([]Manifest, 0, len(r.tools))
	for _, name := range r.Names() {
		manifests = append(manifests, r.tools[name])
	}
	return manifests
}

// Names lists the registered tools, sorted.
func (r *Registry) Names() []string { return slices.Sorted(maps.Keys(r.tools)) }

func quoted(name string, index int) string {
	if name == "" {
		return "#" + strconv.Itoa(index+1)
	}
	return strconv.Quote(name)
}
