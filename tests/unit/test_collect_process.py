"""Programs are run without a shell, within a limit, and leave nothing running."""

from __future__ import annotations

import errno
import os
import subprocess
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
        timeout_s=3.5,  # a busy machine starts three Pythons in it
    )
    assert outcome.exit_code is None
    assert outcome.sentence(3.5) == "was still running after 3.5 s and was stopped"
    assert gone(int(pid_file.read_text()))


def test_control_characters_do_not_reach_the_terminal(tmp_path: Path) -> None:
    outcome = run(python(r"print('\x1b[31mred\x07')"), tmp_path / "log", {})
    assert outcome.tail() == "[31mred"


def gone(pid: int) -> bool:
    for _ in range(300):
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


def test_a_child_that_left_the_group_ends_with_the_program(tmp_path: Path) -> None:
    pid_file = tmp_path / "pid"
    outcome = run(
        python(
            "import subprocess, sys",
            "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)'],",
            "                         start_new_session=True)",
            f"open({str(pid_file)!r}, 'w').write(str(child.pid))",
        ),
        tmp_path / "log",
        {},
    )
    assert outcome.ok
    assert gone(int(pid_file.read_text()))


def test_everything_ends_when_the_caller_is_killed(tmp_path: Path) -> None:
    """By SIGKILL: nobody is left to clean up but the guard."""
    pid_file = tmp_path / "pid"
    inner = (
        "import os, subprocess, sys, time\n"
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)'],"
        " start_new_session=True)\n"
        f"open({str(pid_file)!r} + '.new', 'w').write(f'{{os.getpid()}} {{child.pid}}')\n"
        f"os.rename({str(pid_file)!r} + '.new', {str(pid_file)!r})\n"
        "time.sleep(60)"
    )
    caller = subprocess.Popen(
        python(
            "import pathlib, sys",
            "from rocm_perf_lab.collect.process import run",
            f"log = pathlib.Path({str(tmp_path / 'log')!r})",
            f"run([sys.executable, '-c', {inner!r}], log, {{}})",
        )
    )
    for _ in range(1200):
        if pid_file.exists():
            break
        time.sleep(0.05)
    caller.kill()
    caller.wait()
    assert all(gone(int(pid)) for pid in pid_file.read_text().split())


def test_a_flood_of_output_is_cut_in_the_middle_and_the_cut_is_told(tmp_path: Path) -> None:
    code = ("print('first')", "print('x' * 200_000)", "print('last')")
    outcome = run(python(*code), tmp_path / "log", {}, log_bytes=1000)
    text = outcome.log.read_text()
    assert text.startswith("first\nxxx") and outcome.tail(1) == "last"
    left_out = len("first\n" + "x" * 200_000 + "\nlast\n") - 1000 - (64 << 10)
    assert outcome.cut_bytes == left_out
    assert f"[rocm-perf: {left_out} bytes of output are left out here]" in text


def test_a_full_disk_under_the_log_does_not_disturb_the_program(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.symlink_to("/dev/full")
    outcome = run(python("print('hello')"), log, {})
    assert outcome.ok
    assert outcome.log_errno == errno.ENOSPC


def test_the_time_is_the_programs_own(tmp_path: Path) -> None:
    outcome = run(python("import time; time.sleep(0.2)"), tmp_path / "log", {})
    assert 200 <= outcome.wall_ms < 20_000


def test_what_goes_to_stderr_can_have_a_file_of_its_own(tmp_path: Path) -> None:
    code = ("import os, sys", "print('answer')", "os.write(2, b'complaint')")
    outcome = run(python(*code), tmp_path / "log", {}, errors=tmp_path / "errors")
    assert outcome.log.read_text() == "answer\n"
    assert (tmp_path / "errors").read_text() == "complaint"


def test_an_environment_of_its_own_and_a_place(tmp_path: Path) -> None:
    code = ("import os", "print(sorted(set(os.environ) - {'LC_CTYPE'}), os.getcwd())")
    place = (tmp_path / "place").resolve()
    place.mkdir()
    outcome = run(python(*code), tmp_path / "log", {"ONLY": "this"}, alone=True, cwd=place)
    assert outcome.log.read_text() == f"['ONLY'] {place}\n"


def test_an_objection_ends_all_at_once(tmp_path: Path) -> None:
    code = (
        "import signal, time",
        "signal.signal(signal.SIGTERM, lambda *_: print('asked', flush=True))",
        "print('ready', flush=True)",
        "while True: time.sleep(60)",
    )
    log = tmp_path / "log"

    def object_to(_: int) -> str | None:
        return "too loud" if log.read_text() else None

    outcome = run(python(*code), log, {}, 60, object_to=object_to)
    assert outcome.exit_code is None and outcome.objection == "too loud"
    assert log.read_text() == "ready\n"  # nobody is asked politely
