package stack

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"go.temporal.io/sdk/client"
	"golang.org/x/sync/errgroup"

	"github.com/hermes-orchestrator/hermes/conversation"
)

// Stack is a set of running servers. Its methods may be called concurrently.
type Stack struct {
	options   Options
	dir       string
	temporary bool
	took      time.Duration

	temporalAddress string
	webURL          string
	etcdEndpoint    string
	redisAddress    string
	client          client.Client
	clientOptions   client.Options

	mu      sync.Mutex
	closers []closer
}

// closer undoes one step of the start.
type closer struct {
	what  string
	close func() error
}

// Start starts what the options ask for and returns when all of it serves. ctx limits the start only. Errors have
// CodeInvalidConfig for options that cannot work and CodeUnavailable for a port or directory in use; whatever was
// started before an error is stopped again.
func Start(ctx context.Context, options Options) (*Stack, error) {
	begin := time.Now()
	s := &Stack{options: options.withDefaults()}
	if err := s.options.validate(); err != nil {
		return nil, err
	}
	for _, wanted := range s.options.ports() {
		if err := checkPort(ctx, wanted); err != nil {
			return nil, err
		}
	}
	if err := s.start(ctx); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	s.took = time.Since(begin)
	return s, nil
}

func (s *Stack) start(ctx context.Context) error {
	if err := s.openData(); err != nil {
		return err
	}
	// They do not know each other, except that Temporal Web shows Temporal.
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return s.startRedis(ctx) })
	group.Go(func() error { return s.startEtcd(ctx) })
	if s.options.Temporal {
		group.Go(func() error {
			if err := s.startTemporal(ctx); err != nil || !s.options.UI {
				return err
			}
			return s.startWeb(ctx)
		})
	}
	return group.Wait()
}

// Took is how long the start took.
func (s *Stack) Took() time.Duration { return s.took }

// Close stops everything in reverse order of its start. Afterwards no port is open and no file in use; a temporary
// data directory is gone. Calling it again does nothing.
func (s *Stack) Close() error {
	s.mu.Lock()
	closers := s.closers
	s.closers = nil
	s.mu.Unlock()
	var errs []error
	for _, closer := range slices.Backward(closers) {
		if err := closer.close(); err != nil {
			errs = append(errs, conversation.Errorf(conversation.CodeInternal, "%s: %w", closer.what, err))
		}
	}
	return errors.Join(errs...)
}

func (s *Stack) onClose(what string, undo func() error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closers = append(s.closers, closer{what, undo})
}
