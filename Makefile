# `make demo` and `make test` are all a new user needs: each makes .venv by itself (Python >= 3.11 and make suffice).
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
PIP_INSTALL := $(BIN)/python -m pip install -qq --disable-pip-version-check -c constraints.txt
JOBS ?= 2

.DEFAULT_GOAL := help
.PHONY: help install demo lint types test test-all browser bench docs picture dist try-dist clean

help: ## show the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-10s %s\n", $$1, $$2}'

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "orthodrome needs Python 3.11 or newer; say which with: make PYTHON=python3.12 ...")'
	@echo "making $(VENV) with $$($(PYTHON) --version)"
	@$(PYTHON) -m venv $(VENV)

$(STAMP): pyproject.toml constraints.txt | $(VENV)/bin/python
	@echo "installing orthodrome and its test tools into $(VENV) (a few minutes the first time)"
	@$(PIP_INSTALL) -e '.[test]'
	@touch $@

$(VENV)/.bench: $(STAMP)
	@echo "installing the peers of the benchmark"
	@$(PIP_INSTALL) -e '.[bench]'
	@touch $@

$(VENV)/.docs: $(STAMP)
	@echo "installing the documentation tools"
	@$(PIP_INSTALL) -e '.[docs]'
	@touch $@

install: $(STAMP) ## make .venv with the package and the test tools

demo: $(STAMP) ## run the main job: at most two minutes, figures in demo/
	@$(BIN)/orthodrome demo --out demo

lint: $(STAMP)
	@$(BIN)/ruff check --quiet .
	@$(BIN)/ruff format --check --quiet .

types: $(STAMP)
	@$(BIN)/mypy --no-error-summary

# Compiling is most of what the fast suite does, so it runs unoptimised programs; `test-all` runs what users run.
# A compiler that does not know a flag stops at once, so they are tried first: all together, then each.
QUICK_COMPILE := --xla_backend_optimization_level=0 --xla_cpu_use_fusion_emitters=false \
	--xla_llvm_disable_expensive_passes=true --xla_cpu_parallel_codegen_split_count=1
known = $(shell XLA_FLAGS="$(1)" $(BIN)/python -c 'import jax; jax.devices(); print("$(1)")' 2>/dev/null)
KNOWN_FLAGS = $(or $(call known,$(QUICK_COMPILE)),$(foreach flag,$(QUICK_COMPILE),$(call known,$(flag))))
# Of the many processes of the tests each would compile the package's own modules where the shell forbids bytecode.
# The types are checked beside the tests: it takes one core most of a minute. Either failing fails the target.
test: lint ## lint, types and tests: about 12 minutes on 2 cores
	@$(BIN)/mypy --no-error-summary & types=$$!; \
	PYTHONDONTWRITEBYTECODE= XLA_FLAGS="$(XLA_FLAGS) $(KNOWN_FLAGS)" $(BIN)/pytest -q -n $(JOBS) --dist loadgroup -m "not slow"; tests=$$?; \
	wait $$types && exit $$tests

test-all: lint types ## also the full matrix, the long kills and the million-step runs
	@$(BIN)/pytest -q -n $(JOBS) --dist loadgroup

$(VENV)/.browser: $(STAMP)
	@echo "installing axe-core, which looks for what keeps people out of a page"
	@$(PIP_INSTALL) --no-deps 'axe-playwright-python>=0.1.8'
	@touch $@

browser: $(VENV)/.browser ## the report page in a headless Chromium (apt install chromium chromium-driver)
	@mkdir -p screenshots && ORTHODROME_SHOTS=screenshots $(BIN)/pytest -q -s tests/browser
	@echo "screenshots to be looked at in screenshots/"

bench: $(VENV)/.bench ## ours against the peers, side by side
	@$(BIN)/python -m benchmarks

$(VENV)/.dist: $(STAMP)
	@$(PIP_INSTALL) hatchling
	@touch $@

docs: $(VENV)/.docs ## build the documentation into site/; runs its examples (many minutes the first time)
	@$(BIN)/python docs/make_reference.py
	@$(BIN)/python docs/make_options.py
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet --strict && echo "documentation in site/index.html; with search: $(BIN)/python -m http.server -d site -b 127.0.0.1"

picture: $(STAMP) ## make the README's picture again
	@$(BIN)/python docs/make_picture.py

dist: $(VENV)/.dist ## build the wheel and the sdist into dist/
	@rm -rf dist
	@$(BIN)/python -m hatchling build && ls dist

try-dist: dist ## install the wheel into an empty environment without constraints; run the README and the demo there
	@ORTHODROME_DIST=dist $(BIN)/pytest -q tests/wheel

clean: ## remove what the other targets made, except .venv
	@rm -rf demo site screenshots .cache .pytest_cache .mypy_cache .ruff_cache build dist results
	@find . -name __pycache__ -not -path './.venv/*' -prune -exec rm -rf {} +
