PYTHON ?= python3.11
BIN := .venv/bin

.PHONY: demo test tensorboard bench lint

demo: .venv/installed        ## the whole path on the embedded corpus: train, probe, draw
	$(BIN)/python train.py encoder=bilstm_max objective=nmt_enfr

test: .venv/installed        ## every test
	$(BIN)/ruff check . && $(BIN)/ruff format --check . && $(BIN)/python -m pytest

tensorboard: .venv/installed ## the curves of all runs, live, on http://localhost:6006
	$(BIN)/tensorboard --logdir runs

bench: .venv/installed       ## every CPU benchmark, and the table in docs/performance.md
	for name in training encoding probing downstream data; do $(BIN)/python benchmarks/$$name.py || exit 1; done
	$(BIN)/python -m benchmarks.table

.venv/installed: requirements.txt
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --upgrade "pip>=24" wheel
	$(BIN)/python -m pip install --quiet -r requirements.txt
	touch $@
