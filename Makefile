# Every target is one line here; what it does stands in scripts/. GNU make; on Windows, inside WSL2.
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory
RUN_DIR ?= .run
export RUN_DIR

# VENV and EMULATOR_VENV name environments that are there already: they are used as they are.
ifndef VENV
  VENV := .venv
  INSTALLED := .venv/.installed
endif
ifndef EMULATOR_VENV
  EMULATOR_VENV := .run/emulator-venv
  EMULATOR_INSTALLED := .run/emulator-venv/.installed
endif
export EMULATOR_VENV
RUN := $(VENV)/bin/python -m

.PHONY: help
help: ## List the targets
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "  make %-13s %s\n", $$1, $$2 }' Makefile

.PHONY: dev stop logs
dev: $(INSTALLED) $(EMULATOR_INSTALLED) ## Start the gateway, three providers, the emulator; search
	@$(RUN) scripts.dev

stop: $(if $(wildcard $(RUN_DIR)/services/*),$(INSTALLED)) ## End what make dev started; the records stay
	@if ls $(RUN_DIR)/services/* >/dev/null 2>&1; then $(RUN) scripts.stop; else echo "Nothing is running."; fi

logs: $(INSTALLED) ## Follow the logs (FOLLOW=0 prints the last lines and ends)
	@$(RUN) scripts.logs

.PHONY: deploy undeploy urls
deploy: $(INSTALLED) $(EMULATOR_INSTALLED) ## Deploy: TARGET=emulator, localstack or aws (DRY_RUN=1, YES=1)
	@$(RUN) scripts.deploy $(if $(DRY_RUN),--dry-run) $(if $(YES),--yes)

undeploy: $(INSTALLED) ## Remove what make deploy made at TARGET
	@$(RUN) scripts.undeploy $(if $(YES),--yes)

urls: $(INSTALLED) ## Where everything that is deployed answers
	@$(RUN) scripts.urls

.PHONY: build test test-race mutation test-e2e test-ui verify
build: $(INSTALLED) ## Package both apps, the layer and the wheel into build/
	@$(RUN) scripts.build

test: $(INSTALLED) ## Run the hermetic tests
	@$(RUN) scripts.verify tests

test-race: $(INSTALLED) ## Run the concurrency stress tests, many rounds
	@$(RUN) scripts.verify race

mutation: $(INSTALLED) ## See whether the tests notice small mistakes (40 minutes)
	@$(RUN) scripts.mutation $(GROUPS)

test-e2e: $(INSTALLED) $(EMULATOR_INSTALLED) ## Run the end-to-end tests against running processes
	@$(RUN) scripts.e2e

test-ui: $(INSTALLED) $(EMULATOR_INSTALLED) ## Run the web page's tests in Chromium
	@$(RUN) pytest -m ui tests/ui

verify: $(INSTALLED) ## Check format, lint, types, imports, tests, packages
	@$(RUN) scripts.verify

.PHONY: keys
keys: $(INSTALLED) ## Callers' keys: make keys ARGS='create --help'
	@$(RUN) scripts.keys $(ARGS)

.PHONY: bench bench-cluster fuzz
bench: $(INSTALLED) ## Measure searches, against this machine's last run
	@$(RUN) scripts.bench

bench-cluster: $(INSTALLED) ## Measure a read of a large cluster against the typed client
	@$(RUN) scripts.bench_cluster_read

fuzz: $(INSTALLED) ## Put 100,000 made-up cluster objects through the decoders
	@$(RUN) scripts.fuzz_decoders

.PHONY: bootstrap hami-verify collect-debug
bootstrap: $(INSTALLED) ## Make the lab: kind, made-up GPUs, HAMi and a provider
	@$(RUN) scripts.bootstrap

hami-verify: $(INSTALLED) ## Compare what the lab's cluster and its provider say
	@$(RUN) scripts.hami_verify

collect-debug: $(INSTALLED) ## Write what explains a broken lab to artifacts/debug
	@$(RUN) scripts.collect_debug

.PHONY: lock format clean
lock: $(INSTALLED) ## Renew the locks from the .in files (UPGRADE=1: newest)
	@$(RUN) scripts.lock

format: $(INSTALLED) ## Format the code and fix what the linter can
	@$(VENV)/bin/ruff format . && $(VENV)/bin/ruff check --fix .

clean: stop ## Stop, and remove all that make wrote, local records too
	@if command -v kind >/dev/null && kind get clusters 2>/dev/null | grep -qx fedcompute-lab; then kind delete cluster --name fedcompute-lab; fi
	@rm -rf build artifacts .run .venv .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache; find . -name __pycache__ -prune -exec rm -rf {} +

# An environment is installed again when its lock changed, and made again when its Python is gone or another one.
.PHONY: unsound
ifneq ($(MAKECMDGOALS),)
ifneq ($(shell PYTHON='$(PYTHON)' sh scripts/python.sh sound .venv && echo yes),yes)
.venv/.installed: unsound
endif
ifneq ($(shell PYTHON='$(PYTHON)' sh scripts/python.sh sound .run/emulator-venv && echo yes),yes)
.run/emulator-venv/.installed: unsound
endif
endif

.venv/.installed: requirements.txt layers/fedcompute/pyproject.toml
	@python=$$(sh scripts/python.sh find) && exec "$$python" scripts/install.py .venv requirements.txt layers/fedcompute

.run/emulator-venv/.installed: infra/emulator/requirements.txt $(INSTALLED)
	@exec "$$($(VENV)/bin/python -c 'import sys; print(sys._base_executable)')" scripts/install.py .run/emulator-venv $<
