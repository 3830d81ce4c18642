"""What holds for all tests, whatever the machine and however they were started."""

from __future__ import annotations

import os
import signal
import tempfile

import pytest
from hypothesis import settings

from support import compilers, hip_build

# Before numpy: its matrices here are small, and a second thread of its algebra only spins.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# A shell starts what goes to its background with Ctrl-C ignored; programs under test inherit it.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# Property tests: no deadline, since machines differ, and the same examples every time.
settings.register_profile("repeatable", deadline=None, derandomize=True)
settings.load_profile("repeatable")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--compiler", choices=["default", "system"], default="default",
        help="system: HIP is compiled with the newest clang of the machine, hidden or not",
    )  # fmt: skip


def pytest_configure(config: pytest.Config) -> None:
    # In a worker the variable is there already: it was set where the tests were started.
    if config.getoption("--compiler") == "system" and not hasattr(config, "workerinput"):
        found = compilers.system_clang()
        if found is None:
            pytest.exit("the machine has no clang for HIP: nothing to run again", returncode=0)
        os.environ["ROCM_PERF_TOOLCHAIN"] = found


def pytest_sessionstart(session: pytest.Session) -> None:
    if not hasattr(session.config, "workerinput"):
        folder = tempfile.TemporaryDirectory(prefix="rocm-perf-test-builds-")
        os.environ[hip_build.SHARED] = folder.name
        session.config.add_cleanup(folder.cleanup)
        _say(session.config, compilers.in_words())


def _say(config: pytest.Config, lines: list[str]) -> None:
    """In the first lines of a run: pytest's own header is left out with -q."""
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    if reporter is not None:
        for line in lines:
            reporter.write_line(line)
