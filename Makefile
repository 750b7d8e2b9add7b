# make demo   find a race in torch.compile, explain it, judge the fixes
# make test   all of tests/ and repro/
# Each makes .venv first, where it is missing or older than what it is made from.

PYTHON ?= python3
BIN := .venv/bin
export OMP_NUM_THREADS ?= 1

.PHONY: setup demo test
setup: .venv/ready

.venv/ready: pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[dev,dflash,releases]'
	@touch $@

# `harness find` says with status 1 that it has found something.
demo: .venv/ready
	@mkdir -p .races
	$(BIN)/harness find flag.warm --output .races/demo.json; test $$? -eq 1
	$(BIN)/harness replay .races/demo.json --times 20; test $$? -eq 1
	$(BIN)/harness explain .races/demo.json
	$(BIN)/harness check flag.warm --fix none --fix call_lock --fix function_patch --fix per_process

test: .venv/ready
	$(BIN)/python -m pytest -n auto
