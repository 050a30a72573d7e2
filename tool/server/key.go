package server

import (
	"crypto/ed25519"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/hermes-orchestrator/hermes/conversation"
)

// KeyFromFile returns the private key whose seed (base64 of 32 bytes, one line) is in the file at path. If there is no
// such file it makes a key and writes it, readable by the owner only; of several processes that start at once all get
// the same key. Register tool.EncodeKey of its public half. Errors have CodeInvalidConfig and never show the seed.
func KeyFromFile(path string) (ed25519.PrivateKey, error) {
	key, err := readKey(path)
	if !errors.Is(err, fs.ErrNotExist) {
		return key, err
	}
	seed := make([]byte, ed25519.SeedSize)
	if _, err := rand.Read(seed); err != nil {
		return nil, conversation.Errorf(conversation.CodeInvalidConfig, "key file %q: no randomness for a new key: %w",
			path, err)
	}
	if err := createKey(path, seed); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, conversation.Errorf(conversation.CodeInvalidConfig, "key file %q cannot be written: %w", path, err)
	}
	return readKey(path)
}

func readKey(path string) (ed25519.PrivateKey, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, conversation.Errorf(conversation.CodeInvalidConfig, "key file %q cannot be read: %w", path, err)
	}
	seed, err := base64.StdEncoding.DecodeString(strings.TrimSpace(string(data)))
	if err != nil || len(seed) != ed25519.SeedSize {
		return nil, conversation.Errorf(conversation.CodeInvalidConfig,
			"key file %q does not hold the base64 of %d bytes: remove it to get a new key", path, ed25519.SeedSize)
	}
	return ed25519.NewKeyFromSeed(seed), nil
}

// createKey writes a complete file under another name and links it: nobody ever reads half a key, and a second process
// cannot replace the key of the first.
func createKey(path string, seed []byte) error {
	temporary, err := os.CreateTemp(filepath.Dir(path), ".key-*") // Mode 0600.
	if err != nil {
		return err
	}
	defer os.Remove(temporary.Name())
	_, err = temporary.WriteString(base64.StdEncoding.EncodeToString(seed) + "\n")
	if err == nil {
		err = temporary.Sync()
	}
	if closeErr := temporary.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		return err
	}
	return os.Link(temporary.Name(), path)
}
