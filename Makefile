# Everything a developer runs, and what .ci/run runs. Only Go, git and make are needed; tools are pinned here and built by
# `go run` from the module cache.
SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-builtin-rules --no-print-directory

GOLANGCI_LINT_VERSION := v2.15.0
WORKFLOWCHECK_VERSION := v0.6.0
BUF_VERSION := v1.75.0

# A tool is built in its own module, so the workspace is switched off for it.
GOLANGCI_LINT := go run github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(GOLANGCI_LINT_VERSION)
WORKFLOWCHECK := go run go.temporal.io/sdk/contrib/tools/workflowcheck@$(WORKFLOWCHECK_VERSION)
BUF := go run github.com/bufbuild/buf/cmd/buf@$(BUF_VERSION)

# The modules of go.work. `go test ./...` at the root does not enter dev/.
MODULES := . dev

##@ Use

.PHONY: help
help: ## Show this list
	@awk 'BEGIN {FS = ":.*## "} /^##@/ {printf "\n%s\n", substr($$0, 5)} \
		/^[a-z.][a-z0-9-]*:.*## / {printf "  %-15s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: run
run: ## Start the whole stack on this machine (ARGS are flags of dev)
	go run ./dev $(ARGS)

.PHONY: demo
demo: ## Play the travel-expense dialogue against a stack of its own
	go run ./dev demo expense $(ARGS)

.PHONY: dialogues
dialogues: ## Run the dialogue scripts of the example
	go run ./dev test examples/expense/dialogues $(ARGS)

.PHONY: build
build: ## Build every program into .bin/
	@mkdir -p .bin
	go build -o .bin/ ./cmd/... ./examples/expense/cmd/... ./dev

.env: ## Make random secrets for docker-compose.yml
	@umask 077; random() { head -c 32 /dev/urandom | od -An -tx1 | tr -d ' \n'; }; \
	for name in HERMES_USER_HASH_KEY NEO4J_PASSWORD POSTGRES_PASSWORD; do echo "$$name=$$(random)"; done > $@

.PHONY: up
up: .env ## Build and start docker-compose.yml
	docker compose up --build --detach --wait

.PHONY: down
down: ## Stop docker-compose.yml; its volumes stay
	docker compose down

##@ Check

.PHONY: test
test: ## Run every test; names what was skipped (ARGS are flags of go test)
	go run ./internal/testrun $(addprefix -module ,$(MODULES)) -- $(ARGS)

.PHONY: replay
replay: ## Replay the recorded histories with the current workflow code
	@find workflows/testdata/histories -type f | grep -q . || { echo 'no histories in workflows/testdata'; exit 1; }
	go test -count=1 -run Replay ./workflows/...

FUZZTIME ?= 10s

.PHONY: fuzz
fuzz: ## Run every fuzz target for FUZZTIME (10s)
	@git ls-files --cached --others --exclude-standard -- '*_test.go' | xargs grep -HoE '^func Fuzz[A-Za-z0-9_]+' | sort | \
	while IFS=: read -r file func; do \
		name=$${func#func }; dir=$$(dirname "$$file"); \
		echo "fuzz ./$$dir $$name"; \
		go test "./$$dir" -run '^$$' -fuzz "^$$name\$$" -fuzztime $(FUZZTIME); \
	done

.PHONY: bench
bench: ## Run every benchmark
	go test -run '^$$' -bench . -benchmem ./...

.PHONY: lint
lint: ## Run golangci-lint over both modules
	@for module in $(MODULES); do \
		echo "golangci-lint $(GOLANGCI_LINT_VERSION) in $$module"; (cd $$module && $(GOLANGCI_LINT) run ./...); \
	done

.PHONY: workflowcheck
workflowcheck: ## Check workflow code for what a replay could not repeat
	$(WORKFLOWCHECK) -config workflowcheck.config.yaml ./workflows/... ./contract/...

.PHONY: buf
buf: ## Lint the API vocabulary and check its format
	$(BUF) lint
	$(BUF) format --diff --exit-code

AGAINST ?= HEAD~1

.PHONY: breaking
breaking: ## Check that the API vocabulary breaks no client (AGAINST=HEAD~1)
	$(BUF) breaking --against '.git#ref=$(AGAINST)'

.PHONY: generated
generated: generate ## Check that generated files are up to date
	@git diff --exit-code -- $(GENERATED)
	@new=$$(git ls-files --others --exclude-standard -- $(GENERATED)); \
		test -z "$$new" || { echo "generated but not committed: $$new"; exit 1; }

.PHONY: ci
ci: ## Run what decides whether a change lands (installs Debian packages: needs root)
	.ci/run

##@ Change

GENERATED := proto

.PHONY: generate
generate: ## Generate the API code from proto/
	$(BUF) generate

.PHONY: format
format: ## Format Go code and the API vocabulary
	@for module in $(MODULES); do (cd $$module && $(GOLANGCI_LINT) fmt ./...); done
	$(BUF) format --write

.PHONY: tidy
tidy: ## Tidy go.mod of both modules, then the workspace
	@for module in $(MODULES); do (cd $$module && GOWORK=off go mod tidy); done
	go work sync

.PHONY: clean
clean: ## Remove what `make build` made
	rm -rf .bin
