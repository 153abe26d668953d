# The table of contents of this repository. `make` lists it.

VERSION := $(shell sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -n 1)
BUILT   := $(or $(CARGO_TARGET_DIR),target)
# How many cases are compared: make conformance N=20000 SEED=1, or CASES=FILE
N       ?= 2000
# How many rounds of each kind: make promise ROUNDS=1000
ROUNDS  ?= 100
# How many strangers race with replacements, and how many leaders are ended: make races RACES=1000, make kills KILLS=50
RACES   ?= 1000
KILLS   ?= 50
# What is simulated, and how often: make simulate TIER=steps SEEDS=1000000 FROM=20000
TIER    ?= steps
SEEDS   ?= 100000
FROM    ?= 0
# Of how many waiting pods each fix is carried out: make e2e FIXES=1000
FIXES   ?= 200
# How long each fuzz target runs: make fuzz SECONDS=600
SECONDS ?= 30
# Other platforms that the command is checked for
CROSS   ?= x86_64-pc-windows-gnu aarch64-apple-darwin x86_64-apple-darwin

HELM    ?= helm

# Tests on a control plane wait most of the time, so more of them go side by side than there are cores.
export RUST_TEST_THREADS ?= 6

.DEFAULT_GOAL := help
.PHONY: help demo demo-cluster recording build test lint e2e promise races kills control-plane cluster conformance bench bench-cluster bench-cli fuzz vectors simulate simulate-some bugs install uninstall dist cross-check image deny clean monitoring sbom describe-release release-check push-image push-index chart push-chart publish

help: ## list the targets
	@sed -n 's/^\([a-z0-9-]*\):.*## \(.*\)/\1|\2/p' Makefile | awk -F '|' '{ printf "  %-16s %s\n", $$1, $$2 }'

demo: ## see what this is for: a small cluster in one process, and places lost and kept in it
	@cargo build --locked --package kubectl-reserve
	@$(BUILT)/debug/kubectl-reserve demo

recording: ## write anew what the demo prints, and what the programs ask of an API server
	RESERVE_RECORD=1 cargo test --workspace --locked --test demo --test sandbox the_recording

demo-cluster: ## watch a reservation made by hand being kept on a real control plane
	cargo test --workspace --locked --test seed_000 -- --nocapture --test-threads 1

build: ## build everything
	cargo build --workspace --locked

# Everything runs, also after a failure: one look at the end shows all that is broken.
test: ## format, all tests, thousands of simulated histories; continuous integration runs this and lint
	cargo fmt --all --check
	.ci/tests

lint: ## format, clippy without warnings, shell syntax, types of the pages' scripts, and what deny checks
	cargo fmt --all --check
	cargo clippy --workspace --all-targets --locked -- -D warnings
	sh -n install.sh
	.ci/web
	$(MAKE) --no-print-directory deny

e2e: ## only the tests on a real control plane; each fix of FIXES (200) waiting pods is carried out
	RESERVE_FIXES='$(FIXES)' cargo test --workspace --locked --no-fail-fast --test 'control_plane*' --test 'seed_*' --test thread --test leases \
		--test admin --test manifests --test chart --test policies --test 'attacks*' --test image --test controller --test explain --test promise --test cases \
		--test faults --test races --test scheduler --test extender --test citizen --test krew --test release --test monitoring --test 'recreate*' --test views --test install_verb --test agree --test demo_sandbox

promise: ## recreate pods ROUNDS (100) times in each of five ways in a full cluster: none may lose its place
	RESERVE_ROUNDS='$(ROUNDS)' cargo test --workspace --locked --test promise -- --nocapture --test-threads 1

races: ## let RACES (1000) strangers race with replacements through the real kube-scheduler: none may get a place that is kept
	RESERVE_RACES='$(RACES)' cargo test --workspace --locked --test races strangers -- --nocapture --test-threads 1

kills: ## end KILLS (50) leaders by SIGKILL and as many by SIGTERM while kept pods are deleted, and print how long reservations take
	RESERVE_KILLS='$(KILLS)' cargo test --workspace --locked --test races kills -- --nocapture --test-threads 1

control-plane: ## build the control plane that tests use (needs go; slow once)
	cargo run --locked -p reserve-tests --bin control-plane -- build

cluster: ## run that control plane to try things on
	cargo run --locked -p reserve-tests --bin control-plane -- run

conformance: ## compare N decisions (2000) of ours with kube-scheduler's own code; SEED, or a file of CASES
	cargo run --locked -p reserve-tests --bin conformance -- \
		$(if $(CASES),--file '$(CASES)',--cases $(N) $(if $(SEED),--seed $(SEED)))

bench: ## measure decisions, and the memory of 100,000 nodes with a million pods (takes minutes)
	cargo bench --locked -p reserve-common --bench decisions
	cargo bench --locked -p reserve-common --bench memory
	cargo bench --locked -p reserve-daemon --bench jobs
	cargo bench --locked -p reserve-daemon --bench hints

monitoring: ## write rules for Prometheus and the dashboard anew, from the daemon's metrics
	cargo run --locked -p reserve-tests --bin monitoring

# One of them, with all that happens in it: make simulate SEED=4711
simulate: ## live through SEEDS (100000) histories with faults under virtual time; none may break a rule
	cargo run --profile simulate --locked -p reserve-tests --bin simulate -- \
		$(TIER) $(if $(SEED),--seed $(SEED),--seeds $(SEEDS) --from $(FROM))

# What the test command has of each tier, with all plans and known seeds.
simulate-some:
	cargo build --profile simulate --locked -p reserve-tests --bin simulate
	$(BUILT)/simulate/simulate steps
	$(BUILT)/simulate/simulate whole

# Some of them, or without seeds, or with seeds found anew: make bugs BUGS='--quick 03 14', make bugs BUGS=--find
bugs: ## put fifteen famous bugs back, one at a time; the tests and seeds named for each must see it (takes an hour)
	cargo run --locked -p reserve-tests --bin bugs -- $(BUGS)

# Its options: make bench-cluster BENCH='--pairs 5 --shapes basic'
bench-cluster: ## race the real kube-scheduler on a real API server; fails below the bars (takes half an hour)
	cargo build --release --locked --workspace --bins
	$(BUILT)/release/bench-cluster $(BENCH)

# Its options: make bench-cli BENCH='--nodes 500 --pods 5000'
bench-cli: ## measure the command in a cluster of 5,000 nodes and 50,000 pods; fails below the bars (takes minutes)
	cargo build --profile plugin --locked -p kubectl-reserve
	cargo build --release --locked -p reserve-tests --bin bench-cli
	$(BUILT)/release/bench-cli $(BUILT)/plugin/kubectl-reserve $(BENCH)

# Without a sanitizer the stable compiler is enough; it needs a C++ compiler besides.
fuzz: ## fuzz each parser for SECONDS (30); installs cargo-fuzz
	command -v cargo-fuzz >/dev/null || cargo install cargo-fuzz --locked
	$(call fuzz_target,quantity)
	$(call fuzz_target,annotation)
	$(call fuzz_target,extender)

vectors: ## ask Kubernetes' own code for the golden vectors again (needs go)
	$(call vector,quantity)
	$(call vector,requests)
	$(call vector,config)

install: ## build the plugin and install it into INSTALL_DIR (~/.local/bin)
	sh install.sh

uninstall: ## remove it again
	sh install.sh --uninstall

# For this machine's platform, or for others whose linker is here: make dist TARGETS='x86_64-apple-darwin aarch64-apple-darwin'
dist: ## pack static programs, manual and completions for release into dist/, with checksums and the krew manifest
	cargo run --locked -p reserve-tests --bin dist -- $(TARGETS)

# What a release has besides archives. REPOSITORY is where this repository is: make describe-release REPOSITORY=https://github.com/OWNER/NAME
describe-release: ## write checksums, krew manifest and template, and Homebrew formula for the archives in dist/
	cargo run --locked -p reserve-tests --bin dist -- describe '$(or $(REPOSITORY),$(error say REPOSITORY=https://…))'

sbom: ## write what each program is made of into dist/, as CycloneDX
	cargo run --locked -p reserve-tests --bin dist -- sbom

chart: ## pack the Helm chart into dist/ (needs helm)
	mkdir -p dist
	$(HELM) package charts/kubectl-reserve --destination dist

release-check: ## fail unless TAG is the version of Cargo.toml
	@test '$(TAG)' = 'v$(VERSION)' || { echo "the tag is $(TAG), the version v$(VERSION)"; exit 1; }

# These write to a registry or a server. IMAGE, CHARTS and TAG have no defaults.
push-image: ## push what `make image` wrote as IMAGE:version-ARCH (needs docker, logged in)
	docker load --input dist/reserve-daemon-$(VERSION).tar
	docker tag reserve-daemon:$(VERSION) '$(or $(IMAGE),$(error say IMAGE=registry/name)):$(VERSION)-$(or $(ARCH),$(error say ARCH=amd64))'
	docker push '$(IMAGE):$(VERSION)-$(ARCH)'

push-index: ## push IMAGE:version for all ARCHES (needs docker buildx, logged in)
	docker buildx imagetools create --tag '$(or $(IMAGE),$(error say IMAGE=registry/name)):$(VERSION)' \
		$(foreach arch,$(or $(ARCHES),$(error say ARCHES="amd64 arm64")),'$(IMAGE):$(VERSION)-$(arch)')

push-chart: ## push the chart that `make chart` packed to CHARTS (needs helm, logged in)
	$(HELM) push dist/kubectl-reserve-$(VERSION).tgz '$(or $(CHARTS),$(error say CHARTS=oci://registry/path))'

publish: ## make the release TAG of what is in dist/ (needs gh, logged in)
	gh release create '$(or $(TAG),$(error say TAG=v1.2.3))' --verify-tag --generate-notes \
		dist/*.tar.gz dist/*.tgz dist/*.cdx.json dist/checksums.txt dist/reserve.yaml dist/kubectl-reserve.rb

# Nothing is linked, so no compiler for those platforms is needed either.
cross-check: ## check that the command compiles for Windows and macOS, with the targets that rustup has installed
	@for target in $(CROSS); do \
		if rustup target list --installed | grep -qx "$$target"; then \
			echo "checking $$target"; \
			name=$$(echo "$$target" | tr - _); \
			env "CC_$$name=$(CURDIR)/.ci/no-cc" "AR_$$name=$(CURDIR)/.ci/no-cc" \
				cargo check --locked -p kubectl-reserve --target "$$target" || exit 1; \
		else echo "not checked: $$target (rustup target add $$target)"; fi; \
	done

image: ## write the daemon's container image into dist/, without a container engine
	cargo run --locked -p reserve-tests --bin image -- dist/reserve-daemon-$(VERSION).tar

deny: ## check dependencies: banned crates, licenses, sources, known vulnerabilities; installs cargo-deny
	command -v cargo-deny >/dev/null || cargo install cargo-deny --locked
	cargo deny --locked check --hide-inclusion-graph bans licenses sources
	.ci/advisories

clean: ## remove what was built
	cargo clean
	rm -rf dist

# fuzz_target NAME: what it finds goes to fuzz/corpus, what breaks to fuzz/artifacts; the seeds are kept.
define fuzz_target
	mkdir -p fuzz/corpus/$(1)
	cargo fuzz run --sanitizer none $(1) fuzz/corpus/$(1) fuzz/seeds/$(1) -- \
		-max_total_time=$(SECONDS) -timeout=5 -rss_limit_mb=256 -max_len=4096
endef

# vector NAME: the old answers are replaced only by a complete set of new ones.
define vector
	cd common/vectors && CGO_ENABLED=0 go run -mod=readonly -trimpath \
		-modfile=../../tests/control-plane/kubernetes/go.mod ./$(1) > $(1).jsonl.new && mv $(1).jsonl.new $(1).jsonl
endef
