# Every target needs only python3 (with venv and pip) and make; `.venv` is created on first use.
PYTHON ?= python3
BIN := .venv/bin
INSTALLED := .venv/.installed
RESOLVER := build/resolver

.DEFAULT_GOAL := help
.PHONY: help demo test check bench against gate docs command-line references reproduce \
	reproduce-quick measured recalibrators groups classes tightness detection limits solvers picture \
	verify constraints clean

help:  ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' Makefile | expand -t 18

$(INSTALLED): pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	touch $@

demo: $(INSTALLED)  ## a short tour on real weather; its report goes to build/demo.html
	mkdir -p build
	$(BIN)/fullswap demo --report build/demo.html

test: $(INSTALLED)  ## tests and documentation examples, without the slow ones
	$(BIN)/python -m pytest -n auto --maxprocesses 2 --dist worksteal

check: $(INSTALLED)  ## lint, format, types, import contracts
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: $(INSTALLED)  ## benchmarks, as ratios within one run
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[bench]'
	$(BIN)/python -m benchmarks

against: $(INSTALLED)  ## this tree's speed against that of OLD=<worktree>; KEYS=ring* runs some
	$(BIN)/python -m benchmarks.against "$(OLD)"

gate: $(INSTALLED)  ## goldens to the bit, speed and sizes, against OLD=<worktree>
	$(BIN)/python -m benchmarks.gate "$(OLD)"

docs: $(INSTALLED)  ## documentation site, into site/
	rm -rf site
	$(BIN)/python -m sphinx -W --keep-going -q -b html -d build/doctrees docs site

command-line: $(INSTALLED)  ## docs/reference/command-line.md, from what --help prints
	$(BIN)/python docs/command_line.py

references: $(INSTALLED)  ## docs/references.md, from the keys that the package cites
	$(BIN)/python docs/references.py

reproduce: $(INSTALLED)  ## the paper, measured in full: an hour or so; docs/measured.md follows
	$(BIN)/python -m studies all --full --out build/full
	mkdir -p docs/figures
	cp build/full/summary.json docs/figures/
	$(MAKE) measured

reproduce-quick: $(INSTALLED)  ## the paper in three minutes, into build/quick, beside its golden values
	$(BIN)/python -m studies all --quick --fresh --out build/quick
	FULLSWAP_QUICK=build/quick $(BIN)/python -m pytest -m slow --timeout 3600 tests/studies/test_study.py

measured: $(INSTALLED)  ## docs/measured.md and its figures, from their summary
	$(BIN)/python -m studies.report docs/figures/summary.json build/measured
	cp build/measured/page.md docs/measured.md
	cp build/measured/figures/*.svg docs/figures/

recalibrators: $(INSTALLED)  ## ours beside the usual recalibrators: docs/recalibrators.md
	$(BIN)/python -m studies recalibrators --page docs/recalibrators.md

groups: $(INSTALLED)  ## events in groups, told and not told: docs/groups-compared.md
	$(BIN)/python -m studies groups --page docs/groups-compared.md

classes: $(INSTALLED)  ## ways to forecast many classes: docs/classes-compared.md
	$(BIN)/python -m studies classes --page docs/classes-compared.md

tightness: $(INSTALLED)  ## how near adversaries come to the guarantees: docs/guarantees.md
	$(BIN)/python -m studies tightness --page docs/guarantees.md

detection: $(INSTALLED)  ## detectors of change compared: docs/detection.md
	$(BIN)/python -m studies detection --page docs/detection.md

limits: $(INSTALLED)  ## what is guaranteed in which dimension, and how it grows: docs/limits.md
	$(BIN)/python -m studies limits --page docs/limits.md

solvers: $(INSTALLED)  ## solvers of games compared, Gambit's among them: docs/howto/solve-a-game.md
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[bench]'
	$(BIN)/python -m studies solvers --page docs/howto/solve-a-game.md

picture: $(INSTALLED)  ## the first picture of README, docs/figures/before-after.svg
	$(BIN)/python -m studies picture

verify: $(INSTALLED)  ## the slow measurements
	$(BIN)/python -m pytest -m slow --timeout 3600 -n auto --maxprocesses 2 --dist worksteal \
		--junit-xml=build/verify.xml tests

# The resolver lives in its own environment: it is a tool for this file, not for the project.
constraints:  ## resolve constraints.txt anew from pyproject.toml
	$(PYTHON) -m venv $(RESOLVER)
	$(RESOLVER)/bin/python -m pip install --quiet --disable-pip-version-check uv
	$(RESOLVER)/bin/uv pip compile --quiet --upgrade --all-extras --python-version 3.11 \
		--no-emit-index-url --no-emit-find-links --custom-compile-command "make constraints" \
		pyproject.toml --output-file constraints.txt

clean:  ## remove the environment and everything generated
	rm -rf .venv build dist site .pytest_cache .hypothesis .mypy_cache .ruff_cache \
		.import_linter_cache
	find src studies tests benchmarks -name __pycache__ -type d -prune -exec rm -rf {} + 2>/dev/null || true
