package report_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/hermes-orchestrator/hermes/internal/testrun/report"
)

// stream is what go test -json printed for three packages: one passes and skips, one fails, one does not build.
const stream = `{"ImportPath":"m/broken","Action":"build-output","Output":"# m/broken\n"}
{"ImportPath":"m/broken","Action":"build-output","Output":"broken/a.go:1:1: no\n"}
{"ImportPath":"m/broken","Action":"build-fail"}
{"Action":"start","Package":"m/good"}
{"Action":"run","Package":"m/good","Test":"TestGood"}
{"Action":"output","Package":"m/good","Test":"TestGood","Output":"=== RUN   TestGood\n"}
{"Action":"output","Package":"m/good","Test":"TestGood","Output":"    good_test.go:3: chatter\n"}
{"Action":"output","Package":"m/good","Test":"TestGood","Output":"--- PASS: TestGood (0.00s)\n"}
{"Action":"pass","Package":"m/good","Test":"TestGood","Elapsed":0}
{"Action":"run","Package":"m/good","Test":"TestRedis"}
{"Action":"output","Package":"m/good","Test":"TestRedis","Output":"=== RUN   TestRedis\n"}
{"Action":"output","Package":"m/good","Test":"TestRedis","Output":"  good_test.go:9: set REDIS: host:port\n"}
{"Action":"output","Package":"m/good","Test":"TestRedis","Output":"--- SKIP: TestRedis (0.00s)\n"}
{"Action":"skip","Package":"m/good","Test":"TestRedis","Elapsed":0}
{"Action":"output","Package":"m/good","Output":"PASS\n"}
{"Action":"output","Package":"m/good","Output":"ok  \tm/good\t0.003s\n"}
{"Action":"pass","Package":"m/good","Elapsed":0.003}
{"Action":"run","Package":"m/bad","Test":"TestBad"}
{"Action":"output","Package":"m/bad","Test":"TestBad","Output":"=== RUN   TestBad\n"}
{"Action":"run","Package":"m/bad","Test":"TestBad/Part"}
{"Action":"output","Package":"m/bad","Test":"TestBad/Part","Output":"    --- FAIL: TestBad/Part (0.00s)\n"}
{"Action":"output","Package":"m/bad","Test":"TestBad/Part","Output":"        bad_test.go:5: wrong\n"}
{"Action":"fail","Package":"m/bad","Test":"TestBad/Part","Elapsed":0}
{"Action":"output","Package":"m/bad","Test":"TestBad","Output":"--- FAIL: TestBad (0.00s)\n"}
{"Action":"fail","Package":"m/bad","Test":"TestBad","Elapsed":0}
{"Action":"run","Package":"m/bad","Test":"TestHangs"}
{"Action":"output","Package":"m/bad","Test":"TestHangs","Output":"panic: test timed out after 1s\n"}
{"Action":"output","Package":"m/bad","Output":"FAIL\tm/bad\t1.002s\n"}
{"Action":"fail","Package":"m/bad","Elapsed":1.002}
{"Action":"start","Package":"m/broken"}
{"Action":"output","Package":"m/broken","Output":"FAIL\tm/broken [build failed]\n"}
{"Action":"fail","Package":"m/broken","Elapsed":0,"FailedBuild":"m/broken"}
not an event
`

func TestReport(t *testing.T) {
	t.Parallel()

	t.Run("PrintsWhatGoTestPrints", func(t *testing.T) {
		t.Parallel()
		got := read(t, false)
		require.Equal(t, `# m/broken
broken/a.go:1:1: no
ok  	m/good	0.003s
    --- FAIL: TestBad/Part (0.00s)
        bad_test.go:5: wrong
--- FAIL: TestBad (0.00s)
panic: test timed out after 1s
FAIL	m/bad	1.002s
FAIL	m/broken [build failed]
not an event

SKIPPED: what these tests need is not here
  TestRedis in m/good: set REDIS: host:port

1 passed, 2 failed, 1 skipped
`, got)
	})

	t.Run("VerboseHidesNothing", func(t *testing.T) {
		t.Parallel()
		got := read(t, true)
		for line := range strings.Lines(stream) {
			if _, output, ok := strings.Cut(line, `"Output":"`); ok {
				output, _, _ = strings.Cut(output, `\n`)
				require.Contains(t, got, strings.ReplaceAll(output, `\t`, "\t"))
			}
		}
	})
}

func read(t *testing.T, verbose bool) string {
	t.Helper()
	var out strings.Builder
	r := report.New(&out, verbose)
	require.NoError(t, r.Read(strings.NewReader(stream)))
	r.Close()
	return out.String()
}
