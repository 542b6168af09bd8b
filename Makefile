# Quake: build, run, test. Every target does its own set-up.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.ONESHELL:

# The feed that `make run` polls: the name of a USGS feed, a URL, a file, or simulated.
FEED ?= all_day
PREFIX ?= /usr/local
BIN := $(CURDIR)/.build/release
TOOLS := quake-ingest quake-watch quake-query quake-admin quake-serve
SOURCES := Package.swift Sources Tests Benchmarks Examples

# For Package.swift: the commit that is built; empty without git. "-dirty" says that there are changes beside it.
export QUAKE_COMMIT := $(shell git describe --always --dirty --abbrev=8 --exclude='*' 2>/dev/null)

RELEASE := swift build -c release

.PHONY: help
help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-22s %s\n", $$1, $$2}' $(MAKEFILE_LIST)
	@echo
	@echo "  make run FEED=simulated     needs no network"
	@echo "  make install PREFIX=DIR     default $(PREFIX)"

.PHONY: setup
setup: page-assets # installs missing packages, or prints the command for it
	@deploy/setup.sh

.PHONY: build
build: setup ## build the tools
	$(RELEASE)

.PHONY: run
run: build ## run a worker on FEED, a server and a watcher, with a private PostgreSQL
	@deploy/run.sh "$(BIN)" "$(FEED)"

# The tests and the tools that they run are built once. Tests see what is internal to a module, so this is not the
# build of `make build`; Package.swift says which modules it optimises. Debug information would take a tenth of the
# time of compiling, and LLVM's check of what the Swift compiler gives it a thirtieth. LLVM's linker takes half the time.
QUICKLY := -c release -Xswiftc -gnone -Xswiftc -Xfrontend -Xswiftc -disable-llvm-verify -Xswiftc -use-ld=lld
TESTS := --scratch-path .build/tests $(QUICKLY) -Xswiftc -enable-testing
BUILD-TESTS := QUAKE_TEST_BUILD=1 swift build $(TESTS) --build-tests
TESTED := $(CURDIR)/.build/tests/release
# `swift test` runs this program too, but first evaluates Package.swift, for each group anew.
RUN-TESTS := .build/tests/release/quakePackageTests.xctest --testing-library swift-testing
# For one test after a change, and for the debugger.
BUILD-DEBUG := swift build --product quakePackageTests

# The tests run in the groups of Tests/groups. Of a group's output, what failed and what was skipped is shown when it
# has ended; the rest is in its log. The others go on after a failure. The last lines name each test that failed, and
# the command that runs it alone.
TEST-LOGS := .build/test-logs
JOBS := 5
RUN-OPTIONS :=

.PHONY: test-groups
test-groups: # all groups, already built
	@export QUAKE_BIN="$(TESTED)"
	rm -rf $(TEST-LOGS)
	mkdir -p $(TEST-LOGS)
	status=0
	for when in beside after; do
		groups=$$(deploy/test-groups.pl $$when)
		$(MAKE) --no-print-directory --jobs=$(JOBS) --keep-going --output-sync=target \
			TEST-LOGS=$(TEST-LOGS) $$(printf 'test-group-%s ' $$groups) || status=$$?
	done
	if (( status )); then deploy/failed-tests.pl $(TEST-LOGS) >&2; fi
	exit $$status

test-group-%: # one group, already built
	@mkdir -p $(TEST-LOGS)
	filter=$$(deploy/test-groups.pl filter $*)
	status=0
	$(RUN-TESTS) $(RUN-OPTIONS) --filter "$$filter" --event-stream-version 0 --event-stream-output-path $(TEST-LOGS)/$*.events \
		>$(TEST-LOGS)/$*.log 2>&1 || status=$$?
	# A group without tests would pass.
	grep -q 'Test run with [1-9]' $(TEST-LOGS)/$*.log || status=1
	grep -E '^✘|recorded an issue|skipped|^SKIPPED|^↳ [^ST]|Fatal error|Program crashed|Test run with' \
		$(TEST-LOGS)/$*.log | cut -c 1-400 | sed 's/^/$*: /' || true
	exit $$status

.PHONY: build-tests
build-tests: setup # the tests and the tools that they run
	$(BUILD-TESTS)

.PHONY: test
test: build-tests ## run all tests
	@$(MAKE) --no-print-directory test-groups

# TEST is the name that a failed run prints, or a regular expression for several.
.PHONY: test-one
test-one: build-tests ## run the tests that match TEST (TEST='ToolTests.ListTests/manyCodes')
	@QUAKE_BIN="$(TESTED)" $(RUN-TESTS) --filter '$(or $(TEST),$(error TEST names a test))'

# BUSY processes keep the processors busy in the meantime.
N := 10
BUSY := 2
.PHONY: test-repeat
test-repeat: build-tests ## run all tests N times beside BUSY busy processes, and count failures by test
	@deploy/test-repeat.sh $(N) $(BUSY)

.PHONY: test-unit
test-unit: setup ## run the tests that need no database
	filter=$$(deploy/test-groups.pl filter unit)
	$(BUILD-DEBUG)
	swift test --skip-build --filter "$$filter"

.PHONY: lint
lint: ## check the style of the sources, the types of the page and the subjects of commits
	deploy/check-page.sh
	swift format lint --strict --parallel --recursive $(SOURCES)
	if git log -10 --no-merges --format=%s | grep -E '^.{73}'; then echo 'a subject has at most 72 characters' >&2; exit 1; fi

.PHONY: docs
docs: setup ## compile the DocC documentation of the library, and check its links
	@deploy/docs.sh

.PHONY: format
format: ## format the sources
	swift format --in-place --parallel --recursive $(SOURCES)

.PHONY: page-assets
page-assets: ## list the files of the live page anew, after one was added or removed
	deploy/page-assets.pl

.PHONY: schema
schema: setup ## write migrations/schema.sql and listing.txt anew, after a new migration
	QUAKE_WRITE_SCHEMA=1 swift test --filter SchemaDump

# QUICK=1 takes minutes, ONLY=a,b,d measures these workloads, EVENTS=N loads N events instead of a
# million, BENCH has further options. PYTHON is the one that has psycopg.
.PHONY: bench
bench: build ## measure, beside the database's limit and a script (QUICK=1, ONLY=a,b)
	@"$(BIN)/quake-bench" $(if $(QUICK),--quick) $(if $(ONLY),--only $(ONLY)) \
		$(if $(EVENTS),--events $(EVENTS)) --markdown .build/benchmarks.md $(BENCH)
	echo "also in .build/benchmarks.md, as Markdown"

# A build of its own, because everything is compiled otherwise.
SANITIZE := --sanitize thread --scratch-path .build/thread-sanitizer

# A build of its own as well.
ADDRESS := --scratch-path .build/address --sanitize=address -Xswiftc -use-ld=lld

# And another one, in which the code notes for libFuzzer where it has been. Optimised, because most of an hour would go
# into overhead otherwise, but with the assertions of a debug build. T is the seconds for each TARGET; all by default.
FUZZ := --scratch-path .build/fuzz -c release --product quake-fuzz --sanitize=address \
	-Xswiftc -sanitize=fuzzer,address -Xcc -fsanitize=fuzzer-no-link -Xswiftc -use-ld=lld \
	-Xswiftc -enable-testing -Xswiftc -assert-config -Xswiftc Debug
T := 60
.PHONY: fuzz
fuzz: setup ## fuzz the parsers of bytes from outside for T seconds each (T=3600 TARGET=json)
	QUAKE_FUZZ=1 swift build $(FUZZ)
	deploy/fuzz.sh $(T) $(TARGET)

.PHONY: soak
soak: build ## run the long variants of the tests, the unit tests with the thread sanitizer, and the fuzzer
	$(BUILD-DEBUG) $(SANITIZE)
	# The sanitizer's posix_spawn gives another error for a program that is not there.
	filter=$$(deploy/test-groups.pl filter unit)
	swift test --skip-build $(SANITIZE) --filter "$$filter" --skip '^UnitTests\..*/aChildThatDoesNotExistCausesAnError\('
	# One test after the other, because these load the machine for minutes; with the tools as they are shipped.
	$(BUILD-TESTS)
	QUAKE_SOAK=1 $(MAKE) --no-print-directory test-groups JOBS=1 TESTED="$(BIN)" RUN-OPTIONS=--no-parallel
	# The server under hostile traffic once more, with the address sanitizer, which keeps freed memory for a while.
	swift build $(ADDRESS)
	ASAN_OPTIONS=quarantine_size_mb=4 QUAKE_BIN="$(CURDIR)/.build/address/debug" \
		$(RUN-TESTS) --filter '^ToolTests\.HostileTrafficTests'
	$(MAKE) --no-print-directory fuzz

.PHONY: screenshots
screenshots: setup ## take pictures of the live page, into .build/screenshots
	$(BUILD-TESTS)
	QUAKE_BIN="$(TESTED)" QUAKE_SCREENSHOTS="$(CURDIR)/.build/screenshots" \
		$(RUN-TESTS) --filter '^ToolTests\.PageTests/picturesAreTaken'

.PHONY: build-examples
build-examples: # the programs in Examples, and the library as it is outside of this package
	swift build --package-path Examples --scratch-path .build/examples $(QUICKLY) -Xswiftc -Onone \
		-Xswiftc -no-emit-module-separately-wmo

.PHONY: examples
examples: ## build and try the programs in Examples
	$(BUILD-TESTS)
	QUAKE_EXAMPLES=1 QUAKE_BIN="$(TESTED)" $(RUN-TESTS) --filter ExamplePackageTests

.PHONY: install
install: build ## install the tools, manual pages and completions into PREFIX
	install -d "$(DESTDIR)$(PREFIX)/bin"
	install -d "$(DESTDIR)$(PREFIX)/share/man/man1"
	install -d "$(DESTDIR)$(PREFIX)/share/bash-completion/completions"
	install -d "$(DESTDIR)$(PREFIX)/share/zsh/site-functions"
	install -d "$(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d"
	for tool in $(TOOLS); do
		install -m 755 "$(BIN)/$$tool" "$(DESTDIR)$(PREFIX)/bin/$$tool"
		"$(BIN)/$$tool" --man > "$(DESTDIR)$(PREFIX)/share/man/man1/$$tool.1"
		"$(BIN)/$$tool" --completions bash \
			> "$(DESTDIR)$(PREFIX)/share/bash-completion/completions/$$tool"
		"$(BIN)/$$tool" --completions zsh > "$(DESTDIR)$(PREFIX)/share/zsh/site-functions/_$$tool"
		"$(BIN)/$$tool" --completions fish \
			> "$(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d/$$tool.fish"
	done

.PHONY: tarball
tarball: build ## pack the tools so that they run from any folder, without Swift
	deploy/packages/tarball.sh

.PHONY: deb
deb: build ## make the package for Debian 12 and 13
	deploy/packages/deb.sh

.PHONY: wheel
wheel: build ## make a Python wheel, for machines on which nobody can become root
	deploy/packages/wheel.sh

.PHONY: test-packages
test-packages: build ## try the packages on fresh machines of Debian 12 and 13 (as root, with Debian's mirror and PyPI)
	deploy/setup.sh debootstrap systemd-container
	deploy/packages/tarball.sh
	deploy/packages/deb.sh
	deploy/packages/wheel.sh
	deploy/packages/test.sh

BUILDER := docker
.PHONY: image
image: tarball ## make a container image from the tarball (BUILDER=podman, BUILDER=buildah)
	$(BUILDER) build --tag quake .

.PHONY: clean
clean: ## remove what was built
	rm -rf .build

.PHONY: check-release
check-release: ## check a release from nothing: fresh clone, build, unit tests, versions, frozen schema
	@deploy/check-release.sh
