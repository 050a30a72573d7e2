package stack_test

import (
	"os"
	"testing"

	"go.uber.org/goleak"
)

// envGiveUp is set in the process of a test that leaves goroutines.
const envGiveUp = "HERMES_STACK_TEST_GIVE_UP"

// TestMain checks that closed stacks leave no goroutine, with these exceptions, all of which sleep for good:
//
//   - gRPC connections between Temporal's own services. The server never closes them.
//   - Its waiting for the next attempt to connect, which ends when that attempt finds the port closed.
func TestMain(m *testing.M) {
	if os.Getenv(envGiveUp) != "" {
		os.Exit(m.Run())
	}
	goleak.VerifyTestMain(m,
		goleak.IgnoreAnyFunction("google.golang.org/grpc/internal/grpcsync.(*CallbackSerializer).run"),
		goleak.IgnoreAnyFunction("google.golang.org/grpc.(*addrConn).resetTransportAndUnlock"),
	)
}
