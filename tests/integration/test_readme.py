"""README.md's sample is what the command prints, but for the numbers: the model gets better."""

from __future__ import annotations

import re
from pathlib import Path

from support.cli import rocm_perf
from support.hip_build import REPOSITORY, hipcc, need_virtual_gpu

README = (REPOSITORY / "README.md").read_text("utf-8")
COMMAND = "$ rocm-perf profile ./vcopy\n"


def words(text: str) -> str:
    """Without numbers, what is ordered by them, and however the lines are broken."""
    plain = " ".join(re.sub(r"\d[\d.,]*\d|\d", "#", text).split())
    return re.sub(r"(Time goes to) .*? (of the # us from)", r"\1 \2", plain)


def test_the_first_thing_a_reader_sees_is_true(tmp_path: Path) -> None:
    need_virtual_gpu()
    assert COMMAND in README
    sample = README.partition(COMMAND)[2].partition("```")[0]
    hipcc("-O3", REPOSITORY / "examples" / "vcopy.cpp", "-o", tmp_path / "vcopy")
    done = rocm_perf("profile", "--device", "virtual", "./vcopy", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    printed, at = words(done.stdout), 0
    for piece in filter(None, map(words, sample.split("…"))):
        at = printed.find(piece, at)
        assert at >= 0, f"README.md shows\n{piece}\nand printed is\n{printed}"
