# airtoll: every target does its own set-up. Needs CPython 3.11+, cargo, a C compiler and make.

PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
RUNS ?= runs
RUST := $(shell find crates -name '*.rs' -o -name Cargo.toml) Cargo.toml Cargo.lock

# Prints the folder into which cargo builds.
TARGET_FOLDER = cargo metadata --no-deps --format-version 1 | sed 's/.*"target_directory":"\([^"]*\)".*/\1/'

export CARGO_TERM_COLOR ?= never

.PHONY: help demo fast test test-slow test-install web test-linux agarwal-linux wheel lint bench bench-gate bench-simulator bench-captures bench-ciphers \
	docs site border ci build venv system guest fuzz mutations clean

help: ## list the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*##/\t/' | expand -t 18

demo: build ## run a published study and write its report (README, first command)
	$(BIN)/airtoll run tripathi2008

test: build web system guest ## everything that must hold, from a clean checkout (README, second command)
	cargo test --workspace --quiet
	# Three for two cores: the worker with the daemons' peers mostly waits.
	$(BIN)/pytest -n 3 --dist loadfile --no-loadscope-reorder -m "not slow and not wheel"

test-slow: build system guest ## long campaigns
	$(BIN)/pytest -m "slow and not wheel"

# --pgo: guided by a profile of the shipped studies (make fast). Empty: a plain build, in half of the time.
WHEEL_FLAGS ?= --pgo

wheel: venv ## the wheel of this machine, in dist/; WHEEL_FLAGS= leaves out the guided build
	PATH="$(CURDIR)/$(BIN):$$PATH" sh tools/wheel.sh dist $(WHEEL_FLAGS)

fast: build ## the native module again, guided by a profile of the shipped studies; needs rustup's llvm-tools
	. $(BIN)/activate && PIP_QUIET=1 maturin develop --pgo --quiet

test-install: venv ## wheel and sdist in an empty environment: size, and every command of a base install
	$(BIN)/pytest -m wheel tests/install

test-linux: build system guest ## every policy on the real stack
	$(BIN)/pytest -m "guest or slow" tests/testbeds

agarwal-linux: build system guest ## agarwal2005's 648 cells on the real stack, one trial each, in hours; goes on where it ended
	$(BIN)/airtoll run agarwal2005 --on linux --vm --trials 1 --out $(RUNS)/agarwal2005-linux \
		$$(test ! -e $(RUNS)/agarwal2005-linux || echo --resume)

lint: venv ## formatting, types, import contracts, plain English
	cargo fmt --all --check
	cargo clippy --workspace --all-targets --quiet -- -D warnings
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	PYTHONPATH=python $(BIN)/lint-imports
	$(BIN)/python tools/plain_english.py
	$(BIN)/python tools/border.py --check

border: venv ## write the Python classes of airtoll.border from the Rust types
	$(BIN)/python tools/border.py

docs: build ## write the generated pages of docs/reference and docs/studies
	$(BIN)/python tools/reference.py
	$(BIN)/python tools/message_counts.py
	$(BIN)/python tools/audit_pages.py
	$(BIN)/python tools/study_pages.py
	$(BIN)/python tools/wifi7_pages.py
	$(BIN)/python tools/guides.py
	$(BIN)/python tools/post_quantum_pages.py
	$(BIN)/python tools/eduroam_pages.py

site: build web ## the documentation site, in site/; a warning ends the build
	$(BIN)/python tools/site.py
	NO_MKDOCS_2_WARNING=1 PYTHONPATH=python $(BIN)/mkdocs build

# Seconds of each fuzz target in CI; building the targets takes longer.
CI_FUZZ_SECONDS ?= 10

ci: lint test site test-install demo ## what continuous integration runs
	$(MAKE) wheel WHEEL_FLAGS=
	$(MAKE) fuzz FUZZ_SECONDS=$(CI_FUZZ_SECONDS)

web: ## the simulator for browsers, which reports embed; without a Rust target for it, says so
	@sh tools/web.sh

build: $(VENV)/.built ## the native module, the airtoll command and the medium for virtual radios

$(VENV)/.built: $(VENV)/.ready $(RUST) pyproject.toml
	. $(BIN)/activate && PIP_QUIET=1 maturin develop --release --quiet
	# Named beside the native module it gets the same features of all dependencies, which are built once.
	cargo build --quiet --locked --release -p airtoll-python -p airtoll-medium --bin airtoll-medium
	install "$$($(TARGET_FOLDER))/release/airtoll-medium" $(BIN)/
	@touch $@

venv: $(VENV)/.ready ## the virtual environment with pinned packages

$(VENV)/.ready: requirements.lock
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check --requirement requirements.lock
	@touch $@

system: ## programs that some tests need (apt); without them those tests say why they skip
	@sh tools/system-packages.sh
	@sh tools/peers-from-source.sh
	@sh tools/peers-of-debian.sh

guest: build system ## a kernel for the throw-away guest; without one its tests say why they skip
	-@$(BIN)/airtoll guest build

bench: bench-simulator bench-ciphers bench-captures ## every side-by-side measurement

bench-simulator: build ## simulated seconds per CPU second, beside ns-3 where its wheel is there
	$(BIN)/python benchmarks/simulator.py

bench-gate: build system ## instructions of cells and commands; fails where one rose by more than 3 %
	$(BIN)/python benchmarks/instructions.py

bench-captures: venv ## the capture reader against tshark, on a capture made for it
	cargo build --release --quiet -p airtoll-capture --examples
	$(BIN)/python benchmarks/captures.py --out benchmarks/results/captures.json

bench-ciphers: ## the ciphers against OpenSSL, built from source, in one process
	cd benchmarks/ciphers && cargo run --release --quiet -- --json | tee ../results/ciphers-openssl.json

# Coverage instrumentation as cargo-fuzz sets it up, on the pinned stable compiler.
FUZZ_SECONDS ?= 60
FUZZ_FLAGS := -Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
	-Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table \
	-Cllvm-args=-sanitizer-coverage-trace-compares -Ccodegen-units=1 --cfg fuzzing

fuzz: ## every fuzz target for FUZZ_SECONDS seconds each
	@set -e; host=$$(rustc -vV | sed -n 's/^host: //p'); cd fuzz; \
	RUSTFLAGS="$(FUZZ_FLAGS)" cargo build --release --quiet --target $$host; \
	folder=$$($(TARGET_FOLDER)); \
	for target in targets/*.rs; do name=$$(basename $$target .rs); \
		mkdir -p corpus/$$name artifacts; echo "fuzz $$name"; \
		$$folder/$$host/release/$$name -max_total_time=$(FUZZ_SECONDS) -max_len=4096 -verbosity=0 \
			-print_final_stats=1 -artifact_prefix=artifacts/$$name- corpus/$$name $$(ls -d seeds/$$name 2>/dev/null); \
	done

mutations: build ## 100,000 mutations of the shipped studies, from where the last call ended
	$(BIN)/python tests/study/mutations.py --to 100000

clean: ## forget what was built
	rm -rf $(VENV) target python/airtoll/_native*.so python/airtoll/report/browser/simulator.wasm.gz
