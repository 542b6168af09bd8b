# Quake: build, run, test. Every target does its own set-up.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.ONESHELL:

# The feed that `make run` polls: USGS's name for one, a URL, a file, or simulated.
FEED ?= all_day
PREFIX ?= /usr/local
BIN := $(CURDIR)/.build/release
TOOLS := quake-ingest quake-watch quake-query quake-admin
SOURCES := Package.swift Sources Tests Benchmarks migrations

# The standard library is linked in: the tools need no Swift on the machine they run on, and an idle
# one needs half the memory.
RELEASE := swift build -c release --static-swift-stdlib

.PHONY: help
help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-22s %s\n", $$1, $$2}' $(MAKEFILE_LIST)
	@echo
	@echo "  make run FEED=simulated     needs no network"
	@echo "  make install PREFIX=DIR     default $(PREFIX)"

.PHONY: setup
setup: # what the machine lacks is installed, or the command for it printed
	@deploy/setup.sh

.PHONY: build
build: setup ## build the tools
	$(RELEASE)

.PHONY: run
run: build ## run a worker on FEED and a watcher, with a private PostgreSQL
	@deploy/run.sh "$(BIN)" "$(FEED)"

# Tests that share a process run side by side. Those of tasks get one to themselves, because the others
# block the threads that tasks share; so do those that put the machine under load.
define test-suites
	export QUAKE_BIN="$(BIN)"
	swift build --build-tests
	swift test --skip-build --skip 'QuakeLiveTests|ChangeFeedTests'
	swift test --skip-build --filter QuakeLiveTests
	swift test --skip-build --filter ChangeFeedTests
endef

.PHONY: test
test: build ## run all tests
	$(test-suites)

.PHONY: lint
lint: ## check the style of the sources and the English of the documents
	deploy/check-english.pl
	swift format lint --strict --parallel --recursive $(SOURCES)

.PHONY: docs
docs: setup ## compile the DocC documentation of the library, and check its links
	@deploy/docs.sh

.PHONY: format
format: ## format the sources
	swift format --in-place --parallel --recursive $(SOURCES)

.PHONY: schema
schema: setup ## write migrations/schema.sql anew, after a new migration
	QUAKE_WRITE_SCHEMA=1 swift test --filter SchemaDump

# QUICK=1 takes minutes, ONLY=a,b,d measures these workloads, EVENTS=N takes so many instead of a
# million, BENCH has further options. PYTHON is the one that has psycopg and dlt.
.PHONY: bench
bench: build ## measure, beside the database's limit and other tools (QUICK=1, ONLY=a,b)
	@"$(BIN)/quake-bench" $(if $(QUICK),--quick) $(if $(ONLY),--only $(ONLY)) \
		$(if $(EVENTS),--events $(EVENTS)) --markdown .build/benchmarks.md $(BENCH)
	echo "also in .build/benchmarks.md, as Markdown"

.PHONY: soak
soak: build ## run the long variants of the tests
	export QUAKE_SOAK=1
	$(test-suites)

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

.PHONY: clean
clean: ## remove what was built
	rm -rf .build
