package stack

import (
	"errors"
	"net/url"
	"os"
	"path/filepath"

	"go.etcd.io/etcd/client/pkg/v3/fileutil"

	"github.com/hermes-orchestrator/hermes/conversation"
)

// Names in the data directory.
const (
	lockFile     = "lock"
	temporalFile = "temporal.db"
	temporalLog  = "temporal.log"
	etcdDir      = "etcd"
	etcdLog      = "etcd.log"
	graphFile    = "graph.db"
	blobDir      = "blobs"
)

// openData makes and locks the data directory. Two stacks on one directory would corrupt each other's files, and etcd
// would wait for its own lock without a word.
func (s *Stack) openData() error {
	s.dir, s.temporary = s.options.DataDir, s.options.DataDir == ""
	if s.temporary {
		dir, err := os.MkdirTemp("", "hermes-dev-")
		if err != nil {
			return conversation.Errorf(conversation.CodeUnavailable, "make a temporary data directory: %w", err)
		}
		s.dir = dir
		s.onClose("remove data", func() error { return os.RemoveAll(dir) })
	}
	if err := os.MkdirAll(filepath.Join(s.dir, blobDir), 0o700); err != nil {
		return conversation.Errorf(conversation.CodeUnavailable,
			"open data directory %q: choose another with --data (%w)", s.dir, err)
	}
	lock, err := fileutil.TryLockFile(filepath.Join(s.dir, lockFile), os.O_CREATE|os.O_RDWR, 0o600)
	if errors.Is(err, fileutil.ErrLocked) {
		return conversation.Errorf(conversation.CodeUnavailable,
			"open data directory %q: another stack uses it: stop that one or choose another with --data", s.dir)
	}
	if err != nil {
		return conversation.Errorf(conversation.CodeUnavailable,
			"lock data directory %q: choose another with --data (%w)", s.dir, err)
	}
	s.onClose("unlock data", lock.Close)
	return nil
}

// DataDir is the directory with everything that the stack keeps.
func (s *Stack) DataDir() string { return s.dir }

// BlobURL is where uploaded files go: a file URL of a directory that exists.
func (s *Stack) BlobURL() string {
	return (&url.URL{Scheme: "file", Path: filepath.ToSlash(filepath.Join(s.dir, blobDir))}).String()
}

// GraphURL is where the graph is: the Neo4j URL of the options, or "sqlite:" and the path of a file that need not exist
// yet.
func (s *Stack) GraphURL() string {
	if s.options.Neo4jURL != "" {
		return s.options.Neo4jURL
	}
	return "sqlite:" + filepath.Join(s.dir, graphFile)
}
