# SPDX-License-Identifier: Apache-2.0
# Every target does its own set-up; nothing but Python 3.11-3.13, pip, git and make is needed.

SUPPORTED := import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))
PYTHON ?= $(shell for candidate in python3 python3.13 python3.12 python3.11; do \
	$$candidate -c '$(SUPPORTED)' 2>/dev/null && echo $$candidate && break; done)
BIN := .venv/bin
STAMP := .venv/.installed
BUILD := build
SCENARIOS := deploy/scenarios
# Of docker-compose.yml; none: PROFILES=
PROFILES ?= observability
# The tests of a file share what is costly to start, so that they stay together.
PYTEST := $(BIN)/pytest -n 2 --dist loadfile

MODE ?= local
DRILLS_local = $(BIN)/fabrictwin drill run --all
DRILLS_compose = . ./.env && $(BIN)/fabrictwin drill run --all --drills deploy/drills/composed --containers \
	--director 127.0.0.1:$$DIRECTOR_PORT --prometheus http://127.0.0.1:$$PROMETHEUS_PORT \
	--alertmanager http://127.0.0.1:$$ALERTMANAGER_PORT

.DEFAULT_GOAL := help
.PHONY: help setup demo up down drills test test-slow test-compose test-drills test-all check lint types bench protos check-protos clean

help: ## print this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: $(STAMP) ## install into .venv, once, and again when pyproject.toml has changed

$(STAMP): pyproject.toml
	@"$(PYTHON)" -c '$(SUPPORTED)' 2>/dev/null \
	|| { echo "FabricTwin needs Python 3.11, 3.12 or 3.13; say where: make setup PYTHON=/path/to/python3"; exit 1; }
	$(PYTHON) -m venv --without-pip .venv
	$(PYTHON) -m pip --python $(BIN)/python install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch $(STAMP)

demo: $(STAMP) ## bring a live twin up, break a cable under load, see it heal, do it again in one process
	@BUILD=$(BUILD) FABRICTWIN=$(BIN)/fabrictwin sh deploy/demo.sh

up: ## bring a twin up in containers, with Prometheus, Alertmanager and Grafana; see docs/compose.md
	@COMPOSE_PROFILES=$(PROFILES) sh deploy/up.sh

down: ## end it; nothing is left but its image
	@sh deploy/down.sh

drills: $(STAMP) ## run every drill and print a scoreboard; MODE=compose: on the twin of `make up`
	@$(DRILLS_$(MODE))

test: $(STAMP) ## every test but the slow ones, on two cores (up to ten minutes)
	$(PYTEST) -m "not slow and not compose and not drills"

test-slow: $(STAMP) ## the slow tests alone
	$(PYTEST) -m "slow and not compose and not drills"

test-compose: $(STAMP) ## the twin in containers; as root it starts an engine of its own where none runs
	$(BIN)/pytest -m compose -rs tests/compose

test-drills: $(STAMP) ## every drill, and every change that has to make it fail
	$(PYTEST) -m drills tests/drills

test-all: test test-slow test-drills test-compose ## every test; with HYPOTHESIS_PROFILE=default on random fabrics that are new each time

check: lint types ## what to run before a commit: lint, import rules, types and the fast tests, fastest first
	$(PYTEST) -m "not slow" tests/contract tests/unit

lint: $(STAMP) check-protos ## style, format, import rules and generated code
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/lint-imports

types: $(STAMP) ## type check
	$(BIN)/mypy

bench: $(STAMP) ## measure speed and memory; one JSON line a case
	$(BIN)/fabrictwin bench

protos: $(STAMP) ## write the code of protos/ into src/fabrictwin/{api,bus}
	$(BIN)/python protos/make_protos.py

check-protos: $(STAMP) ## whether that code is what protos/ gives
	$(BIN)/python protos/make_protos.py --check

clean: ## remove build products and caches, but not .venv
	rm -rf $(BUILD) .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
	find src tests services -name __pycache__ -type d -prune -exec rm -rf {} +
