# Everything a fresh machine needs is installed here, into .venv.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
STAMP  := $(VENV)/.installed
CXX_FILES := find native -name '*.cpp' -o -name '*.h' -o -name '*.c'

.PHONY: demo test test-all sanitize lint tidy format clean setup native toolchain triton docs docs-tools tidy-tools release release-check

setup: native

$(STAMP): pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet 'scikit-build-core>=0.10' 'cmake>=3.21' 'ninja>=1.11'
	command -v c++ >/dev/null || command -v clang++ >/dev/null || $(BIN)/python -m pip install --quiet 'ziglang>=0.13'
	$(BIN)/python -m pip install --quiet -e '.[dev,fast]'
	touch $(STAMP)

# The virtual GPU's libraries, incrementally, into build/native/lib.
native: $(STAMP)
	$(BIN)/python native/build_backend.py

# A compiler for HIP: ROCm's, a clang with the AMDGPU target, else PyPI's ziglang.
toolchain: $(STAMP)
	$(BIN)/python -c 'from rocm_perf_lab.device.toolchain import find_toolchain; find_toolchain()' 2>/dev/null || $(BIN)/python -m pip install --quiet 'ziglang>=0.16,<1'

.PHONY: demo-hello
demo-hello:
	@echo "demo: installs into .venv, builds the virtual GPU and profiles examples/softmax.cpp on it."
	@echo "      The first time takes some minutes (downloads, a compiler run); later about a minute."

# A fresh machine: set up, build the softmax testbed, profile it on the virtual MI300X.
demo: demo-hello native toolchain
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
tidy: native tidy-tools
	$(BIN)/python tools/tidy.py

tidy-tools: $(STAMP)
	$(BIN)/python -c 'import clang_tidy' 2>/dev/null || $(BIN)/python -m pip install --quiet 'clang-tidy>=23,<24'

# Triton and hip-python, for the tests that run Python GPU programs; skipped where they have no wheel.
triton: $(STAMP)
	$(BIN)/python -c 'import sys, importlib.util as u; sys.exit(not (u.find_spec("triton") and u.find_spec("hip")))' 2>/dev/null || $(BIN)/python -m pip install --quiet 'triton>=3.4,<3.10' 'hip-python>=6.4,<11' || true

docs-tools: $(STAMP)
	$(BIN)/python -c 'import material' 2>/dev/null || $(BIN)/python -m pip install --quiet -e '.[docs]'

# The site, from docs/ into build/site; a warning is an error.
docs: docs-tools
	$(BIN)/python docs/generate.py --check
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict

test: lint native toolchain triton tidy-tools
	$(BIN)/python tools/tidy.py --changed
	$(BIN)/python -m pytest -n 2 -m "not slow"

test-all: lint native tidy toolchain triton docs-tools
	$(BIN)/python -m pytest -n 2

# The native tests, HIP programs and the soak under AddressSanitizer, UBSan and ThreadSanitizer.
sanitize: native toolchain
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
	rm -rf $(VENV) build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
