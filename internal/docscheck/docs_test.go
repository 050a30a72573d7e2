package docscheck_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/require"
)

const root = "../.."

// page is one Markdown file, split into prose and fenced blocks.
type page struct {
	path   string
	text   string
	prose  string
	fences []fence
}

type fence struct {
	language string
	text     string
}

func pages(t *testing.T) []page {
	t.Helper()
	var found []page
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && (strings.HasPrefix(entry.Name(), ".") && path != root || entry.Name() == "testdata"):
			return filepath.SkipDir
		case filepath.Ext(path) == ".md":
			found = append(found, parse(t, path))
		}
		return nil
	})
	require.NoError(t, err)
	require.NotEmpty(t, found)
	return found
}

func parse(t *testing.T, path string) page {
	t.Helper()
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	p := page{path: path, text: string(data)}
	var open *fence
	for line := range strings.Lines(p.text) {
		switch {
		case strings.HasPrefix(strings.TrimSpace(line), "```"):
			if open == nil {
				open = &fence{language: strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(line), "```"))}
			} else {
				p.fences = append(p.fences, *open)
				open = nil
			}
		case open != nil:
			open.text += line
		default:
			p.prose += line
		}
	}
	require.Nil(t, open, "%s: a fenced block is not closed", path)
	return p
}

func TestPagesHaveOneTitle(t *testing.T) {
	t.Parallel()
	for _, p := range pages(t) {
		require.True(t, strings.HasPrefix(p.text, "# "), "%s: the first line is no title", p.path)
		require.Len(t, regexp.MustCompile(`(?m)^# `).FindAllString(p.prose, -1), 1, "%s: titles", p.path)
	}
}

func TestLinksLeadSomewhere(t *testing.T) {
	t.Parallel()
	link := regexp.MustCompile(`\]\(([^)\s]+)\)`)
	for _, p := range pages(t) {
		for _, found := range link.FindAllStringSubmatch(p.prose, -1) {
			target, anchor, _ := strings.Cut(found[1], "#")
			if strings.Contains(target, "://") || strings.HasPrefix(target, "mailto:") {
				continue
			}
			file := p.path
			if target != "" {
				file = filepath.Join(filepath.Dir(p.path), target)
				if _, err := os.Stat(file); err != nil {
					t.Errorf("%s links to %s, which does not exist", p.path, found[1])
					continue
				}
			}
			if anchor != "" && filepath.Ext(file) == ".md" {
				require.Contains(t, anchors(parse(t, file)), anchor, "%s links to %s", p.path, found[1])
			}
		}
	}
}

// Every page in docs/ is in the index.
func TestIndexIsComplete(t *testing.T) {
	t.Parallel()
	index := parse(t, filepath.Join(root, "docs", "README.md"))
	entries, err := os.ReadDir(filepath.Join(root, "docs"))
	require.NoError(t, err)
	for _, entry := range entries {
		if filepath.Ext(entry.Name()) == ".md" && entry.Name() != "README.md" {
			require.Contains(t, index.prose, "]("+entry.Name()+")")
		}
	}
}

func TestMakeTargetsExist(t *testing.T) {
	t.Parallel()
	makefile, err := os.ReadFile(filepath.Join(root, "Makefile"))
	require.NoError(t, err)
	targets := map[string]bool{}
	for _, found := range regexp.MustCompile(`(?m)^([a-z.][a-z-]*):`).FindAllStringSubmatch(string(makefile), -1) {
		targets[found[1]] = true
	}
	inProse := regexp.MustCompile("`make ([^`]+)`")
	inBlock := regexp.MustCompile(`(?m)^make (.+)$`)
	for _, p := range pages(t) {
		commands := inProse.FindAllStringSubmatch(p.prose, -1)
		for _, f := range p.fences {
			commands = append(commands, inBlock.FindAllStringSubmatch(f.text, -1)...)
		}
		for _, command := range commands {
			for word := range strings.FieldsSeq(command[1]) {
				if strings.HasPrefix(word, "#") || strings.Contains(word, "=") {
					break
				}
				require.True(t, targets[word], "%s: make %s: no target %q", p.path, command[1], word)
			}
		}
	}
}

// The changelog keeps the form of Keep a Changelog, with what is not released yet first.
func TestChangelog(t *testing.T) {
	t.Parallel()
	p := parse(t, filepath.Join(root, "CHANGELOG.md"))
	versions := regexp.MustCompile(`(?m)^## (.*)$`).FindAllStringSubmatch(p.prose, -1)
	require.NotEmpty(t, versions)
	require.Equal(t, "[Unreleased]", versions[0][1])
	for _, version := range versions[1:] {
		require.Regexp(t, `^\[\d+\.\d+\.\d+\] - \d{4}-\d\d-\d\d$`, version[1])
	}
	for _, kind := range regexp.MustCompile(`(?m)^### (.*)$`).FindAllStringSubmatch(p.prose, -1) {
		require.Contains(t, []string{"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"}, kind[1])
	}
}

// anchors are the fragments under which GitHub shows the headings of a page.
func anchors(p page) []string {
	var found []string
	for _, heading := range regexp.MustCompile(`(?m)^#+ (.*)$`).FindAllStringSubmatch(p.prose, -1) {
		var b strings.Builder
		for _, r := range strings.ToLower(heading[1]) {
			switch {
			case unicode.IsLetter(r), unicode.IsDigit(r), r == '-', r == '_':
				b.WriteRune(r)
			case r == ' ':
				b.WriteByte('-')
			}
		}
		found = append(found, b.String())
	}
	return found
}
