"""Killed at any moment: nothing that was finished is lost, nothing is left behind."""

from __future__ import annotations

import contextlib
import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path

import pytest

from support import fake_rocprofv3

MARK = "KILLED_BY_THE_TEST"
SIGNALS = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT)
PATIENCE_S = 180
FEW, MANY = 5, 100  # moments, of each command; the many are for the slow run
LEADERS = 5  # the best are measured once more in the end
MOMENTS = pytest.mark.parametrize("moments", [FEW, pytest.param(MANY, marks=pytest.mark.slow)])


@pytest.fixture
def environment(tmp_path: Path) -> Mapping[str, str]:
    """With a mark that everything inherits, and a place for temporary things of its own."""
    for name in ("tools", "tmp"):
        (tmp_path / name).mkdir()
    fake_rocprofv3.install(tmp_path / "tools")
    return {
        **os.environ,
        "PATH": f"{tmp_path / 'tools'}{os.pathsep}{os.environ['PATH']}",
        "TMPDIR": str(tmp_path / "tmp"),
        MARK: str(tmp_path),
    }


def start(words: list[str], cwd: Path, env: Mapping[str, str]) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "rocm_perf_lab", *words]
    with (cwd / "said").open("wb") as said:
        return subprocess.Popen(command, cwd=cwd, env=env, stdout=said, stderr=said)


def finish(words: list[str], cwd: Path, env: Mapping[str, str]) -> float:
    """Seconds a run takes that nobody disturbs."""
    began = time.monotonic()
    process = start(words, cwd, env)
    assert process.wait(PATIENCE_S) == 0, (cwd / "said").read_text()
    return time.monotonic() - began


def marked(mark: str) -> set[int]:
    """Processes that inherited the mark."""
    found, line = set(), f"{MARK}={mark}".encode()
    for entry in Path("/proc").iterdir():
        with contextlib.suppress(OSError):
            if entry.name.isdigit() and line in (entry / "environ").read_bytes().split(b"\0"):
                found.add(int(entry.name))
    return found


def kill_at(
    moment: float, number: signal.Signals, words: list[str], cwd: Path, env: Mapping[str, str]
) -> None:
    """And see that all it started ends."""
    with (cwd / "moments").open("a") as log:
        log.write(f"{number.name} after {moment:.3f} s\n")
    process = start(words, cwd, env)
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(moment)
    process.send_signal(number)
    process.wait(PATIENCE_S)
    said = (cwd / "said").read_text()
    assert _before_us(said) or ("Traceback" not in said and "internal error" not in said), said
    assert process.returncode in (0, -number, 128 + number), (number, process.returncode, said)
    deadline = time.monotonic() + PATIENCE_S / 3
    while left := marked(env[MARK]):
        assert time.monotonic() < deadline, [Path(f"/proc/{p}/cmdline").read_text() for p in left]
        time.sleep(0.05)


def _before_us(said: str) -> bool:
    """Ctrl-C while Python was still importing: its own words, of no function of ours."""
    ours = [line for line in said.splitlines() if "rocm_perf_lab" in line]
    modules = all(line.endswith("in <module>") for line in ours)
    return modules and said.rstrip().endswith("KeyboardInterrupt")


def gathered(cwd: Path) -> list[str]:
    """What a run in progress has, and nobody once all have ended; locks between users stay."""
    temporary = [p for p in (cwd / "tmp").iterdir() if not p.name.endswith(".lock")]
    hidden = [p for p in cwd.rglob(".*") if p.name != ".rocpd_profile"]
    return sorted(p.name for p in (*temporary, *hidden))


@MOMENTS
def test_profile_killed_at_random_moments(
    tmp_path: Path, environment: Mapping[str, str], moments: int
) -> None:
    app = fake_rocprofv3.program(tmp_path, "(setsid sleep 0.2 &)", "echo kernel k 5")
    words = ["profile", "--device", "rocm", "--no-counters", "--runs", "2", str(app)]
    took = finish(words, tmp_path, environment)
    root = tmp_path / ".rocpd_profile"
    draw, kept = random.Random(12), dict[Path, bytes]()
    for turn in range(moments):
        kept |= {p: (p / "profile.json").read_bytes() for p in root.glob("[!.]*_*")}
        kill_at(draw.uniform(0, 1.2 * took), SIGNALS[turn % 3], words, tmp_path, environment)
        assert all((p / "profile.json").read_bytes() == text for p, text in kept.items())
        # Whatever has a name is whole, and `latest` is one of them.
        for run in root.glob("[!.]*"):
            assert json.loads((run / "profile.json").read_text())["kernel"]["name"] == "k"
    finish(words, tmp_path, environment)
    assert gathered(tmp_path) == []


@MOMENTS
def test_autotune_killed_at_random_moments(
    tmp_path: Path, environment: Mapping[str, str], moments: int
) -> None:
    values = list(range(20))
    (tmp_path / "space.json").write_text(json.dumps({"parameters": {"A": values}}))
    fake_rocprofv3.program(
        tmp_path, "echo $1 >> measured", "(setsid sleep 0.2 &)", "echo $((100 + $1))"
    )
    words = ["autotune", "--space", "space.json", "--cmd-template", "./app {A}"]
    words += ["--metric", "tail -n 1", "--budget", "100%"]
    took = finish(words, tmp_path, environment)
    words += ["--cache", "cache.jsonl"]
    cache, measured = tmp_path / "cache.jsonl", tmp_path / "measured"
    draw, seen = random.Random(34), set[str]()
    for turn in range(moments):
        # Early ones most, so that there is something left to do for long.
        at = took * draw.uniform(0, 1.2) / (1 if turn > moments / 2 else 3)
        kill_at(at, SIGNALS[turn % 3], words, tmp_path, environment)
        lines = set(cache.read_text().splitlines()) if cache.exists() else set()
        assert seen <= lines, "a measurement that was kept is gone"
        seen = {line for line in lines if _whole(line)}
    known = {json.loads(line)["parameters"]["A"] for line in seen}
    measured.write_text("")
    finish(words, tmp_path, environment)
    again = {int(value) for value in measured.read_text().split()}
    assert again | known == set(values)
    assert len(again & known) <= LEADERS, "what is in the cache was measured again"
    assert gathered(tmp_path) == []


def _whole(line: str) -> bool:
    try:
        return isinstance(json.loads(line), dict)
    except ValueError:
        return False
