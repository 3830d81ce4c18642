"""The program's own output: what counts as the same, and what is left out of the comparison."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocm_perf_lab.errors import UsageError
from rocm_perf_lab.optimize.program_output import (
    Content,
    Expected,
    Ran,
    Rule,
    differs,
    parse_rule,
    place,
    run,
)
from rocm_perf_lab.optimize.sandbox import Sandbox, available


def ran(stdout: str, code: int = 0, **files: str) -> Ran:
    parts = {"stdout": stdout, **files}
    return Ran(
        code, {n: Content(hashlib.sha256(t.encode()).hexdigest(), t) for n, t in parts.items()}
    )


def against(
    first: str, got: str, second: str | None = None, rule: str = "numbers:1e-5"
) -> str | None:
    expected = Expected(ran(first), ran(first if second is None else second))
    return differs(expected, ran(got), parse_rule(rule))


SAME = [
    ("sum 12.500000\n", "sum 12.500001\n"),
    ("took 1.25 ms, sum 3\n", "took 0.75 ms, sum 3\n"),
    ("12.5 GB/s\n", "90.1 GB/s\n"),
    ("time: 3.25\n", "time: 1.5\n"),
    ("elapsed (s) = 3.25\n", "elapsed (s) = 1.5\n"),
    ("1.20x\n", "3.4x\n"),
    ("max error 1.1e-07\n", "max error 2.3e-07\n"),
    ("0.5 1e-9\n", "0.5 0.0\n"),
    ("mean nan\n", "mean -nan\n"),
]
OTHER = [
    ("sum 12.5\n", "sum 12.6\n"),
    ("42 found\n", "43 found\n"),
    ("PASSED\n", "FAILED\n"),
    ("a\n", "a\nb\n"),
    ("max error 1e-07\n", "max error 0.1\n"),
    ("time step 5 energy -1.25\n", "time step 5 energy -1.5\n"),
    ("0.5\n", "nan\n"),
    ("2e-6\n", "3e-6\n"),
    ("4 x 5 matrix\n", "3 x 5 matrix\n"),
]


@pytest.mark.parametrize(("first", "got"), SAME)
def test_rounding_and_times_are_no_difference(first: str, got: str) -> None:
    assert against(first, got) is None
    assert against(first, got, rule="exact") is not None


@pytest.mark.parametrize(("first", "got"), OTHER)
def test_other_words_counts_and_values_are(first: str, got: str) -> None:
    assert against(first, got) is not None
    assert against(first, got, rule="ignore") is None


def test_what_differs_between_runs_of_the_original_is_left_out_and_nothing_beside_it() -> None:
    one, two = "seed 17 sum 4\n", "seed 99 sum 4\n"
    assert against(one, "seed 5 sum 4\n", two) is None
    assert "line 1" in str(against(one, "seed 5 sum 5\n", two))
    expected = Expected(ran(one), ran(two))
    assert expected.masked() == ["stdout: line 1 differs between runs of the original"]


def test_exit_codes_and_files_count() -> None:
    expected = Expected(ran("", out="1\n"), ran("", out="1\n"))
    assert "exits with 1" in str(differs(expected, ran("", 1, out="1\n"), Rule()))
    assert "no longer writes out" in str(differs(expected, ran(""), Rule()))
    assert "now writes more" in str(differs(expected, ran("", out="1\n", more=""), Rule()))
    raw = Content("other bytes")
    assert differs(expected, Ran(0, {**expected.first.parts, "out": raw}), Rule()) == "out differs"


@given(st.text(alphabet="ab01.- e\n", max_size=40))
def test_an_output_agrees_with_itself_by_every_rule(text: str) -> None:
    for rule in ("exact", "numbers:0", "numbers:1e-5", "ignore"):
        assert against(text, text, rule=rule) is None


@pytest.mark.parametrize("text", ["", "numbers:", "numbers:-1", "numbers:1", "numbers:x", "same"])
def test_a_rule_that_is_none_is_said_to_be(text: str) -> None:
    with pytest.raises(UsageError, match="not understood"):
        parse_rule(text)


def test_a_program_runs_in_a_copy_of_the_folder_and_what_it_writes_is_seen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here, work = tmp_path / "here", tmp_path / "here" / "runs" / "work"
    work.mkdir(parents=True)
    (here / "input.txt").write_text("7\n")
    (here / "old.txt").write_text("old\n")
    program = here / "program"
    program.write_text(
        "#!/bin/sh\ncat input.txt\necho oops >&2\necho new > old.txt\nln -s /etc/passwd link\n"
        "exit 3\n"
    )
    program.chmod(0o755)
    monkeypatch.chdir(here)
    found = run(Sandbox(available(), work, (here,)), program, (), "virtual")
    assert found.exit_code == 3
    assert {n: c.text for n, c in found.parts.items()} == {
        "stdout": "7\n", "stderr": "oops\n", "old.txt": "new\n", "link": None,
    }  # fmt: skip
    assert (here / "old.txt").read_text() == "old\n"
    assert list(work.iterdir()) == []


def test_the_runs_own_folder_is_not_in_the_copy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    work = tmp_path / "runs" / "work"
    work.mkdir(parents=True)
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "a" / "b" / "c").write_text("x")
    (tmp_path / ".hidden").mkdir()
    monkeypatch.chdir(tmp_path)
    with place(Sandbox("none", work, (tmp_path,))) as folder:
        assert sorted(p.name for p in folder.iterdir()) == [".hidden", "a"]
        assert (folder / "a" / "b" / "c").read_text() == "x"
        assert (folder / ".hidden").is_symlink()
    assert not folder.exists()
