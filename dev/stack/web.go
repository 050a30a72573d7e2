package stack

import (
	"context"
	"errors"
	"io/fs"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/labstack/echo/v4"
	"github.com/labstack/echo/v4/middleware"
	"github.com/temporalio/ui-server/v2/server/api"
	"github.com/temporalio/ui-server/v2/server/config"
	"github.com/temporalio/ui-server/v2/server/cors"
	"github.com/temporalio/ui-server/v2/server/csrf"
	"github.com/temporalio/ui-server/v2/server/headers"
	"github.com/temporalio/ui-server/v2/server/route"
	"github.com/temporalio/ui-server/v2/ui"
	"go.temporal.io/api/workflowservice/v1"

	"github.com/hermes-orchestrator/hermes/conversation"
)

// startWeb serves Temporal Web. It puts together the handlers that ui-server's own Server does: that one ends the
// process when its port is taken, and keeps its connection to Temporal open when it is stopped.
func (s *Stack) startWeb(ctx context.Context) error {
	listener, err := Listen(ctx, "Temporal Web", FlagUIPort, s.options.UIPort)
	if err != nil {
		return err
	}
	handler, stop, err := webHandler(s.temporalAddress)
	if err != nil {
		return errors.Join(conversation.Errorf(conversation.CodeUnavailable, "start Temporal Web: %w", err), listener.Close())
	}
	server := &http.Server{Handler: handler, ReadHeaderTimeout: 10 * time.Second}
	served := make(chan struct{})
	go func() {
		defer close(served)
		_ = server.Serve(listener) // Always ErrServerClosed: nothing else closes the listener.
	}()
	s.onClose("stop Temporal Web", func() error {
		// Pages poll; there is nothing to finish.
		err := errors.Join(server.Close(), stop())
		<-served
		return err
	})
	s.webURL = "http://" + listener.Addr().String()
	return nil
}

// callerType is the header by which the server tells people from programs.
const callerType = "Caller-Type"

// webHandler returns the handler and what releases its connection to Temporal.
func webHandler(temporalAddress string) (http.Handler, func() error, error) {
	settings := &config.Config{
		TemporalGRPCAddress: temporalAddress,
		DefaultNamespace:    Namespace,
		EnableUI:            true,
		DisableNewsFetch:    true,
		CORS:                config.CORS{CookieInsecure: true}, // Plain HTTP on loopback.
	}
	provider, err := config.NewConfigProviderWithRefresh(settings)
	if err != nil {
		return nil, nil, err
	}
	assets, err := ui.Assets()
	if err != nil {
		return nil, nil, err
	}
	if assets, err = fs.Sub(assets, "local"); err != nil {
		return nil, nil, err
	}
	connection, err := api.CreateGRPCConnection(provider)
	if err != nil {
		return nil, nil, err
	}
	handler := echo.New()
	handler.HTTPErrorHandler = handler.DefaultHTTPErrorHandler
	handler.Use(
		middleware.Recover(),
		middleware.Gzip(),
		cors.CORSMiddleware(cors.CORSConfig{
			AllowHeaders: []string{
				echo.HeaderOrigin, echo.HeaderContentType, echo.HeaderAccept, echo.HeaderXCSRFToken, callerType,
			},
			ConfigProvider: provider,
		}),
		middleware.Secure(),
		csrf.EnsureTokenCookie(false),
		middleware.CSRFWithConfig(csrf.MiddlewareConfig(provider, false)),
	)
	handler.Pre(route.PublicPath(""))
	route.SetHealthRoute(handler)
	group := handler.Group("/api/v1")
	writable := route.DisableWriteMiddleware(provider)
	group.GET("/settings", api.GetSettings(provider))
	service := workflowservice.NewWorkflowServiceClient(connection)
	group.GET(api.WorkflowRawHistoryUrl, api.WorkflowRawHistoryHandler(service), writable)
	forward := []api.Middleware{headers.WithForwardHeaders([]string{callerType})}
	group.Any("/*", api.TemporalAPIHandler(provider, forward, connection), writable)
	if err := route.SetUIRoutes(handler, "", assets); err != nil {
		return nil, nil, errors.Join(err, connection.Close())
	}
	route.SetRenderRoute(handler, "")
	return handler, connection.Close, nil
}

// UIURL is the address of Temporal Web, empty when it was not asked for.
func (s *Stack) UIURL() string { return s.webURL }

// Pages of a workflow in Temporal Web.
const (
	PageHistory          = "history"
	PageTimeline         = "timeline"
	PageUserMetadata     = "user-metadata" // Summary and current details.
	PageSearchAttributes = "search-attributes"
)

// WorkflowURL is a page of a workflow's run in Temporal Web.
func (s *Stack) WorkflowURL(workflowID, runID, page string) string {
	return strings.Join([]string{
		s.webURL, "namespaces", Namespace, "workflows", url.PathEscape(workflowID), url.PathEscape(runID), page,
	}, "/")
}
