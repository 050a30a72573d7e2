package main

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"

	"github.com/hermes-orchestrator/hermes/conversation"
	"github.com/hermes-orchestrator/hermes/dev/dialogue"
	"github.com/hermes-orchestrator/hermes/dev/fault"
)

// What the user says in the dialogue of SPEC F, by the name of its moment.
const (
	momentClaim   = "claim"
	momentUploads = "uploads"
	momentReview  = "review"
	momentConfirm = "confirm"
)

// How a kill stands to its moment.
const (
	beforeAnswer = "before the answer" // The tool has been asked and has not answered.
	afterAnswer  = "after the answer"  // The tool has answered; the worker does not know yet.
	whileDown    = "while down"        // The message is sent when there is no worker.
	afterSent    = "after sent"        // Temporal has just recorded the message.
	afterReply   = "after the reply"   // The user has the reply, and says the next thing to a new worker.
)

// killPoint is where the worker dies: at a call of a tool, or around a message.
type killPoint struct{ what, when string }

// killPoints are all steps of the dialogue. "ocr_tool.read after the answer" is the acceptance of the slow call; its
// result meets a dead worker in "uploads after the reply". Between "finance_tool.debit after the answer" and the end of
// that activity the ledger has the debit and the conversation does not know.
func killPoints() []killPoint {
	var points []killPoint
	for _, call := range []string{
		"org_tool.lookup", "finance_tool.budget", "ocr_tool.read", "trip_tool.verify", "rule_engine_tool.check",
		"finance_tool.debit",
	} {
		points = append(points, killPoint{call, beforeAnswer}, killPoint{call, afterAnswer})
	}
	for _, moment := range []string{momentClaim, momentUploads, momentReview, momentConfirm} {
		for _, when := range []string{whileDown, afterSent, afterReply} {
			points = append(points, killPoint{moment, when})
		}
	}
	return points
}

// killsAtOnce is how many conversations run at the same time: most of their time they wait for Temporal to notice the
// death of a worker.
const killsAtOnce = 4

// TestKilledWorker kills the worker process (SIGKILL) at each step of the dialogue of SPEC F and starts another. Each
// conversation must end as if nothing had happened: no message lost, one debit, the usual path.
func TestKilledWorker(t *testing.T) {
	t.Parallel()
	requireProgram(t, "tesseract")
	program := filepath.Join(t.TempDir(), "hermes-worker")
	output, err := exec.CommandContext(t.Context(), "go", "build", "-o", program, "../cmd/hermes-worker").CombinedOutput()
	require.NoError(t, err, "%s", output)
	shared := shareStack(t)
	logs := t.TempDir()

	points := killPoints()
	results := make([]chan error, len(points))
	slots := make(chan struct{}, killsAtOnce)
	var group sync.WaitGroup
	t.Cleanup(group.Wait)
	for i, point := range points {
		results[i] = make(chan error, 1)
		group.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			ctx, cancel := context.WithTimeout(t.Context(), endToEndLimit)
			defer cancel()
			log := filepath.Join(logs, fmt.Sprintf("worker-%d.log", i))
			results[i] <- playWithKill(ctx, shared, program, log, point)
		})
	}
	for i, point := range points {
		t.Run(point.what+" "+point.when, func(t *testing.T) { require.NoError(t, <-results[i]) })
	}
}

// playWithKill plays the dialogue with a kill at point.
func playWithKill(ctx context.Context, shared *sharedStack, program, log string, point killPoint) (err error) {
	app, err := assemble(ctx, assembleOptions{Example: exampleDir, Stack: shared, Faults: true, NoWorker: true})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, app.Close()) }()
	slow := []dialogue.Fault{{Tool: "ocr_tool", Kind: fault.Health, LatencyMS: 1200, SuccessRate: 0.98}}
	if err := app.SetFaults(slow); err != nil {
		return err
	}
	if err := grantAttempts(app.tools.Manifest); err != nil {
		return err
	}
	worker := &mortal{program: program, log: log, environment: workerEnvironment(app)}
	if err := worker.start(); err != nil {
		return err
	}
	defer func() {
		err = errors.Join(err, worker.stop())
		if err != nil {
			err = fmt.Errorf("%w\nlast words of the workers:\n%s", err, worker.lastWords())
		}
	}()
	worker.dieAtCall(app, point)

	user, err := begin(ctx, app, demoUser)
	if err != nil {
		return err
	}
	defer user.Close()
	play := &fatalPlay{claimant: user, worker: worker, point: point}
	if err := play.run(ctx); err != nil {
		return fmt.Errorf("session %s: %w", user.session, err)
	}
	return play.check(ctx)
}

// fatalPlay is the user's side of the dialogue. Around one message the worker dies, unless it dies at a call.
type fatalPlay struct {
	*claimant
	worker *mortal
	point  killPoint
}

func (p *fatalPlay) run(ctx context.Context) error {
	claim := conversation.UserMessage{Text: demoClaim}
	if _, err := p.moment(ctx, momentClaim, conversation.StateMaterials, claim); err != nil {
		return err
	}
	attachments, err := p.files(ctx, "invoices.png", "itinerary.png")
	if err != nil {
		return err
	}
	uploads := conversation.UserMessage{Attachments: attachments}
	if _, err := p.moment(ctx, momentUploads, conversation.StateReview, uploads); err != nil {
		return err
	}
	review := conversation.UserMessage{Text: demoAccept}
	if _, err := p.moment(ctx, momentReview, conversation.StateConfirmation, review); err != nil {
		return err
	}
	_, err = p.moment(ctx, momentConfirm, conversation.StateEnd, conversation.UserMessage{Text: demoConfirm})
	return err
}

// moment sends one message and waits until it has led to the state.
func (p *fatalPlay) moment(
	ctx context.Context, name string, want conversation.State, m conversation.UserMessage,
) (reply conversation.Reply, err error) {
	when := ""
	if p.point.what == name {
		when = p.point.when
	}
	switch when {
	case whileDown, afterSent:
		// Only a signal can be sent without a worker: an update waits for one.
		if when == whileDown {
			p.worker.kill()
		}
		var id string
		if id, err = p.signal(ctx, m); err != nil {
			return reply, err
		}
		if when == afterSent {
			p.worker.kill()
		}
		if err := p.worker.start(); err != nil {
			return reply, err
		}
		reply, err = p.heard(ctx, id)
	default:
		reply, err = p.say(ctx, m)
	}
	if err == nil && when == afterReply {
		p.worker.kill()
		err = p.worker.start()
	}
	if err == nil {
		reply, err = p.settled(ctx, reply)
	}
	if err == nil && reply.State != want {
		err = fmt.Errorf("%s led to %s, not to %s: %q", name, reply.State, want, reply.Text)
	}
	return reply, err
}

// usualPath has S3.1 because one amount of the example's invoices is blurred.
var usualPath = regexp.MustCompile(`^S1→S2→S2→S3→(S3\.1→)?S4→S5$`)

// check reads what must hold afterwards.
func (p *fatalPlay) check(ctx context.Context) error {
	if p.worker.deaths() != 1 {
		return fmt.Errorf("the worker died %d times: the dialogue does not pass %q %q",
			p.worker.deaths(), p.point.what, p.point.when)
	}
	view, err := p.view(ctx)
	if err != nil {
		return err
	}
	var errs []error
	if view.Outcome != conversation.OutcomeCommitted || !usualPath.MatchString(view.Path.String()) {
		errs = append(errs, fmt.Errorf("outcome %q, path %s", view.Outcome, view.Path))
	}
	debits, err := p.app.Debits(ctx)
	if err == nil && len(debits) != 1 {
		err = fmt.Errorf("%d debits: %q", len(debits), debits)
	}
	return errors.Join(append(errs, err, p.checkNothingLost(ctx), p.checkReplays(ctx))...)
}

// checkReplays checks that no worker found the history of another one unlike its own.
func (p *fatalPlay) checkReplays(ctx context.Context) error {
	history := p.app.Temporal.GetWorkflowHistory(ctx, conversation.WorkflowID(p.session), "", false,
		enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	for history.HasNext() {
		event, err := history.Next()
		if err != nil {
			return err
		}
		if failed := event.GetWorkflowTaskFailedEventAttributes(); failed.GetFailure() != nil {
			return fmt.Errorf("workflow task failed: %s: %s", failed.GetCause(), failed.GetFailure().GetMessage())
		}
	}
	return nil
}

// mortal is a worker process that is killed and started again. It is safe for concurrent use.
type mortal struct {
	program, log string
	environment  []string

	mu      sync.Mutex
	running *exec.Cmd // Nil when there is none.
	died    int
}

// start starts a process. Its log goes on where that of the one before ended.
func (m *mortal) start() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	file, err := os.OpenFile(m.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer file.Close() // The process has its own copy.
	m.running = exec.Command(m.program)
	m.running.Env, m.running.Stdout, m.running.Stderr = m.environment, file, file
	return m.running.Start()
}

// kill kills the process and returns when it is gone.
func (m *mortal) kill() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.died++
	_ = m.running.Process.Kill()
	_ = m.running.Wait() // That it was killed is no error.
	m.running = nil
}

func (m *mortal) deaths() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.died
}

// stop ends the last process as an operator does.
func (m *mortal) stop() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.running == nil {
		return nil
	}
	if err := m.running.Process.Signal(syscall.SIGTERM); err != nil {
		return fmt.Errorf("the worker has ended by itself: %w", errors.Join(err, m.running.Wait()))
	}
	return m.running.Wait()
}

// dieAtCall makes the first such call kill the worker. The tool goes on with the call, or with its answer, only when
// the process is gone; then the next one is started.
func (m *mortal) dieAtCall(app *application, point killPoint) {
	tool, operation, isCall := strings.Cut(point.what, ".")
	if !isCall {
		return
	}
	var once sync.Once
	die := func(called string) {
		if called != operation {
			return
		}
		once.Do(func() {
			m.kill()
			_ = m.start() // The dialogue cannot go on without it, so an error shows there.
		})
	}
	if point.when == beforeAnswer {
		app.tools.proxies[tool].Watch(die, nil)
		return
	}
	app.tools.proxies[tool].Watch(nil, die)
}

func (m *mortal) lastWords() string {
	data, err := os.ReadFile(m.log)
	if err != nil {
		return err.Error()
	}
	lines := strings.Split(strings.TrimSpace(string(data)), "\n")
	return strings.Join(lines[max(0, len(lines)-15):], "\n")
}

// grantAttempts gives every operation attempts to spare. A death costs a call one attempt, and on a machine that is
// busy with all the other conversations one more may be too slow: how many a tool deserves is not tested here.
func grantAttempts(manifest string) error {
	data, err := os.ReadFile(manifest)
	if err != nil {
		return err
	}
	granted := regexp.MustCompile(`max_attempts: \d+`).ReplaceAll(data, []byte("max_attempts: 8"))
	return os.WriteFile(manifest, granted, 0o600)
}

// workerEnvironment is the environment of a hermes-worker that serves the application, and nothing of the environment
// of the test that could lead it elsewhere.
func workerEnvironment(app *application) []string {
	cfg := app.workerConfig
	environment := []string{
		"HERMES_TEMPORAL_ADDRESS=" + cfg.TemporalAddress,
		"HERMES_NAMESPACE=" + cfg.Namespace,
		"HERMES_TASK_QUEUE=" + cfg.TaskQueue,
		"HERMES_ETCD_ENDPOINTS=" + strings.Join(cfg.EtcdEndpoints, ","),
		"HERMES_REDIS_ADDRESS=" + cfg.RedisAddress,
		"HERMES_GRAPH_URL=" + cfg.GraphURL,
		"HERMES_BLOB_URL=" + cfg.BlobURL,
		"HERMES_FLOWS_DIR=" + cfg.FlowsDir,
		"HERMES_TOOLS_FILE=" + cfg.ToolsFile,
		"HERMES_FILES_URL=" + cfg.FilesURL,
		"HERMES_CALLBACK_URL=" + cfg.CallbackURL,
		"HERMES_USER_HASH_KEY=" + hex.EncodeToString(cfg.UserHashKey),
		"HERMES_LISTEN_METRICS=127.0.0.1:0",
	}
	for _, name := range []string{"HOME", "PATH", "TMPDIR"} {
		if value, ok := os.LookupEnv(name); ok {
			environment = append(environment, name+"="+value)
		}
	}
	return environment
}
