package stack

import (
	"context"
	"errors"
	"net"
	"strconv"
	"syscall"

	"github.com/hermes-orchestrator/hermes/conversation"
)

// loopback is the only address that a stack listens on: it has no access control.
const loopback = "127.0.0.1"

// Listen opens 127.0.0.1:number for what is named; 0 means a free port. A port in use gives CodeUnavailable and names
// the flag that changes it.
func Listen(ctx context.Context, of, flag string, number int) (net.Listener, error) {
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "tcp", Address(number))
	if err != nil {
		return nil, portError(of, flag, number, err)
	}
	return listener, nil
}

// CheckPort reports whether Listen could open the port, for servers that open their own.
func CheckPort(ctx context.Context, of, flag string, number int) error {
	return checkPort(ctx, port{of, flag, number})
}

// Prefer returns number when nothing listens on that loopback port, else 0: a default that gives way.
func Prefer(ctx context.Context, number int) int {
	if checkPort(ctx, port{number: number}) != nil {
		return 0
	}
	return number
}

// checkPort reports whether a listener could be opened. The servers that open their own ports end the process when
// they cannot, so they are only started with ports that were just checked.
func checkPort(ctx context.Context, wanted port) error {
	if wanted.number == 0 {
		return nil
	}
	listener, err := Listen(ctx, wanted.of, wanted.flag, wanted.number)
	if err != nil {
		return err
	}
	return listener.Close()
}

// freePort returns a loopback port for a server that must be told one. The kernel does not hand it out again for a
// minute: a connection to it is closed from the server's side, so that it stays in TIME_WAIT, which keeps the port from
// automatic choice but not from being opened by number.
func freePort(ctx context.Context) (int, error) {
	listener, err := Listen(ctx, "a free port", "--data", 0)
	if err != nil {
		return 0, err
	}
	defer listener.Close()
	var dialer net.Dialer
	client, err := dialer.DialContext(ctx, "tcp", listener.Addr().String())
	if err != nil {
		return 0, conversation.Errorf(conversation.CodeUnavailable, "find a free port: %w", err)
	}
	defer client.Close()
	server, err := listener.Accept()
	if err != nil {
		return 0, conversation.Errorf(conversation.CodeUnavailable, "find a free port: %w", err)
	}
	return portOf(listener), server.Close()
}

func portError(of, flag string, number int, err error) error {
	if errors.Is(err, syscall.EADDRINUSE) {
		return conversation.Errorf(conversation.CodeUnavailable,
			"start %s: port %d is in use: stop what listens there or choose another with %s (%w)", of, number, flag, err)
	}
	return conversation.Errorf(conversation.CodeUnavailable,
		"start %s: port %d cannot be opened: choose another with %s (%w)", of, number, flag, err)
}

// Address is the loopback address of a port.
func Address(number int) string { return net.JoinHostPort(loopback, strconv.Itoa(number)) }

func portOf(listener net.Listener) int {
	if tcp, ok := listener.Addr().(*net.TCPAddr); ok {
		return tcp.Port
	}
	return 0
}
