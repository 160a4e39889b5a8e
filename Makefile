# The first of these that is Python 3.11 or newer; torch 2.13 has a CPU build for 3.11, so that comes first.
CANDIDATES := python3.11 python3.12 python3.13 python3
NEW_ENOUGH := import sys; sys.exit(sys.version_info < (3, 11))
PYTHON ?= $(shell for p in $(CANDIDATES); do $$p -c '$(NEW_ENOUGH)' 2> /dev/null && echo $$p && break; done)
# PYTHON=3.12 is python3.12
override PYTHON := $(patsubst 3.%,python3.%,$(PYTHON))
BIN := .venv/bin

# Where make wheelhouse puts every wheel. make demo WHEELS=DIR installs from such a folder alone, without a network.
WHEELHOUSE ?= wheelhouse
PIP_FROM := $(if $(WHEELS),--no-index --find-links $(abspath $(WHEELS)))

SECONDS_OF_ATTACK ?= 3000

# torch names the CUDA packages that fit its build, and it alone may.
PINNED := grep -vE '^(nvidia-|cuda-|triton)' | sed 's/+cpu//'

# What stands on the command line of make and is no variable of this file: settings of the program.
SETTINGS = $(filter-out $(foreach name,PYTHON WITH WHEELS WHEELHOUSE,$(name)=%),$(MAKEOVERRIDES))

.PHONY: demo test test-nightly attack docs tensorboard bench gpu results wheelhouse lock

demo: .venv/installed        ## the whole path on the embedded corpus: train, probe, draw
	$(BIN)/python train.py encoder=bilstm_max objective=nmt_enfr

test: .venv/installed        ## style, types, and every test, in two processes of one thread each
	$(BIN)/ruff check . && $(BIN)/ruff format --check . && $(BIN)/python -m pytest -n 2 --dist worksteal

test-nightly:                ## the same with many more examples of each law and more kills: hours
	HYPOTHESIS_PROFILE=nightly $(MAKE) test

attack: .venv/installed      ## fresh hostile files, settings, kills (docs/reliability.md): SECONDS_OF_ATTACK, 50 minutes
	$(BIN)/python -m tests.attack seconds=$(SECONDS_OF_ATTACK)

docs: .venv/installed        ## these pages and the API reference as a site with search: site/index.html, works offline
	$(BIN)/mkdocs build --quiet --strict

tensorboard: .venv/installed ## the curves of all runs, or of RUN=FOLDER, live, on http://localhost:6006
	$(BIN)/tensorboard --logdir $(if $(RUN),$(RUN)/tensorboard,runs)

bench: .venv/installed       ## every CPU benchmark, and its tables in docs/results/performance.md
	for name in training encoding probing downstream data; do \
	    $(BIN)/python benchmarks/$$name.py json=benchmarks/results/$$name.json || exit 1; done
	$(BIN)/python -m benchmarks.table

gpu: $(if $(WITH),,.venv/installed)  ## checks and speed on one GPU in nine minutes: docs/gpu.md
	$(or $(WITH),$(BIN)/python) -m benchmarks.gpu $(SETTINGS)

results: .venv/installed     ## every study again by one commit, and its page: docs/results.md; days
	$(BIN)/python -m encoder_lab.studies.results $(SETTINGS)

wheelhouse:                  ## every wheel of requirements.txt for one Python: make wheelhouse PYTHON=3.12
	$(PYTHON) -m venv --clear .venv-wheels
	.venv-wheels/bin/python -m pip install --quiet --upgrade "pip>=24"
	.venv-wheels/bin/python -m pip wheel --quiet --wheel-dir $(WHEELHOUSE) -r requirements.txt "pip>=24" wheel
	rm -r .venv-wheels

lock:                        ## requirements.txt from pyproject.toml; versions stay but those whose lines you removed
	$(PYTHON) -m venv --clear .venv-lock
	.venv-lock/bin/python -m pip install --quiet --constraint requirements.txt ".[test]"
	echo "# Written by make lock from pyproject.toml, which says who needs what." > requirements.tmp
	.venv-lock/bin/python -m pip freeze --all --exclude pip --exclude sentence-encoder-lab | $(PINNED) >> requirements.tmp
	mv requirements.tmp requirements.txt && rm -r .venv-lock build *.egg-info

.venv/installed: requirements.txt
	@test -n "$(PYTHON)" || { echo "error: no Python 3.11 or newer here; install one, or give PYTHON=" >&2; exit 2; }
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet $(PIP_FROM) --upgrade "pip>=24" wheel
	$(BIN)/python -m pip install --quiet $(PIP_FROM) -r requirements.txt
	touch $@
