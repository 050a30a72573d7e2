package ocr_test

import (
	"context"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/hermes-orchestrator/hermes/examples/expense/tools/ocr"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// requireTesseract skips the test where the program is not installed. In CI (HERMES_CI=1) that is a failure.
func requireTesseract(t *testing.T) {
	t.Helper()
	_, err := exec.LookPath("tesseract")
	if err == nil {
		reader, newErr := ocr.NewReader(ocr.Config{})
		require.NoError(t, newErr)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		_, err = reader.Version(ctx)
	}
	if err == nil {
		return
	}
	if os.Getenv("HERMES_CI") == "1" {
		t.Fatalf("requires tesseract: %v", err)
	}
	t.Skipf("requires tesseract: %v", err)
}

// document reads a sample upload.
func document(t *testing.T, folder, name string) ocr.Document {
	t.Helper()
	data, err := os.ReadFile(folder + "/" + name)
	require.NoError(t, err)
	return ocr.Document{Name: name, Data: data}
}
