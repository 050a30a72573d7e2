package starter_test

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Whoever sends too much hears it: a client that writes all of its request before it reads must not meet a connection
// that was closed meanwhile.
func TestRefusalReachesAClientThatIsStillSending(t *testing.T) {
	t.Parallel()
	b := setup(t)
	connection, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", strings.TrimPrefix(b.url, "http://"))
	require.NoError(t, err)
	t.Cleanup(func() { _ = connection.Close() })
	body := `{"message_id":"m","text":"` + strings.Repeat("x", 30<<20) + `"}`
	_, err = fmt.Fprintf(connection, "POST /v1/conversations/s1/messages HTTP/1.1\r\nHost: x\r\n"+
		"Content-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
	require.NoError(t, err)
	response, err := http.ReadResponse(bufio.NewReader(connection), nil)
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
	require.Equal(t, http.StatusRequestEntityTooLarge, response.StatusCode)
}
