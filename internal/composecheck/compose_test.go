package composecheck_test

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"flag"
	"maps"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/compose-spec/compose-go/v2/loader"
	"github.com/compose-spec/compose-go/v2/types"
	"github.com/stretchr/testify/require"

	"github.com/hermes-orchestrator/hermes/conversation"
	"github.com/hermes-orchestrator/hermes/examples/expense/tools"
	"github.com/hermes-orchestrator/hermes/internal/config"
	"github.com/hermes-orchestrator/hermes/tool"
)

const (
	root        = "../.."
	composeFile = "docker-compose.yml"
)

// secrets stands for the .env that `make .env` writes.
var secrets = map[string]string{
	"HERMES_USER_HASH_KEY": strings.Repeat("a1", 32),
	"NEO4J_PASSWORD":       strings.Repeat("b2", 32),
	"POSTGRES_PASSWORD":    strings.Repeat("c3", 32),
}

func load(t *testing.T, env map[string]string) (*types.Project, error) {
	t.Helper()
	dir, err := filepath.Abs(root)
	require.NoError(t, err)
	return loader.LoadWithContext(context.Background(), types.ConfigDetails{
		WorkingDir:  dir,
		ConfigFiles: []types.ConfigFile{{Filename: filepath.Join(dir, composeFile)}},
		Environment: maps.Clone(env), // The loader adds to it.
	})
}

func project(t *testing.T) *types.Project {
	t.Helper()
	p, err := load(t, secrets)
	require.NoError(t, err)
	return p
}

func TestServices(t *testing.T) {
	t.Parallel()
	require.Equal(t, []string{
		"etcd", "expense-tools", "hermes-starter", "hermes-worker", "neo4j", "postgresql", "prometheus", "redis",
		"temporal", "temporal-schema", "temporal-setup", "temporal-ui",
	}, project(t).ServiceNames())
}

func TestSecretsHaveNoDefault(t *testing.T) {
	t.Parallel()
	for name := range secrets {
		env := map[string]string{}
		for other, value := range secrets {
			if other != name {
				env[other] = value
			}
		}
		_, err := load(t, env)
		require.ErrorContains(t, err, name)
		require.ErrorContains(t, err, "make .env")
	}
}

// pinned is a tag that names a release down to its last number, or a digest.
var pinned = regexp.MustCompile(`^[^:@]+(/[^:@]+)*(:v?\d+\.\d+(\.\d+)?(-[a-z]+)?|@sha256:[0-9a-f]{64})$`)

func TestImagesArePinned(t *testing.T) {
	t.Parallel()
	for _, service := range project(t).Services {
		if service.Build == nil {
			require.Regexp(t, pinned, service.Image, "service %q", service.Name)
		}
	}
	dockerfile := read(t, "deploy/Dockerfile")
	stages := map[string]bool{}
	for _, from := range regexp.MustCompile(`(?m)^FROM (\S+)(?: AS (\S+))?$`).FindAllStringSubmatch(dockerfile, -1) {
		if !stages[from[1]] {
			require.Regexp(t, pinned, from[1])
		}
		stages[from[2]] = true
	}
	for _, service := range project(t).Services {
		if service.Build != nil {
			require.True(t, stages[service.Build.Target], "stage %q of service %q", service.Build.Target, service.Name)
			require.FileExists(t, filepath.Join(service.Build.Context, service.Build.Dockerfile))
		}
	}
}

// The builder compiles with the Go release that go.mod asks for.
func TestBuilderHasTheModulesGo(t *testing.T) {
	t.Parallel()
	asked := regexp.MustCompile(`(?m)^go (\S+)$`).FindStringSubmatch(read(t, "go.mod"))[1]
	require.Contains(t, read(t, "deploy/Dockerfile"), "FROM golang:"+asked+"-")
}

func TestOrder(t *testing.T) {
	t.Parallel()
	p := project(t)
	for name, needs := range map[string][]string{
		"temporal-schema": {"postgresql"},
		"temporal":        {"temporal-schema"},
		"temporal-setup":  {"temporal"},
		"temporal-ui":     {"temporal"},
		"hermes-worker":   {"etcd", "expense-tools", "neo4j", "redis", "temporal-setup"},
		"hermes-starter":  {"redis", "temporal-setup"},
	} {
		service, err := p.GetService(name)
		require.NoError(t, err)
		require.Equal(t, needs, slices.Sorted(slices.Values(service.GetDependencies())), "service %q", name)
	}
	for _, service := range p.Services {
		for need, dependency := range service.DependsOn {
			needed, err := p.GetService(need)
			require.NoError(t, err)
			switch dependency.Condition {
			case types.ServiceConditionHealthy:
				require.NotNil(t, needed.HealthCheck, "%q waits until %q is healthy", service.Name, need)
			case types.ServiceConditionCompletedSuccessfully:
				require.Contains(t, needed.Restart, "on-failure", "%q waits until %q has ended", service.Name, need)
			}
		}
	}
}

func TestPortsAreOnLoopback(t *testing.T) {
	t.Parallel()
	owner := map[string]string{}
	for _, service := range project(t).Services {
		require.Empty(t, service.NetworkMode, "service %q", service.Name)
		for _, port := range service.Ports {
			require.True(t, net.ParseIP(port.HostIP).IsLoopback(), "port %q of service %q", port.Published, service.Name)
			require.NotContains(t, owner, port.Published, "port of service %q", service.Name)
			owner[port.Published] = service.Name
		}
	}
}

// What is mounted from the repository exists and is read-only; what servers write is in a declared volume.
func TestVolumes(t *testing.T) {
	t.Parallel()
	p := project(t)
	used := map[string]bool{}
	for _, service := range p.Services {
		for _, volume := range service.Volumes {
			switch volume.Type {
			case types.VolumeTypeBind:
				require.True(t, volume.ReadOnly, "volume %q of service %q", volume.Source, service.Name)
				require.DirExists(t, volume.Source)
			case types.VolumeTypeVolume:
				require.Contains(t, p.Volumes, volume.Source, "service %q", service.Name)
				used[volume.Source] = true
			}
		}
	}
	for name := range p.Volumes {
		require.True(t, used[name], "volume %q is used by no service", name)
	}
}

// Worker and starter accept what they are told, and are told nothing that they would ignore.
func TestEnvironmentIsOfOurConfiguration(t *testing.T) {
	t.Parallel()
	for name, known := range map[string][]string{
		"hermes-worker": append(settings(t), manifestVariables(t)...), "hermes-starter": settings(t),
	} {
		service, err := project(t).GetService(name)
		require.NoError(t, err)
		env := map[string]string{}
		for key, value := range service.Environment {
			require.NotNil(t, value, "%s of service %q has no value", key, name)
			env[key] = *value
			require.Contains(t, known, key, "service %q", name)
		}
		c, err := config.Load(name, nil, func(key string) string { return env[key] }, &bytes.Buffer{})
		require.NoError(t, err, "service %q", name)
		require.NoError(t, c.Validate(), "service %q", name)
	}
}

// The worker can read the manifest of the example's tools with what its service sets.
func TestManifestLoads(t *testing.T) {
	t.Parallel()
	worker, err := project(t).GetService("hermes-worker")
	require.NoError(t, err)
	public, _, err := ed25519.GenerateKey(nil)
	require.NoError(t, err)
	keys := filepath.Join(t.TempDir(), "expense.keys")
	require.NoError(t, os.WriteFile(keys, []byte("k1 "+tool.EncodeKey(public)+"\n"), 0o600))
	getenv := func(name string) string {
		if name == "HERMES_TOOL_KEYS" {
			return keys
		}
		if value := worker.Environment[name]; value != nil {
			return *value
		}
		return ""
	}
	registry, err := tool.LoadManifests(filepath.Join(root, "examples/expense/tools.yaml"), getenv)
	require.NoError(t, err)
	require.ElementsMatch(t, tools.Names(), registry.Names())
}

// The program of the example's tools has every flag that it is given, and each tool is asked on its own port: the
// program gives its tools consecutive ports in the order of tools.Names.
func TestToolsAreWhereTheWorkerLooks(t *testing.T) {
	t.Parallel()
	p := project(t)
	service, err := p.GetService("expense-tools")
	require.NoError(t, err)
	require.Equal(t, "expense-tools", service.Command[0])
	source := read(t, "examples/expense/cmd/expense-tools/main.go")
	given := map[string]string{}
	for _, argument := range service.Command[1:] {
		name, value, _ := strings.Cut(strings.TrimPrefix(argument, "--"), "=")
		require.Contains(t, source, `flags.String("`+name+`"`)
		given[name] = value
	}

	worker, err := p.GetService("hermes-worker")
	require.NoError(t, err)
	require.Equal(t, given["public"], *worker.Environment["HERMES_TOOL_KEYS"])
	_, first, err := net.SplitHostPort(given["listen"])
	require.NoError(t, err)
	port, err := strconv.Atoi(first)
	require.NoError(t, err)
	urls := map[string]string{}
	address := regexp.MustCompile(`name: (\S+)\n +url: \$\{([A-Z_]+)\}`)
	for _, found := range address.FindAllStringSubmatch(read(t, "examples/expense/tools.yaml"), -1) {
		urls[found[1]] = *worker.Environment[found[2]]
	}
	for i, name := range tools.Names() {
		require.Equal(t, "http://expense-tools:"+strconv.Itoa(port+i), urls[name], "tool %q", name)
	}
}

// Addresses of other services name a service of the file.
func TestAddressesNameServices(t *testing.T) {
	t.Parallel()
	p := project(t)
	host := regexp.MustCompile(`^(?:[a-z0-9+]+://)?([a-z][a-z0-9-]*):(\d+)(?:/|$)`)
	for _, service := range p.Services {
		for key, value := range service.Environment {
			if value == nil {
				continue
			}
			if found := host.FindStringSubmatch(*value); found != nil {
				_, err := p.GetService(found[1])
				require.NoError(t, err, "%s of service %q is %q", key, service.Name, *value)
			}
		}
	}
}

// The setup script registers exactly the search attributes that conversations write.
func TestSearchAttributes(t *testing.T) {
	t.Parallel()
	line := regexp.MustCompile(`(?m)^for attribute in (.*); do$`).FindStringSubmatch(read(t, "deploy/temporal/setup"))
	require.NotNil(t, line)
	require.ElementsMatch(t, []string{
		conversation.AttributeState, conversation.AttributeFlow, conversation.AttributeUser,
		conversation.AttributeTrace, conversation.AttributePath,
	}, strings.Fields(line[1]))
}

// manifestVariables are the environment variables that the manifest of the example's tools asks for.
func manifestVariables(t *testing.T) []string {
	t.Helper()
	var names []string
	variable := regexp.MustCompile(`\$\{([A-Z_]+)`)
	for _, found := range variable.FindAllStringSubmatch(read(t, "examples/expense/tools.yaml"), -1) {
		names = append(names, found[1])
	}
	require.NotEmpty(t, names)
	slices.Sort(names)
	return slices.Compact(names)
}

// settings are the environment variables that internal/config knows.
func settings(t *testing.T) []string {
	t.Helper()
	var help bytes.Buffer
	_, err := config.Load("hermes", []string{"--help"}, func(string) string { return "" }, &help)
	require.ErrorIs(t, err, flag.ErrHelp)
	names := regexp.MustCompile(`(?m)^ {2}--\S+ +(HERMES_[A-Z_]+)$`).FindAllStringSubmatch(help.String(), -1)
	require.NotEmpty(t, names)
	var known []string
	for _, name := range names {
		known = append(known, name[1])
	}
	return known
}

func read(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(root, path))
	require.NoError(t, err)
	return string(data)
}

// The operator's page knows every setting.
func TestSettingsAreDocumented(t *testing.T) {
	t.Parallel()
	page := read(t, "docs/operations.md")
	for _, name := range settings(t) {
		require.Contains(t, page, "`"+name+"`")
	}
}
