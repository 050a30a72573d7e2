package starter

import (
	"io"
	"net/http"
)

// maxDrain bounds what is read of a body that a handler has refused.
const maxDrain = 64 << 20

// drained reads the rest of a body that the handler left unread before the answer goes out. A client that is still
// sending would otherwise meet a closed connection and never see why it was refused. HTTP/2 says so by itself.
func drained(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body := r.Body
		next.ServeHTTP(w, r)
		if r.ProtoMajor == 1 {
			_, _ = io.CopyN(io.Discard, body, maxDrain) // Whatever ends it, there is nothing more to say.
		}
	})
}
