# Every target does its own set-up on a machine with Python >= 3.11 and make. PYTHON=python3.12 make test picks another.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.ready
WORKERS ?= 2

.PHONY: demo test fast check wheel lowest bench clean

demo: $(STAMP)
	$(BIN)/perdure demo

test: check
	$(BIN)/python -m pytest -n $(WORKERS) --dist loadgroup

fast: check
	$(BIN)/python -m pytest -n $(WORKERS) -q tests/golden tests/rules tests/test_house.py tests/test_new_verb.py -k "not postgres"

wheel: $(STAMP)
	$(BIN)/python tests/packaging/check.py wheel

lowest: $(STAMP)
	$(BIN)/python tests/packaging/check.py lowest

check: $(STAMP)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo 2>/dev/null || $(BIN)/lint-imports

bench: $(STAMP)
	$(BIN)/python benchmarks/run.py

$(STAMP): pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit("Perdure needs Python 3.11 or newer; try PYTHON=python3.12 make $@") if sys.version_info < (3, 11) else None'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --editable '.[dev]'
	touch $(STAMP)

clean:
	rm -rf $(VENV) dist build .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache demo-output
