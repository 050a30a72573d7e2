package ocr

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/png"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"github.com/hermes-orchestrator/hermes/conversation"
)

// Page segmentation modes of tesseract that are used here.
const (
	modeColumn = 4  // One column of text of variable sizes.
	modeBlock  = 6  // One uniform block: keeps the cells of a row in one line.
	modeLine   = 7  // One line.
	modeSparse = 11 // Whatever text there is, in no order.
)

// word is what tesseract recognised at one place.
type word struct {
	text       string
	box        image.Rectangle
	confidence float64 // 0–1.
	line       string  // Words of equal line were read as one line.
}

// tesseract runs the program, at most a given number of reading processes at once. Each has one thread: two processes
// use two cores better than one process that spins on both.
type tesseract struct {
	path      string
	languages string
	slots     chan struct{}
	timeout   time.Duration
}

// find returns the path of the program, or an error that says what to install.
func (t *tesseract) find() (string, error) {
	path, err := exec.LookPath(t.path)
	if err != nil {
		return "", conversation.Errorf(conversation.CodeToolUnavailable,
			"tesseract is not installed (looked for %q): install the packages tesseract-ocr and tesseract-ocr-chi-sim",
			t.path)
	}
	return path, nil
}

// version returns the program's version ("5.3.0") after checking that the languages are there.
func (t *tesseract) version(ctx context.Context) (string, error) {
	out, err := t.start(ctx, nil, "--version")
	if err != nil {
		return "", err
	}
	first, _, _ := strings.Cut(string(out), "\n")
	version := strings.TrimPrefix(strings.TrimSpace(first), "tesseract ")
	out, err = t.start(ctx, nil, "--list-langs")
	if err != nil {
		return "", err
	}
	for language := range strings.SplitSeq(t.languages, "+") {
		if !strings.Contains("\n"+string(out)+"\n", "\n"+language+"\n") {
			return "", conversation.Errorf(conversation.CodeToolUnavailable,
				"tesseract has no data for the language %q: install the package tesseract-ocr-%s", language,
				strings.ReplaceAll(language, "_", "-"))
		}
	}
	return version, nil
}

// read recognises a picture. Letters, if not empty, are the only ones that may be recognised.
func (t *tesseract) read(
	ctx context.Context, picture *image.Gray, mode int, languages, letters string,
) ([]word, error) {
	var input bytes.Buffer
	encoder := png.Encoder{CompressionLevel: png.BestSpeed}
	if err := encoder.Encode(&input, picture); err != nil {
		return nil, fmt.Errorf("encode a picture for tesseract: %w", err)
	}
	args := []string{
		"stdin", "stdout", "-l", languages, "--psm", strconv.Itoa(mode), "--dpi", "300",
		"-c", "thresholding_method=1", // Adaptive: one level for the whole page loses pale print.
	}
	if letters != "" {
		args = append(args, "-c", "tessedit_char_whitelist="+letters)
	}
	out, err := t.run(ctx, input.Bytes(), append(args, "tsv")...)
	if err != nil {
		return nil, err
	}
	return parseTSV(out)
}

// run starts one process once a slot is free.
func (t *tesseract) run(ctx context.Context, input []byte, args ...string) ([]byte, error) {
	select {
	case t.slots <- struct{}{}:
		defer func() { <-t.slots }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	return t.start(ctx, input, args...)
}

// start runs one process, and kills it with its children when ctx ends or its time is over.
func (t *tesseract) start(ctx context.Context, input []byte, args ...string) ([]byte, error) {
	path, err := t.find()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, t.timeout)
	defer cancel()
	command := exec.CommandContext(ctx, path, args...)
	command.Env = append(os.Environ(), "OMP_THREAD_LIMIT=1")
	command.Stdin = bytes.NewReader(input)
	var stdout, stderr bytes.Buffer
	command.Stdout, command.Stderr = &stdout, &stderr
	ownGroup(command)
	command.WaitDelay = time.Second
	if err := command.Run(); err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if _, ok := errors.AsType[*exec.ExitError](err); ok {
			return nil, conversation.Errorf(conversation.CodeToolUnavailable, "run %q: %w: %q", path, err,
				lastLine(stderr.String()))
		}
		return nil, conversation.Errorf(conversation.CodeToolUnavailable, "run %q: %w", path, err)
	}
	return stdout.Bytes(), nil
}

func lastLine(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return lines[len(lines)-1]
}

// parseTSV reads tesseract's table: level, page, block, paragraph, line, word, left, top, width, height, confidence,
// text. Only rows of words (level 5) with visible text are kept.
func parseTSV(table []byte) ([]word, error) {
	const columns = 12
	var words []word
	scanner := bufio.NewScanner(bytes.NewReader(table))
	scanner.Buffer(nil, 1<<20)
	for scanner.Scan() {
		cells := strings.SplitN(scanner.Text(), "\t", columns)
		if len(cells) < columns || cells[0] != "5" {
			continue
		}
		var numbers [4]int
		for i := range numbers {
			n, err := strconv.Atoi(cells[6+i])
			if err != nil {
				return nil, conversation.Errorf(conversation.CodeToolMisbehaved, "read tesseract's table: %q is no number",
					cells[6+i])
			}
			numbers[i] = n
		}
		confidence, err := strconv.ParseFloat(cells[10], 64)
		if err != nil {
			return nil, conversation.Errorf(conversation.CodeToolMisbehaved, "read tesseract's table: confidence %q",
				cells[10])
		}
		text := strings.TrimSpace(strings.ToValidUTF8(cells[11], ""))
		if text == "" || confidence < 0 {
			continue
		}
		words = append(words, word{
			text:       text,
			box:        image.Rect(numbers[0], numbers[1], numbers[0]+numbers[2], numbers[1]+numbers[3]),
			confidence: min(confidence/100, 1),
			line:       strings.Join(cells[1:5], "."),
		})
	}
	if err := scanner.Err(); err != nil {
		return nil, conversation.Errorf(conversation.CodeToolMisbehaved, "read tesseract's table: %w", err)
	}
	return words, nil
}
