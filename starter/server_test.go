package starter_test

import (
	"bytes"
	"context"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
	"go.temporal.io/api/serviceerror"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"

	"github.com/hermes-orchestrator/hermes/conversation"
	hermesv1 "github.com/hermes-orchestrator/hermes/proto/hermes/v1"
	"github.com/hermes-orchestrator/hermes/starter"
)

// serve runs a server on free ports, and returns how to stop it.
func serve(t *testing.T, change func(*starter.Config)) (b *bundle, stop func() error) {
	t.Helper()
	cfg, b := newConfig(t)
	change(&cfg)
	var err error
	b.server, err = starter.New(cfg)
	require.NoError(t, err)
	require.NoError(t, b.server.Listen(t.Context()))
	b.url = "http://" + b.server.HTTPAddress()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- b.server.Serve(ctx) }()
	stop = func() error { cancel(); return <-done }
	return b, stop
}

func TestServeBothTransports(t *testing.T) {
	t.Parallel()
	for name, address := range map[string]string{"OnePort": "", "TwoPorts": "127.0.0.1:0"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b, stop := serve(t, func(c *starter.Config) { c.ListenGRPC = address })
			require.Equal(t, address == "", b.server.GRPCAddress() == b.server.HTTPAddress())
			require.Equal(t, http.StatusOK, b.get(t, "/healthz").status)

			connection, err := grpc.NewClient(b.server.GRPCAddress(), grpc.WithTransportCredentials(insecure.NewCredentials()))
			require.NoError(t, err)
			defer func() { require.NoError(t, connection.Close()) }()
			api := hermesv1.NewConversationServiceClient(connection)

			// Bytes, an error with its detail, and a stream that lives until the server stops.
			uploaded, err := api.UploadFile(t.Context(), &hermesv1.UploadFileRequest{Name: "a.png", Data: png})
			require.NoError(t, err)
			require.Equal(t, "image/png", uploaded.GetAttachment().GetMediaType())
			text := bytes.Repeat([]byte{'x'}, starter.MaxUploadBytes)
			_, err = api.UploadFile(t.Context(), &hermesv1.UploadFileRequest{Name: "a.png", Data: text})
			detail := requireDetail(t, err, codes.InvalidArgument)
			require.Equal(t, string(conversation.CodeUnsupportedMedia), detail.GetCode())
			b.temporal.updateErr = serviceerror.NewNotFound("x")
			_, err = api.SendMessage(t.Context(), &hermesv1.SendMessageRequest{SessionId: "s0", MessageId: "m", Text: "hi"})
			require.Equal(t, string(conversation.CodeNotFound), requireDetail(t, err, codes.NotFound).GetCode())

			b.temporal.add("s1", "", running)
			stream, err := api.StreamEvents(t.Context(), &hermesv1.StreamEventsRequest{SessionId: "s1"})
			require.NoError(t, err)
			b.publish(t, "s1", 1, conversation.Reply{Text: "一"})
			got, err := stream.Recv()
			require.NoError(t, err)
			require.Equal(t, "一", got.GetEvent().GetReply().GetText())

			require.NoError(t, stop())
			_, err = stream.Recv()
			require.Error(t, err)
		})
	}
}

func requireDetail(t *testing.T, err error, code codes.Code) *hermesv1.Error {
	t.Helper()
	st, ok := status.FromError(err)
	require.True(t, ok)
	require.Equal(t, code, st.Code(), st.Message())
	require.Len(t, st.Details(), 1)
	detail, ok := st.Details()[0].(*hermesv1.Error)
	require.True(t, ok)
	require.Equal(t, st.Message(), detail.GetMessage())
	return detail
}

func TestPortInUse(t *testing.T) {
	t.Parallel()
	b, stop := serve(t, func(c *starter.Config) { c.ListenGRPC = "" })
	taken := b.server.HTTPAddress()
	for flag, change := range map[string]func(*starter.Config){
		"--listen-http": func(c *starter.Config) { c.ListenHTTP = taken },
		"--listen-grpc": func(c *starter.Config) { c.ListenGRPC = taken },
	} {
		cfg, _ := newConfig(t)
		change(&cfg)
		server, err := starter.New(cfg)
		require.NoError(t, err)
		err = server.Serve(t.Context())
		require.Equal(t, conversation.CodeInvalidConfig, conversation.CodeOf(err), err)
		require.ErrorContains(t, err, flag)
		require.ErrorContains(t, err, taken)
		server.Close()
	}
	require.NoError(t, stop())
}

// TestStopEndsStreams: an open browser tab must not hold up a deployment.
func TestStopEndsStreams(t *testing.T) {
	t.Parallel()
	b, stop := serve(t, func(*starter.Config) {})
	b.temporal.add("s1", "", running)
	next := b.stream(t, "/v1/conversations/s1/events")
	_, ok := next()
	require.True(t, ok)
	require.NoError(t, stop())
	drain(next)
}
