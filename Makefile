# `make demo` and `make test` are all a new user needs: each makes .venv by itself (Python >= 3.11 and make suffice).
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
PIP_INSTALL := $(BIN)/python -m pip install -qq --disable-pip-version-check -c constraints.txt
JOBS ?= 2

.DEFAULT_GOAL := help
.PHONY: help install demo lint types test test-all bench docs picture clean

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
test: lint types ## lint, types and tests: about 12 minutes on 2 cores
	@XLA_FLAGS="$(XLA_FLAGS) $(KNOWN_FLAGS)" $(BIN)/pytest -q -n $(JOBS) --dist loadgroup -m "not slow"

test-all: lint types ## also the full matrix, the long kills and the million-step runs
	@$(BIN)/pytest -q -n $(JOBS) --dist loadgroup

bench: $(VENV)/.bench ## ours against the peers, side by side
	@$(BIN)/python -m benchmarks

docs: $(VENV)/.docs ## build the documentation into site/
	@$(BIN)/python docs/make_reference.py
	@$(BIN)/python docs/make_options.py
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet --strict && echo "documentation in site/index.html"

picture: $(STAMP) ## make the README's picture again
	@$(BIN)/python docs/make_picture.py

clean: ## remove what the other targets made, except .venv
	@rm -rf demo site .cache .pytest_cache .mypy_cache .ruff_cache build dist results
	@find . -name __pycache__ -not -path './.venv/*' -prune -exec rm -rf {} +
