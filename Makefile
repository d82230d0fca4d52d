# `make` lists what it can do. Nothing here is needed to use the program: `go run
# ./cmd/fingerpost` serves, `go test ./...` tests.

VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
COMMIT  ?= $(shell git rev-parse --short HEAD 2>/dev/null || echo unknown)
LDFLAGS  = -s -w -X main.version=$(VERSION) -X main.commit=$(COMMIT)

.DEFAULT_GOAL := help
.PHONY: help run build test race lint generate fuzz interop diff e2e bench compare chaos overload soak crash vuln check image release

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z0-9]+:.*## / { printf "  %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

run: ## serve: remoting on 9876, HTTP on 127.0.0.1:8876; ARGS= adds flags
	go run ./cmd/fingerpost $(ARGS)

build: ## the static program, as bin/fingerpost
	CGO_ENABLED=0 go build -trimpath -ldflags '$(LDFLAGS)' -o bin/fingerpost ./cmd/fingerpost

test: ## the tests; they need Go alone
	go test ./...

race: ## the tests under the race detector, which needs a C compiler
	go test -race ./...

lint: ## vet, gofumpt, staticcheck, golangci-lint, at pinned versions
	bash .ci/lint

generate: ## write again what is generated: the API description, the pages of settings
	go generate ./...

fuzz: ## run each fuzz function for FUZZTIME (30s)
	FUZZTIME=$(or $(FUZZTIME),30s) bash .ci/fuzz

interop: ## real brokers, clients and mqadmin against this server; needs Java, Maven, Python
	bash interop/run.sh

diff: ## random request sequences against the Java NameServer, answer by answer; needs Java
	bash interop/diff.sh

e2e: ## the dashboard in a real browser; needs Node and Chromium
	bash interop/e2e/run.sh

bench: ## the benchmarks of every path, with allocations
	go test -run '^$$' -bench . -benchmem ./...

compare: ## beside Java's NameServer and a raw echo, in one run; SET=quick or full; needs Java
	bash interop/bench/compare.sh $(or $(SET),quick)

chaos: ## CHAOS_FRAMES (1000000) bad frames, then broken brokers for CHAOS_TIME (10m), all checked
	CHAOS_FRAMES=$(or $(CHAOS_FRAMES),1000000) CHAOS_CORPUS=$(wildcard $(shell go env GOCACHE)/fuzz/fingerpost) \
		go test -run '^TestMalformedFrames$$' -count 1 -timeout 0 -v ./remoting
	go run ./internal/chaos chaos -time $(or $(CHAOS_TIME),10m) $(ARGS)

crash: ## kill the server KILL_ROUNDS (500) times while it saves: nothing that was answered is lost
	KILL_ROUNDS=$(or $(KILL_ROUNDS),500) go test -count=1 -timeout 1h -run '^TestKillRounds$$' -v ./cmd/fingerpost

overload: ## 10000 idle connections, 500 brokers and a storm of lookups for OVERLOAD_TIME (3m)
	go run ./internal/chaos overload -time $(or $(OVERLOAD_TIME),3m) $(ARGS)

soak: ## a steady load for SOAK_TIME (1h); fails if memory, descriptors or latency grow
	go run ./internal/chaos soak -time $(or $(SOAK_TIME),1h) $(ARGS)

vuln: ## look the dependencies up in Go's database of vulnerabilities; needs the network
	bash .ci/vuln

check: ## everything that CI runs, in the same order
	bash .ci/run

image: ## the container image fingerpost:VERSION
	docker build --build-arg VERSION=$(VERSION) --build-arg COMMIT=$(COMMIT) -t fingerpost:$(VERSION) .

release: ## all that is published of this commit, in dist/: archives, Debian packages, checksums
	go run ./deploy/release -out dist
