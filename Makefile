# The course's commands: `make help` lists them. They need Python 3.11 or later and nothing else;
# the first one makes .venv and installs what this machine needs.
#
#   make test PYTHON=python3     uses that interpreter as it is: no .venv, nothing installed
#   make run ARGS=chapters/04_first_kernels      passes ARGS on to the command

SHELL := bash
.SHELLFLAGS := -o pipefail -ec
.DEFAULT_GOAL := help
.PHONY: help learn run test test-gpu unit notebooks nbval bench lint doctor

# Notebooks and the kernels they start import course_utils from this checkout.
export PYTHONPATH := $(CURDIR)$(if $(PYTHONPATH),:$(PYTHONPATH))
export PYTHONUNBUFFERED := 1
export PIP_DISABLE_PIP_VERSION_CHECK := 1

ifeq ($(origin PYTHON),command line)
READY :=
else
PYTHON := .venv/bin/python
READY := .venv/.ready
endif

# Tests share this machine's cores, where .venv is ours and no GPU has to be shared too.
PARALLEL := $(if $(READY),$(shell nvidia-smi -L >/dev/null 2>&1 || echo '-n auto --dist loadfile'))
NBVAL := --nbval-lax --nbval-current-env --nbval-cell-timeout=120 --nbval-sanitize-with tests/nbval_sanitize.cfg

help:  ## show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

learn: $(READY)  ## open the first notebook in JupyterLab
	$(PYTHON) -m jupyter lab chapters/00_start_here/01_this_machine.ipynb $(ARGS)

run: $(READY)  ## execute the notebooks in order, one line each (ARGS=PATH for some of them)
	@$(PYTHON) -m course_utils run $(ARGS)

doctor: $(READY)  ## what this machine has, what it lacks, which chapters it can run
	@$(PYTHON) -m course_utils doctor

test: lint unit nbval  ## check everything this machine can run

lint: $(READY)  ## ruff: rules and format
	$(PYTHON) -m ruff check .
	$(PYTHON) -m ruff format --check .

unit: $(READY)
	$(PYTHON) -m pytest -q $(PARALLEL) tests $(ARGS)

nbval: $(READY)
	$(PYTHON) -m pytest -q $(PARALLEL) $(NBVAL) chapters

notebooks: $(READY)  ## execute every notebook and store its outputs (on the GPU machine)
	$(PYTHON) -m course_utils run --update $(ARGS)

bench: $(READY)  ## measure this machine
	@$(PYTHON) -m course_utils bench $(ARGS)

# Every kernel and notebook on the GPU, then every kernel again under compute-sanitizer.
test-gpu: export COURSE_DEVICE := cuda
test-gpu: unit nbval  ## what a GPU runner checks
	compute-sanitizer --error-exitcode 1 $(PYTHON) -m pytest -q tests/kernels/test_every_kernel.py
	@$(MAKE) --no-print-directory bench PYTHON=$(PYTHON)

# Set-up. The stamp is newer than pyproject.toml, so a second call starts at once.
.venv/.ready: pyproject.toml
	@extra=cpu; what='the compiler, the emulator and the CPU build of PyTorch (about a minute, 1.8 GB)'; \
	if nvidia-smi -L >/dev/null 2>&1; then \
	    extra=gpu; what='CuPy, PyTorch and CUDA 12 for your GPU (a few minutes, about 8 GB)'; \
	fi; \
	found=''; \
	for candidate in python3 python3.13 python3.12 python3.11 python; do \
	    if $$candidate -c 'import sys, venv; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then \
	        found=$$candidate; break; \
	    fi; \
	done; \
	if [ -z "$$found" ]; then \
	    echo 'The course needs Python 3.11 or later with its venv module. Install it, then try again.'; \
	    exit 1; \
	fi; \
	start=$$SECONDS; \
	if [ -x .venv/bin/python ]; then \
	    echo 'Set-up again: pyproject.toml has changed, so .venv is brought up to date.'; \
	else \
	    echo "Set-up, once: $$($$found --version) in .venv, with $$what."; \
	    $$found -m venv .venv; \
	fi; \
	.venv/bin/python -m pip install --no-compile -e ".[$$extra,dev]" 2>.venv/errors.log | awk ' \
	    /^ *Downloading .*[0-9][0-9]\.?[0-9]* MB/ {print "  fetching", $$0; fflush()} \
	    /^Installing collected/ && NF > 4 {print "  unpacking", NF - 3, "packages"; fflush()}' \
	|| { cat .venv/errors.log; echo 'Set-up failed: see above, then run the same command again.'; exit 1; }; \
	touch $@; \
	echo "Set-up done in $$((SECONDS - start)) s."
