# The course's commands: `make help` lists them. They need Python 3.11 or later and nothing else;
# the first one makes .venv and installs what this machine needs.
#
#   make test PYTHON=python3     uses that interpreter as it is: no .venv, nothing installed
#   make run ARGS=chapters/04_first_kernels      passes ARGS on to the command

SHELL := bash
.SHELLFLAGS := -o pipefail -ec
.DEFAULT_GOAL := help
.PHONY: help learn run progress portfolio grade test prove test-gpu sanitize-gpu everything unit notebooks nbval bench lint site site-check doctor prove-blackwell setup torch ecosystem packages always

# Notebooks and the kernels they start import course_utils from this checkout.
export PYTHONPATH := $(CURDIR)$(if $(PYTHONPATH),:$(PYTHONPATH))
export PYTHONUNBUFFERED := 1
export PIP_DISABLE_PIP_VERSION_CHECK := 1
# Container images like to set it. Then each of the many kernels and processes that start here would
# compile matplotlib and the rest anew, which takes it seconds.
unexport PYTHONDONTWRITEBYTECODE

ifeq ($(origin PYTHON),command line)
READY :=
else
PYTHON := .venv/bin/python
READY := .venv/.ready
endif

# Tests share this machine's cores, where .venv is ours and no GPU has to be shared too. One worker
# more than cores: some tests wait for other processes.
SHARED = -n $(shell expr $$(nproc) + 1) --dist loadfile
PARALLEL := $(if $(READY),$(shell nvidia-smi -L >/dev/null 2>&1 || echo '$(SHARED)'))
# NumPy's threads would wait for each other, spinning, on cores that other tests want.
everything unit nbval: export OPENBLAS_NUM_THREADS := $(if $(PARALLEL),1,$(OPENBLAS_NUM_THREADS))
FIRST := chapters/00_start_here/01_this_machine.ipynb
# In a container one is root, whom JupyterLab else sends away.
AS_ROOT := $(if $(filter 0,$(shell id -u)),--allow-root)
NBVAL := -p tests.no_iri_grammar --nbval-lax --nbval-current-env -p tests.machine_speed -p tests.kernel_start -p tests.forked_kernels --nbval-sanitize-with tests/nbval_sanitize.cfg

LISTED := printf "  make %-15s %s\n", $$1, $$2
help:  ## show this list
	@echo "To learn:"
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {$(LISTED)}' $(MAKEFILE_LIST)
	@echo "To work on the course:"
	@awk -F ':.*#- ' '/^[a-z-]+:.*#- / {$(LISTED)}' $(MAKEFILE_LIST)

# The root of the repository is served, so that links between chapters and pictures in assets/ work.
# .jupyter/ holds JupyterLab's settings for the course; nothing is written to the user's own. A new
# kernel runs the file in PYTHONSTARTUP: .venv has it in etc/ipython, another environment hasn't.
learn: export PYTHONSTARTUP := $(or $(PYTHONSTARTUP),$(CURDIR)/course_utils/before_first_cell.py)
learn: export JUPYTER_CONFIG_PATH := .jupyter$(if $(JUPYTER_CONFIG_PATH),:$(JUPYTER_CONFIG_PATH))
learn: $(READY)  ## open the course in JupyterLab, at its first notebook
	$(PYTHON) -m jupyter lab $(AS_ROOT) --ServerApp.root_dir=. --LabApp.default_url=/lab/tree/$(FIRST) $(ARGS)

run: $(READY)  ## execute the notebooks in order, one line each (ARGS=PATH for some of them)
	@$(PYTHON) -m course_utils run $(ARGS)

progress: $(READY)  ## your exercises, what is done and next (ARGS="--path weekend", or --all)
	@$(PYTHON) -m course_utils progress $(ARGS)

portfolio: $(READY)  ## write a page of your solved exercises, to keep and to show
	@$(PYTHON) -m course_utils portfolio $(ARGS)

grade: $(READY)  ## judge students' notebooks (ARGS="ana/ ben/ --only 04_first_kernels")
	@$(PYTHON) -m course_utils grade $(ARGS)

doctor: $(READY)  ## what this machine has, lacks and can run (ARGS=--full names each notebook)
	@$(PYTHON) -m course_utils doctor $(ARGS)

# mypy keeps one core busy for half a minute, which pip and the tests that wait leave idle. None of
# the packages that are still missing is imported by what it checks.
test: $(READY)  ## check everything this machine can run
	@mkdir -p build
	@$(MAKE) --no-print-directory lint PYTHON=$(PYTHON) >build/lint.txt 2>&1 & lint=$$!; \
	trap "kill $$lint" INT TERM; $(MAKE) --no-print-directory packages; \
	failed=0; $(MAKE) --no-print-directory everything || failed=$$?; \
	wait $$lint || failed=$$?; cat build/lint.txt; exit $$failed

prove: $(READY)  #- try every wrong answer of the exercises that changed since, or whose judge did
	$(PYTHON) -m course_utils exercises --verify --store

# mypy wants packages whose names begin with a letter, so the chapters' exercises get links.
SPECS := build/types/specs
lint: $(READY)  #- rules, format and types: ruff and mypy
	$(PYTHON) -m ruff check .
	$(PYTHON) -m ruff format --check .
	@rm -rf $(SPECS) && mkdir -p $(SPECS)
	@for chapter in chapters/[0-9]*/exercises; do \
	    name=$${chapter#chapters/} && ln -s "$(CURDIR)/$$chapter" "$(SPECS)/chapter_$${name%/exercises}"; \
	done
	$(PYTHON) -m mypy -p course_utils -p specs

unit: $(READY)
	$(PYTHON) -m pytest -q -p no:nbval $(PARALLEL) tests $(ARGS)

nbval: $(READY)
	$(PYTHON) -m pytest -q $(PARALLEL) $(NBVAL) chapters

# Both at once: no core waits for the last tests before the first notebook.
everything: $(READY)
	$(PYTHON) -m pytest -q $(PARALLEL) $(NBVAL) tests chapters

site: $(READY)  #- build the course as a website in build/site, from the outputs as they are stored
	$(if $(READY),$(PYTHON) -m pip install --quiet --no-compile -e '.[site]')
	$(PYTHON) -m sphinx -q -W --keep-going -j auto -c site . build/site
	@echo 'Open build/site/index.html.'

site-check: site  #- open each page of the website in a browser: links, loading times, accessibility
	$(PYTHON) site/check.py build/site $(ARGS)

notebooks: $(READY)  #- execute every notebook and store its outputs (on the GPU machine)
	$(PYTHON) -m course_utils run --update $(ARGS)

bench: $(READY)  #- measure this machine
	@$(PYTHON) -m course_utils bench $(ARGS)

prove-blackwell: $(READY)  #- run the kernels for sm_100a on a B200, and time them beside cuBLAS
	@$(PYTHON) -m course_utils prove-blackwell

# Many processes share the GPU: what is waited for is compilers and the emulator. Where everything
# passes, the run is written to tests/gpu_run.json; a folder without git's history is told its COMMIT.
WORKERS = $(shell echo $$(( $$(nproc) < 16 ? $$(nproc) : 16 )))
COMMIT = $(shell git rev-parse HEAD 2>/dev/null)
REPORTS := build/gpu
ON_GPU = $(PYTHON) -m pytest -q -n $(WORKERS) --dist loadfile
test-gpu sanitize-gpu: export COURSE_DEVICE := cuda
test-gpu sanitize-gpu: export OPENBLAS_NUM_THREADS := 1
test-gpu: export COURSE_COMMIT := $(COMMIT)
test-gpu: $(READY)  #- every test and notebook on this machine's GPU, a third of the dearest
	@mkdir -p $(REPORTS)
	tests=0; $(ON_GPU) -p no:nbval --junitxml=$(REPORTS)/tests.xml tests $(ARGS) || tests=$$?; \
	$(ON_GPU) $(NBVAL) --junitxml=$(REPORTS)/notebooks.xml chapters; exit $$tests
	$(if $(ARGS),,$(PYTHON) -m course_utils.gpu_run "$(COMMIT)" $(REPORTS)/tests.xml $(REPORTS)/notebooks.xml)

# A third of the kernels, another one after each commit, in four processes: the tool is busy on the
# CPU, and sixteen workers of one pytest under it start for ten minutes.
THIRD = $(shell git rev-list --count HEAD 2>/dev/null || echo 0)
sanitize-gpu: $(READY)  #- a third of the kernels on the GPU, under compute-sanitizer (THIRD=0, 1 or 2)
	@rm -rf $(REPORTS)/sanitizer && mkdir -p $(REPORTS)/sanitizer
	running=; for part in 0 3 6 9; do \
	    COURSE_SANITIZED_PART=$$(( $(THIRD) % 3 + part ))/12 compute-sanitizer --report-api-errors no \
	        --log-file $(REPORTS)/sanitizer/%p.log \
	        $(PYTHON) -m pytest -q -n 0 -p no:nbval -p no:cacheprovider \
	        tests/kernels/test_every_kernel.py -k right_and_clean & running="$$running $$!"; \
	done; failed=0; for each in $$running; do wait $$each || failed=1; done; exit $$failed
	@grep -h 'ERROR SUMMARY' $(REPORTS)/sanitizer/*.log | sort | uniq -c
	@! grep -l 'ERROR SUMMARY: [1-9]' $(REPORTS)/sanitizer/*.log

# Set-up. install.py compares the lists of packages with those in the stamp, so a newer pyproject.toml
# alone costs a moment and needs no connection. Python is asked for ensurepip because Debian and
# Ubuntu keep it, and with it venv, in a package of their own. COURSE_EXTRA=gpu chooses what to install.
define set-up
trap 'exit 130' INT; \
if [ "$$(uname -s)" != Linux ]; then \
    echo 'The course runs on Linux: its kernels need NVRTC, which does not exist for macOS.'; \
    echo 'On a Mac open this folder in its container (.devcontainer, VS Code or Codespaces do it);'; \
    echo 'under Windows use WSL 2.'; \
    exit 1; \
fi; \
for python in python3 python3.14 python3.13 python3.12 python3.11 python; do \
    if $$python -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; \
        then exec $$python -I course_utils/install.py $(1); \
    fi; \
done; \
if .venv/bin/python -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; \
    then exec .venv/bin/python -I course_utils/install.py $(1); \
fi; \
echo 'The course needs Python 3.11 or later with its venv module. Install it, then try again'; \
echo '(on Debian and Ubuntu: sudo apt install python3-venv).'; \
exit 1
endef

.venv/.ready: pyproject.toml course_utils/install.py .venv/bin/python $(if $(COURSE_EXTRA),always)
	@$(call set-up,)

setup:  ## set up .venv, or add what is missing there
	@$(call set-up,again)

# Absent, or a link to a Python that is gone: set-up makes it, or says what to do.
.venv/bin/python: ;

torch: .venv/.ready  ## fetch the CPU build of PyTorch, where set-up could not
	@.venv/bin/python -I course_utils/install.py torch

ecosystem: .venv/.ready  ## fetch JAX, Keras, ONNX and ONNX Runtime, for chapter 01
	@.venv/bin/python -I course_utils/install.py ecosystem

# The same before the tests, which go on without: cells that want them then say so.
packages: $(READY)
	$(if $(READY),-@.venv/bin/python -I course_utils/install.py ecosystem)
