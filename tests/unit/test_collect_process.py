"""Programs are run without a shell, within a limit, and leave nothing running."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import pytest

from rocm_perf_lab.collect.process import run


def python(*code: str) -> list[str]:
    return [sys.executable, "-c", "\n".join(code)]


def test_output_goes_to_the_log_and_the_code_comes_back(tmp_path: Path) -> None:
    outcome = run(python("print('hello'); raise SystemExit(3)"), tmp_path / "log", {})
    assert (outcome.ok, outcome.exit_code) == (False, 3)
    assert outcome.sentence(None) == "exited with code 3"
    assert outcome.tail() == "hello"


def test_a_signal_is_named(tmp_path: Path) -> None:
    outcome = run(python("import os; os.kill(os.getpid(), 11)"), tmp_path / "log", {})
    assert outcome.sentence(None) == "was killed by SIGSEGV"


def test_the_environment_is_extended(tmp_path: Path) -> None:
    outcome = run(python("import os; print(os.environ['X'])"), tmp_path / "log", {"X": "y"})
    assert outcome.tail() == "y"


def test_a_hang_ends_with_its_children(tmp_path: Path) -> None:
    pid_file = tmp_path / "pid"
    outcome = run(
        python(
            "import subprocess, sys, time",
            "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)'])",
            f"open({str(pid_file)!r}, 'w').write(str(child.pid))",
            "time.sleep(60)",
        ),
        tmp_path / "log",
        {},
        timeout_s=1.5,
    )
    assert outcome.exit_code is None
    assert outcome.sentence(1.5) == "was still running after 1.5 s and was stopped"
    assert gone(int(pid_file.read_text()))


def test_control_characters_do_not_reach_the_terminal(tmp_path: Path) -> None:
    outcome = run(python(r"print('\x1b[31mred\x07')"), tmp_path / "log", {})
    assert outcome.tail() == "[31mred"


def gone(pid: int) -> bool:
    for _ in range(50):
        try:
            os.kill(pid, 0)
            if Path(f"/proc/{pid}/stat").read_text().split(")")[1].split()[0] == "Z":
                return True
        except (ProcessLookupError, FileNotFoundError):
            return True
        time.sleep(0.1)
    return False


def test_a_missing_program_is_an_os_error_for_the_caller(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        run([str(tmp_path / "nothing")], tmp_path / "log", {})
