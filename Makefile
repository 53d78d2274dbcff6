# airtoll: every target does its own set-up. Needs CPython 3.11+, cargo, a C compiler and make.

PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
RUNS ?= runs
RUST := $(shell find crates -name '*.rs' -o -name Cargo.toml) Cargo.toml Cargo.lock

# Says what a step does and about how long it takes on two idle cores, then how long it took.
STEP := @$(PYTHON) tools/step.py
# Times and results of the last `make test`, `make test-all` or `make ci`.
RESULTS := target/results
# With these, module, medium, tests and the checks of Rust share one build of every dependency.
SHARED := --locked --profile quick --features airtoll-python/extension-module,airtoll-border/schema
# Two workers per core wait for daemons less than one does.
PYTEST := $(BIN)/pytest -n 3 --dist loadfile

# Prints the folder into which cargo builds.
TARGET_FOLDER = cargo metadata --no-deps --format-version 1 | sed 's/.*"target_directory":"\([^"]*\)".*/\1/'

export CARGO_TERM_COLOR ?= never
# Byte code is kept: every worker and every process of a test would compile all modules again.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help demo release fast test test-all test-rust test-aws-lc test-thorough test-pages test-python test-every-python test-guests beside-guests test-browser test-slow test-install web test-linux \
	agarwal-linux wheel lint bench bench-gate bench-simulator bench-captures bench-ciphers docs site border ci build medium \
	venv dev peers system guest fuzz mutations clean forget summary

help: ## list the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*##/\t/' | expand -t 18

demo: build ## run a published study and write its report (README, first command)
	@$(BIN)/airtoll run tripathi2008 --trials 8

test: export AIRTOLL_RESULTS := $(RESULTS)
test: forget build test-rust test-python ## what must hold, without guests and browsers (README, second command)
	@$(PYTHON) tools/step.py --results $(RESULTS) "Not asked for: thorough tests, guests, browsers, pages, wheels, site, fuzzing (make test-all); campaigns (make test-slow)."

test-all: export AIRTOLL_RESULTS := $(RESULTS)
test-all: forget build dev medium system web guest test-rust test-aws-lc test-every-python ## everything but campaigns
	@$(MAKE) --no-print-directory --jobs 2 --output-sync=target test-guests beside-guests
	@$(PYTHON) tools/step.py --results $(RESULTS) "Not asked for: campaigns (make test-slow)."

forget:
	@test -n "$(KEEP)" || rm -rf $(RESULTS)

test-rust: ## unit and property tests of the crates
	$(STEP) "Rust tests: build" "2 min, first 5" cargo test --quiet $(SHARED) --workspace --no-run
	$(STEP) --show "Rust tests" "1 min" cargo test --quiet $(SHARED) --workspace

test-aws-lc: ## AWS-LC and RustCrypto give the same octets
	$(STEP) "AWS-LC: build" "2 min, then 10 s" cargo test --quiet --locked --profile quick \
		-p airtoll-security -p airtoll-handshakes --features airtoll-security/aws-lc,airtoll-handshakes/aws-lc --lib --no-run
	$(STEP) --show "AWS-LC" "10 s" cargo test --quiet --locked --profile quick \
		-p airtoll-security -p airtoll-handshakes --features airtoll-security/aws-lc,airtoll-handshakes/aws-lc --lib

test-python: build dev medium peers
	$(STEP) --show "Python tests" "6 min" $(PYTEST) -m "not (slow or thorough or wheel or pages or guest or browser)"

# Each call of pytest collects all tests again in every worker, and ends with one worker at its last file.
test-every-python: build dev medium web system
	$(STEP) --show "Python tests, thorough, of pages and in browsers" "15 min" $(PYTEST) -m "not (slow or wheel or guest)"

test-thorough: build dev medium peers ## more rows, examples and policies of what make test tests
	$(STEP) --show "Thorough tests" "1 min" $(PYTEST) -m "thorough and not (slow or wheel or pages or guest or browser)"

test-pages: build dev medium peers
	$(STEP) --show "Pages" "2 min" $(PYTEST) -m "pages and not (slow or wheel or guest or browser)"

test-browser: build dev web system
	$(STEP) --show "Browser" "1 min" $(PYTEST) -m "browser and not (slow or wheel)"

test-guests: build dev medium system guest ## guests, and trials in virtual time
	$(STEP) --show "Guests" "10 min" $(BIN)/pytest -n 2 --dist loadgroup -m "guest and not (slow or wheel)"

# Guests use a third of two cores, the rest of their time they wait; compilers use what is left.
beside-guests: build dev web
	@$(MAKE) --no-print-directory test-install
	@$(MAKE) --no-print-directory site
	@$(MAKE) --no-print-directory fuzz

test-slow: build dev medium system guest ## long campaigns
	$(BIN)/pytest -m "slow and not wheel"

# --pgo: guided by a profile of the shipped studies (make fast). Empty: a plain build, in half of the time.
WHEEL_FLAGS ?= --pgo

wheel: dev ## the wheel of this machine, in dist/; WHEEL_FLAGS= leaves out the guided build
	PATH="$(CURDIR)/$(BIN):$$PATH" sh tools/wheel.sh dist $(WHEEL_FLAGS)

release: build dev ## the native module again, with link-time optimisation and AWS-LC, as in a wheel
	$(STEP) "Native module, release" "5 min" sh -c '. $(BIN)/activate && maturin develop --uv --locked --release'

fast: build ## the native module again, guided by a profile of the shipped studies; needs rustup's llvm-tools
	$(STEP) "Native module, guided" "10 min" sh -c '. $(BIN)/activate && maturin develop --uv --locked --release --pgo'

test-install: dev ## wheel and sdist in an empty environment: size, and every command of a base install
	$(STEP) --show "Wheel" "10 min" $(BIN)/pytest -m wheel tests/install

test-linux: build dev medium system guest ## every policy on the real stack
	$(BIN)/pytest -m "guest or slow" tests/testbeds

agarwal-linux: build dev medium system guest ## agarwal2005's 648 cells on the real stack, one trial each, in hours; goes on where it ended
	$(BIN)/airtoll run agarwal2005 --on linux --vm --trials 1 --out $(RUNS)/agarwal2005-linux \
		$$(test ! -e $(RUNS)/agarwal2005-linux || echo --resume)

lint: build dev ## formatting, types, import contracts, cycles, packages, plain English
	$(STEP) "cargo fmt" "1 s" cargo fmt --all --check
	$(STEP) "clippy" "2 min" cargo clippy $(SHARED) --workspace --all-targets --quiet -- -D warnings
	$(STEP) "cargo doc" "30 s, first 2 min" env RUSTDOCFLAGS="-D warnings" cargo doc --quiet --no-deps $(SHARED) --workspace
	$(STEP) "ruff check" "1 s" $(BIN)/ruff check .
	$(STEP) "ruff format" "1 s" $(BIN)/ruff format --check .
	$(STEP) "mypy" "30 s" $(BIN)/mypy
	$(STEP) "Import contracts" "5 s" env PYTHONPATH=python $(BIN)/lint-imports
	$(STEP) "Import cycles" "3 s" $(BIN)/python tools/cycles.py
	$(STEP) "Tuples of equal types" "2 s" $(BIN)/python tools/tuples.py
	$(STEP) "Plain English" "5 s" $(BIN)/python tools/plain_english.py
	$(STEP) "Limitations" "2 s" env PYTHONPATH=python $(BIN)/python tools/limitations.py --check
	$(STEP) "Packages of the crates" "5 s" cargo package --quiet --locked --no-verify --allow-dirty --workspace \
		--exclude airtoll-python --exclude airtoll-web
	$(STEP) "Workflows" "1 s" $(BIN)/zizmor --offline --persona auditor --no-progress .github/workflows
	$(STEP) "Border" "5 s, first 3 min" $(BIN)/python tools/border.py --check

border: dev ## write the Python classes of airtoll.border from the Rust types
	$(BIN)/python tools/border.py

docs: build dev ## write the generated pages of docs/reference and docs/studies
	$(BIN)/python tools/reference.py
	$(BIN)/python tools/limitations.py
	$(BIN)/python tools/message_counts.py
	$(BIN)/python tools/audit_pages.py
	$(BIN)/python tools/study_pages.py
	$(BIN)/python tools/wifi7_pages.py
	$(BIN)/python tools/guides.py
	$(BIN)/python tools/post_quantum_pages.py
	$(BIN)/python tools/eduroam_pages.py

site: build dev web ## the documentation site, in site/; a warning ends the build
	$(STEP) "Site: figures" "1 min" $(BIN)/python tools/site.py
	$(STEP) "Site: pages" "1 min" env NO_MKDOCS_2_WARNING=1 PYTHONPATH=python $(BIN)/mkdocs build

# Seconds of each fuzz target in CI; building the targets takes longer.
CI_FUZZ_SECONDS ?= 10

# Everything; the log ends with the time of each step.
ci: ## what continuous integration runs
	@rm -rf $(RESULTS)
	@AIRTOLL_RESULTS=$(RESULTS) $(MAKE) --no-print-directory lint demo test-all FUZZ_SECONDS=$(CI_FUZZ_SECONDS) KEEP=1 ; \
		code=$$?; $(PYTHON) tools/step.py --times $(RESULTS); exit $$code

web: ## the simulator for browsers, which reports embed; without a Rust target for it, says so
	$(STEP) "Simulator for browsers" "1 min" sh tools/web.sh

build: $(VENV)/.built ## the native module and the airtoll command, quick to build

$(VENV)/.built: $(VENV)/.ready $(RUST) pyproject.toml
	$(STEP) "Crates" "10 s" cargo fetch --locked --quiet
	$(STEP) "Native module" "2 min on two cores" sh -c '. $(BIN)/activate && \
		maturin develop --uv --locked --profile quick --features extension-module'
	@touch $@

medium: $(VENV)/.medium ## the medium for virtual radios of the real stack

$(VENV)/.medium: $(VENV)/.built
	$(STEP) "Medium" "30 s" cargo build --quiet $(SHARED) -p airtoll-python -p airtoll-border -p airtoll-medium --bin airtoll-medium
	@install "$$($(TARGET_FOLDER))/quick/airtoll-medium" $(BIN)/
	@touch $@

venv: $(VENV)/.ready ## the virtual environment: what airtoll imports, and what builds it

$(VENV)/.ready: requirements.lock
	$(STEP) "Python packages" "10 s" env PYTHON=$(PYTHON) sh tools/venv.sh $(VENV) requirements.lock
	@touch $@

dev: $(VENV)/.dev ## and what tests, linters and the site use

$(VENV)/.dev: $(VENV)/.ready requirements-dev.lock
	$(STEP) "Packages for development" "15 s" env PYTHON=$(PYTHON) sh tools/venv.sh $(VENV) requirements-dev.lock
	@touch $@

peers: ## daemons that the tests talk to (apt); without them those tests say why they skip
	$(STEP) "Daemons (apt)" "1 min, then 1 s" sh tools/system-packages.sh peers

system: ## all programs that tests need (apt)
	$(STEP) "Programs (apt)" "2 min, then 1 s" sh tools/system-packages.sh all
	$(STEP) "Daemons from source" "1 min, then 1 s" sh tools/peers-from-source.sh
	$(STEP) "Daemons of later Debians" "1 min, then 1 s" sh tools/peers-of-debian.sh

guest: build dev system ## both kernels of the throw-away guest, kept until their source or configuration changes
	$(STEP) "Guest kernel" "20 s, then 2 s" $(BIN)/airtoll guest build
	$(STEP) "User-Mode-Linux kernel" "10 min, then 2 s" $(BIN)/airtoll guest build --driver uml

bench: bench-simulator bench-ciphers bench-captures ## every side-by-side measurement

bench-simulator: release ## simulated seconds per CPU second, beside ns-3 where its wheel is there
	$(BIN)/python benchmarks/simulator.py

bench-gate: release system ## instructions of cells and commands; fails where one rose by more than 3 %
	$(BIN)/python benchmarks/instructions.py

bench-captures: dev ## the capture reader against tshark, on a capture made for it
	cargo build --release --quiet -p airtoll-capture --examples
	$(BIN)/python benchmarks/captures.py --out benchmarks/results/captures.json

bench-ciphers: ## the ciphers against OpenSSL, built from source, in one process
	cd benchmarks/ciphers && cargo run --release --quiet -- --json | tee ../results/ciphers-openssl.json

FUZZ_SECONDS ?= 60

$(VENV)/.fuzz: $(VENV)/.ready requirements-fuzz.lock
	$(STEP) "Fuzzer of Python" "5 s" env PYTHON=$(PYTHON) sh tools/venv.sh $(VENV) requirements-fuzz.lock
	@touch $@

fuzz: build dev $(VENV)/.fuzz ## every fuzz target for FUZZ_SECONDS seconds each
	$(STEP) "Fuzz targets: build" "4 min, then 5 s" sh tools/fuzz.sh build
	$(STEP) --show "Fuzzing" "$(FUZZ_SECONDS) s per target" sh tools/fuzz.sh run $(FUZZ_SECONDS)

mutations: build ## 100,000 mutations of the shipped studies, from where the last call ended
	$(BIN)/python tests/study/mutations.py --to 100000

clean: ## forget what was built
	rm -rf $(VENV) target python/airtoll/_native*.so python/airtoll/report/browser/simulator.wasm.gz
