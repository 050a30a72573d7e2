package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/hermes-orchestrator/hermes/conversation"
)

func TestTmpRapid(t *testing.T) {
	os.RemoveAll("/tmp/rapid-data")
	lf, _ := os.Create("/tmp/rapid.log")
	app := open(t, assembleOptions{Own: stackOptions{DataDir: "/tmp/rapid-data"}, Logger: slog.New(slog.NewTextHandler(lf, nil))})
	for _, n := range []int{2, 5, 9, 10, 11, 15, 25, 50} {
		user := inMaterials(t, app)
		ctx, cancel := context.WithTimeout(t.Context(), 15*time.Second)
		var g sync.WaitGroup
		var mu sync.Mutex
		ok, unavailable := 0, 0
		var last error
		begin := time.Now()
		for i := range n {
			g.Go(func() {
				m := conversation.UserMessage{MessageID: fmt.Sprintf("r-%d", i), Text: question, SentAt: demoTime}
				for {
					_, err := user.door.Send(ctx, user.session, m)
					mu.Lock()
					if err == nil {
						ok++
					} else {
						last = err
					}
					if conversation.CodeOf(err) == conversation.CodeUnavailable {
						unavailable++
						mu.Unlock()
						if ctx.Err() == nil {
							continue
						}
						return
					}
					mu.Unlock()
					return
				}
			})
		}
		g.Wait()
		fmt.Println("n", n, "ok", ok, "unavailable", unavailable, "took", time.Since(begin), "last", last)
		cancel()
	}
}
