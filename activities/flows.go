package activities

import (
	"context"
	"errors"

	"github.com/hermes-orchestrator/hermes/conversation"
	"github.com/hermes-orchestrator/hermes/conversation/flow"
)

// Objects is where the sources of flows are kept by content hash, so that a conversation keeps the version it started
// with when a newer one is deployed.
type Objects interface {
	// PutObject returns the hex SHA-256 of data.
	PutObject(ctx context.Context, data []byte) (string, error)
	// GetObject returns an error of code not_found for an unknown hash.
	GetObject(ctx context.Context, hash string) ([]byte, error)
}

// Flows finds flows by version: those of this build, and older ones by their hash. It is safe for concurrent use.
type Flows struct {
	library *flow.Library
	objects Objects
}

// NewFlows returns Flows over the flows of this build. objects may be nil; then older versions are unknown.
func NewFlows(library *flow.Library, objects Objects) *Flows {
	return &Flows{library: library, objects: objects}
}

// Publish stores the source of every flow under its hash. Call it once when a worker starts.
func (f *Flows) Publish(ctx context.Context) error {
	if f.objects == nil {
		return nil
	}
	for _, ref := range f.library.Refs() {
		fl, err := f.library.Get(ref)
		if err != nil {
			return err
		}
		if _, err := f.objects.PutObject(ctx, fl.Source()); err != nil {
			return err
		}
	}
	return nil
}

// Get returns the flow of exactly that version.
func (f *Flows) Get(ctx context.Context, ref conversation.FlowRef) (*flow.Flow, error) {
	fl, err := f.library.Get(ref)
	if err == nil || f.objects == nil {
		return fl, err
	}
	source, objectErr := f.objects.GetObject(ctx, ref.Version)
	if objectErr != nil {
		if errors.Is(objectErr, &conversation.Error{Code: conversation.CodeNotFound}) {
			return nil, err
		}
		return nil, objectErr
	}
	if fl, err = flow.Parse(ref.ID+".yaml", source); err != nil {
		return nil, conversation.Errorf(conversation.CodeInvalidFlow,
			"stored flow %q version %q: %w", ref.ID, ref.Version, err)
	}
	if fl.Ref() != ref {
		return nil, conversation.Errorf(conversation.CodeInvalidFlow,
			"stored flow %q: its content is version %q, not %q", ref.ID, fl.Ref().Version, ref.Version)
	}
	f.library.Add(fl)
	return fl, nil
}

// among returns a library of just these versions.
func (f *Flows) among(ctx context.Context, refs []conversation.FlowRef) (*flow.Library, error) {
	flows := make([]*flow.Flow, 0, len(refs))
	for _, ref := range refs {
		fl, err := f.Get(ctx, ref)
		if err != nil {
			return nil, err
		}
		flows = append(flows, fl)
	}
	return flow.NewLibrary(flows...), nil
}

// titles names what a conversation can be about.
func (f *Flows) titles(locale string) []string {
	var titles []string
	for _, ref := range f.library.Refs() {
		if fl, err := f.library.Get(ref); err == nil {
			titles = append(titles, fl.Title(locale))
		}
	}
	return titles
}
