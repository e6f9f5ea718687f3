# The tasks of the project; `make` lists them.

SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
MAKEFLAGS += --no-print-directory
.DEFAULT_GOAL := help
.NOTPARALLEL:

VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
# The first of these that is Python 3.11 or newer makes the environment; PYTHON=... overrides.
PYTHONS := python3 python3.11 python3.12 python3.13 python3.14 python
# Vulkan drivers that run on the CPU: lavapipe from mesa, SwiftShader from chromium.
SYSTEM_PACKAGES := libvulkan1 mesa-vulkan-drivers chromium

JOBS ?= $(shell nproc 2>/dev/null || echo 2)
SECONDS ?= 60
SEED ?= 0
DEVICE ?= cpu
PIP := $(BIN)/python -m pip --quiet --quiet --disable-pip-version-check --no-input

.PHONY: help install system-deps demo test test-all check format bless bench bench-peers fuzz rules-check prove \
  conform docs clean

help:  ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

install: $(STAMP)  ## make .venv and install vyre (editable) with its development tools
	@:

$(STAMP): pyproject.toml
	@if [ ! -x $(BIN)/python ]; then \
	  python=$$(for p in $(or $(PYTHON),$(PYTHONS)); do \
	    if "$$p" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then echo "$$p"; break; fi; done); \
	  [ -n "$$python" ] || { echo "vyre needs Python 3.11 or newer on the PATH (or make PYTHON=/path/to/python)" >&2; exit 1; }; \
	  echo "install: creating $(VENV) with $$("$$python" --version)"; \
	  "$$python" -m venv $(VENV) >/dev/null 2>&1 \
	    || { "$$python" -m venv --clear --without-pip $(VENV) && "$$python" -m pip --quiet --quiet --python $(BIN)/python install pip; }; \
	fi
	@echo "install: installing vyre and its development tools into $(VENV)"
	@$(PIP) install --upgrade 'pip>=24'
	@$(PIP) install --editable '.[dev]'
	@touch $@

# dpkg -s alone also answers for packages that were removed but left configuration behind.
system-deps:  ## install the Vulkan drivers that the device tests need (apt, root)
	@missing=$$(for p in $(SYSTEM_PACKAGES); do \
	    dpkg -s "$$p" 2>/dev/null | grep -q '^Status: install ok installed' || echo "$$p"; done); \
	missing=$$(echo $$missing); \
	[ -n "$$missing" ] || exit 0; \
	if [ "$$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then \
	  echo "system-deps: please install these packages, then run make again: $$missing" >&2; exit 1; fi; \
	echo "system-deps: installing $$missing"; \
	export DEBIAN_FRONTEND=noninteractive; \
	apt-get update -qq; \
	apt-get install -y -qq -o DPkg::Lock::Timeout=300 --no-install-recommends $$missing >/dev/null

demo: install  ## run the examples on every device here, check them against the reference, time them
	@$(BIN)/vyre demo

# The static checks keep one core busy for a minute, so they run beside the tests and report after them.
# xdist waits for ever for the groups of a worker that was replaced, so no worker is.
test: install system-deps  ## run everything: all tests, and the static checks beside them
	@echo "test: running the tests on $(JOBS) cores, and the static checks"
	@log=$$(mktemp); failed=; \
	$(MAKE_COMMAND) check >"$$log" 2>&1 & checks=$$!; \
	trap 'kill $$checks 2>/dev/null || true; rm -f "$$log"' EXIT; \
	$(BIN)/pytest -q -n $(JOBS) --dist loadgroup --max-worker-restart=0 || failed=1; \
	wait $$checks || failed=1; \
	cat "$$log"; \
	[ -z "$$failed" ]

test-all: install system-deps  ## as test, with four times as many random programs
	@TEST_PROGRAMS=all $(MAKE_COMMAND) test

check: install  ## static checks only: ruff, formatting, types, layers; reports all, then fails
	@failed=; \
	echo "check: style";  $(BIN)/ruff check --quiet --output-format concise . || failed="$$failed style"; \
	echo "check: format"; $(BIN)/ruff format --check --quiet --output-format concise . || failed="$$failed format"; \
	echo "check: types";  $(BIN)/basedpyright --level error || failed="$$failed types"; \
	echo "check: layers"; layers=$$($(BIN)/lint-imports --no-logo 2>&1) || { echo "$$layers"; failed="$$failed layers"; }; \
	[ -z "$$failed" ] || { echo "check: failed:$$failed (make format repairs what it can)" >&2; exit 1; }

format: install  ## let ruff rewrite what it can
	@$(BIN)/ruff check --fix --quiet . || true
	@$(BIN)/ruff format --quiet .

bless: install  ## rewrite the expectations of text tests and snapshots from what the code does now
	@$(BIN)/pytest -q --bless tests/files tests/arch

bench: install  ## measure vyre and the peers that are installed; writes docs/benchmarks.md
	@$(BIN)/python -m benchmarks --write-docs

bench-peers: install  ## install the libraries vyre is compared with, into an environment of their own
	@$(BIN)/python -m benchmarks --install-peers

# chromium brings SwiftShader, but does not tell the Vulkan loader of it.
SWIFTSHADER := /usr/lib/chromium/vk_swiftshader_icd.json

fuzz: install system-deps  ## random programs in every way that must agree, hostile bytes at the decoder; SECONDS=60
	@VK_ADD_DRIVER_FILES=$$(ls $(SWIFTSHADER) 2>/dev/null) $(BIN)/python -m vyre.conform fuzz --seconds $(SECONDS) --seed $(SEED)
	@$(BIN)/python -m tests.unit.pipelines.fifteen

rules-check: install  ## the regexes of rule files (gitleaks .toml, Nosey Parker .yml) against RE2; RULES=dir TEXT=file
	@[ -n "$(RULES)" ] || { echo "rules-check: say where the rule files are: make rules-check RULES=dir" >&2; exit 1; }
	@$(BIN)/python -m vyre.conform rules "$(RULES)" $(if $(TEXT),--text "$(TEXT)")

prove: install  ## prove every rewrite rule with an SMT solver
	@$(BIN)/python -m tests.rules.prove

conform: install  ## run the conformance suite on one backend; DEVICE=cpu
	@$(BIN)/vyre conform --device $(DEVICE)

# Doctrees are what Sphinx would begin with the next time; every build is a whole one, so they go to build.
docs: install  ## rewrite the reference pages that follow from tables in the source; build the site of all pages
	@$(BIN)/python -m docs.generate
	@rm -rf site
	@$(BIN)/python -m sphinx --quiet --fail-on-warning --keep-going --fresh-env -d build/doctrees -c docs . site
	@echo "docs: the site is in site; open site/index.html"

clean:  ## remove caches and build products (the environments stay)
	@rm -rf build dist site .pytest_cache .ruff_cache .import_linter_cache .hypothesis
	@find src tests benchmarks docs -name __pycache__ -type d -prune -exec rm -rf {} + 2>/dev/null || true
