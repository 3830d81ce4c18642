"""The ledger: whole entries survive anything, changed ones are found."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rocm_perf_lab.errors import BadInput
from rocm_perf_lab.optimize.ledger import Ledger, parse, read


def filled(path: Path, entries: int = 5) -> Path:
    with Ledger(path) as ledger:
        for number in range(entries):
            ledger.append("attempt", {"number": number, "text": "größer\n\u2028"})
    return path


def test_what_was_written_is_read(tmp_path: Path) -> None:
    path = filled(tmp_path / "ledger.jsonl")
    found = read(path)
    assert [entry.data["number"] for entry in found.entries] == [0, 1, 2, 3, 4]
    assert found.torn_bytes == 0
    assert path.stat().st_mode & 0o077 == 0


def test_writing_goes_on_where_it_stopped(tmp_path: Path) -> None:
    path = filled(tmp_path / "ledger.jsonl", 2)
    filled(path, 2)
    assert [entry.index for entry in read(path).entries] == [0, 1, 2, 3]


def test_a_torn_last_line_never_happened(tmp_path: Path) -> None:
    path = filled(tmp_path / "ledger.jsonl", 3)
    whole = path.read_bytes()
    last = whole.rstrip(b"\n").rindex(b"\n") + 1
    for cut in (last + 1, last + 40, len(whole) - 1):
        path.write_bytes(whole[:cut])
        assert len(read(path).entries) == 2
        assert read(path).torn_bytes == cut - last
        filled(path, 1)
        assert [entry.index for entry in read(path).entries] == [0, 1, 2]


@settings(max_examples=150, deadline=None)
@given(data=st.data())
def test_any_changed_byte_is_found(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    folder = tmp_path_factory.mktemp("ledger")
    whole = filled(folder / "ledger.jsonl", 3).read_bytes()
    place = data.draw(st.integers(0, len(whole) - 2))
    value = data.draw(st.integers(0, 255).filter(lambda v: v != whole[place]))
    with pytest.raises(BadInput):
        parse(whole[:place] + bytes([value]) + whole[place + 1 :], "ledger")


def test_removed_swapped_and_forged_lines_are_found(tmp_path: Path) -> None:
    lines = filled(tmp_path / "ledger.jsonl").read_bytes().splitlines(keepends=True)
    forged = json.loads(lines[2])
    forged["data"]["number"] = 99
    for changed in (
        lines[:2] + lines[3:],
        lines[1:],
        [lines[0], lines[2], lines[1], *lines[3:]],
        [*lines[:2], json.dumps(forged).encode() + b"\n", *lines[3:]],
        [*lines, b"\n"],
        [b"[" * 100_000 + b"\n"],
    ):
        with pytest.raises(BadInput):
            parse(b"".join(changed), "ledger")


def test_two_runs_do_not_write_one_ledger(tmp_path: Path) -> None:
    with Ledger(tmp_path / "ledger.jsonl"), pytest.raises(BadInput, match="another run"):
        Ledger(tmp_path / "ledger.jsonl")


def test_a_writer_killed_at_any_moment_leaves_a_ledger_that_goes_on(tmp_path: Path) -> None:
    path = tmp_path / "ledger.jsonl"
    code = (
        "import sys; from pathlib import Path; from rocm_perf_lab.optimize.ledger import Ledger\n"
        "l = Ledger(Path(sys.argv[1])); print('ready', flush=True)\n"
        "while True: l.append('attempt', {'text': 'x' * 20000})"
    )
    seen = 0
    for delay in (0.0, 0.01, 0.02, 0.03):
        with subprocess.Popen(
            [sys.executable, "-c", code, str(path)], stdout=subprocess.PIPE
        ) as writer:
            assert writer.stdout is not None
            writer.stdout.readline()
            time.sleep(delay)
            os.kill(writer.pid, signal.SIGKILL)
        count = len(read(path).entries)
        assert count >= seen
        seen = count
    filled(path, 1)
    assert len(read(path).entries) == seen + 1
