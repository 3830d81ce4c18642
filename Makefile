# Everything a fresh machine needs is installed here, into .venv: the versions of requirements/, with
# which everything was tried. LOCKED=no takes the newest that pyproject.toml allows (`make test-latest`).
PYTHON ?= python3
VENV   := .venv
LOCKED := yes
BIN    := $(VENV)/bin
STAMP  := $(VENV)/.installed
PIP    := $(BIN)/python -m pip install --quiet
CXX_FILES := find native -name '*.cpp' -o -name '*.h' -o -name '*.c'

.PHONY: demo test test-latest test-all sanitize lint tidy format clean setup native triton docs docs-tools lock release release-check

setup: native

$(STAMP): pyproject.toml requirements/test.txt
	test -x $(BIN)/python || PATH="$${ROCM_PERF_MACHINE_PATH:-$$PATH}" $(PYTHON) -m venv $(VENV)
ifeq ($(LOCKED),yes)
	$(PIP) --require-hashes -r requirements/test.txt
	PATH="$${ROCM_PERF_MACHINE_PATH:-$$PATH}" $(PIP) --no-deps --no-build-isolation -e .
else
	PATH="$${ROCM_PERF_MACHINE_PATH:-$$PATH}" $(PIP) --upgrade --upgrade-strategy eager -e '.[dev,toolchain]'
endif
	touch $(STAMP)

# The virtual GPU's libraries, incrementally, into build/native/lib.
native: $(STAMP)
	PATH="$${ROCM_PERF_MACHINE_PATH:-$$PATH}" $(BIN)/python native/build_backend.py

.PHONY: demo-hello
demo-hello:
	@echo "demo: installs into .venv, builds the virtual GPU and profiles examples/softmax.cpp on it."
	@echo "      The first time takes some minutes (downloads, a compiler run); later about a minute."

# A fresh machine: set up, build the softmax testbed, profile it on the virtual MI300X.
demo: demo-hello native
	mkdir -p build/demo
	$(BIN)/rocm-perf hipcc -O3 -g examples/softmax.cpp -o build/demo/softmax
	$(BIN)/rocm-perf profile build/demo/softmax --att --device virtual --out build/demo/profile

lint: $(STAMP)
	$(BIN)/ruff format --check src tests benchmarks tools
	$(BIN)/ruff check src tests benchmarks tools
	$(BIN)/mypy
	$(CXX_FILES) | xargs $(BIN)/clang-format --dry-run --Werror

# Checks that find faults in the C++ (.clang-tidy), over every file: some minutes. `make test` checks
# what differs from main.
tidy: native
	$(BIN)/python tools/tidy.py

# Triton and hip-python, for the tests that run Python GPU programs; skipped where they have no wheel.
triton: $(STAMP)
ifeq ($(LOCKED),yes)
	$(PIP) --require-hashes -r requirements/python-gpu.txt || echo "triton or hip-python has no wheel here: their tests are skipped"
else
	$(PIP) --upgrade -e '.[dev-python-gpu]' || echo "triton or hip-python has no wheel here: their tests are skipped"
endif

docs-tools: $(STAMP)
ifeq ($(LOCKED),yes)
	$(PIP) --require-hashes -r requirements/docs.txt
else
	$(PIP) --upgrade -e '.[docs]'
endif

# The site, from docs/ into build/site; a warning is an error.
docs: docs-tools
	$(BIN)/python docs/generate.py --check
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict

# The tests see a machine that nobody prepared: its compilers, LLVM tools and ROCm are not on PATH
# (tests/support/machine.py), and what compiles programs is PyPI's ziglang.
FRESH := $(CURDIR)/build/fresh-bin
test test-all sanitize: export ROCM_PERF_MACHINE_PATH := $(or $(ROCM_PERF_MACHINE_PATH),$(PATH))
test test-all sanitize: export PATH := $(CURDIR)/$(BIN):$(FRESH)
test test-all sanitize: export ROCM_PATH := $(FRESH)/no-rocm
test test-all sanitize: export HIP_PATH :=
# Another compiler for all of them: make test COMPILER=/usr/bin/clang-19
ifneq ($(COMPILER),)
test test-all: export ROCM_PERF_TOOLCHAIN := $(COMPILER)
endif

# Anew each time: what was installed since is seen.
.PHONY: $(FRESH)
$(FRESH):
	PATH="$$ROCM_PERF_MACHINE_PATH" $(PYTHON) tests/support/machine.py $(FRESH)

test: $(FRESH) lint native triton
	$(BIN)/python tools/tidy.py --changed
	$(BIN)/python -m pytest -n 2 -m "compiler and not slow" --compiler system
	$(BIN)/python -m pytest -n 2 -m "not slow"

# The newest versions that the ranges allow, in an environment of their own.
test-latest:
	rm -f .venv-latest/.installed
	$(MAKE) test VENV=.venv-latest LOCKED=no

test-all: $(FRESH) lint native tidy triton docs-tools
	$(BIN)/python -m pytest -n 2

# What requirements/ holds, made anew by uv from the ranges in pyproject.toml.
lock:
	test -x build/lock/bin/uv || { $(PYTHON) -m venv build/lock && build/lock/bin/pip install --quiet 'uv>=0.9,<1'; }
	$(PYTHON) tools/lock.py build/lock/bin/uv

# The native tests, HIP programs and the soak under AddressSanitizer, UBSan and ThreadSanitizer.
sanitize: $(FRESH) native
	$(BIN)/python -m pytest tests/native -m slow -k sanitizers

format: $(STAMP)
	$(BIN)/ruff format src tests benchmarks tools
	$(BIN)/ruff check --fix src tests benchmarks tools
	$(CXX_FILES) | xargs $(BIN)/clang-format -i

# The sdist and one manylinux wheel for every Python, into dist/.
release: $(STAMP)
	$(BIN)/python tools/build_release.py

# They install and work in clean environments: every Python there is, then the sdist without a wheel.
release-check: release
	$(BIN)/python tools/check_release.py

clean:
	rm -rf $(VENV) .venv-latest build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
