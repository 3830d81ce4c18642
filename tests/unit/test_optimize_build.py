"""How a program is built and its source found, without a compiler."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from rocm_perf_lab.errors import BadInput, Refused, UsageError
from rocm_perf_lab.optimize import run
from rocm_perf_lab.optimize.build import default_recipe, parse_recipe
from rocm_perf_lab.optimize.find_source import read_text
from rocm_perf_lab.optimize.measure import Bar
from rocm_perf_lab.optimize.options import OptimizeOptions, parse_time
from rocm_perf_lab.optimize.program_output import Rule
from rocm_perf_lab.optimize.proposers import Wanted
from rocm_perf_lab.optimize.workspace import open_workspace


def test_a_command_is_split_without_a_shell() -> None:
    recipe = parse_recipe("hipcc -O3 -DNAME='a b' $(evil) {source} -o {output}; rm -rf x")
    words = recipe.fill([Path("/w/k.cpp"), Path("/s/other.cpp")], Path("/w/out"))
    assert words == [
        "hipcc", "-O3", "-DNAME=a b", "$(evil)", "/w/k.cpp", "/s/other.cpp", "-o", "/w/out;", "rm",
        "-rf", "x",
    ]  # fmt: skip


@pytest.mark.parametrize(
    "text", ["", "hipcc {source}", "hipcc {output}", "hipcc '{source} {output}"]
)
def test_a_command_that_cannot_build_is_a_usage_error(text: str) -> None:
    with pytest.raises(UsageError):
        parse_recipe(text)


def test_our_own_compiler_is_this_very_program() -> None:
    assert parse_recipe("rocm-perf hipcc {source} -o {output}").words[:3] == (
        sys.executable,
        "-m",
        "rocm_perf_lab",
    )
    assert "--offload-arch=gfx942" in default_recipe("gfx942").words


def test_flags_that_change_how_the_source_reads_are_known() -> None:
    recipe = parse_recipe("hipcc -O2 -g -DA=1 -I inc -std=c++20 {source} -o {output} -lm")
    assert recipe.flags == ("-O2", "-DA=1", "-I", "inc", "-std=c++20")
    assert parse_recipe("make SRC={source} OUT={output}").flags == ()


def test_a_source_that_is_not_text_is_bad_input(tmp_path: Path) -> None:
    path = tmp_path / "k.cpp"
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(BadInput, match="UTF-8"):
        read_text(path)


@pytest.mark.parametrize(("text", "seconds"), [("90s", 90), ("10m", 600), ("1.5h", 5400)])
def test_times(text: str, seconds: float) -> None:
    assert parse_time(text) == seconds


@pytest.mark.parametrize("text", ["", "10", "0s", "-1m", "ten minutes", "1e3s"])
def test_no_times(text: str) -> None:
    with pytest.raises(UsageError):
        parse_time(text)


def test_an_unfinished_run_with_the_same_settings_is_taken_up(tmp_path: Path) -> None:
    first = open_workspace(tmp_path, "k", {"source": "a"})
    kept = first.keep_source("text")
    first.ledger.append("attempt", {})
    other = open_workspace(tmp_path, "k", {"source": "a"})
    assert other.folder != first.folder  # the first is still at work
    other.ledger.append("end", {})
    other.ledger.close()
    first.ledger.close()
    again = open_workspace(tmp_path, "k", {"source": "a"})
    assert (again.folder, again.resumed) == (first.folder, True)
    assert again.source(kept) == "text"
    again.ledger.append("end", {})
    again.ledger.close()
    fresh = open_workspace(tmp_path, "k", {"source": "a"})
    assert not fresh.resumed
    fresh.ledger.close()
    changed = open_workspace(tmp_path, "k", {"source": "b"})
    assert not changed.resumed
    changed.ledger.close()


def test_a_run_that_ended_and_handed_nothing_over_is_taken_up_until_it_has(tmp_path: Path) -> None:
    def settings(**now: str) -> dict[str, object]:
        texts = {
            "/a.cpp": "old a",
            "/b.cpp": "old b",
            "/c.h": "c",
            **{f"/{k}.cpp": v for k, v in now.items()},
        }
        return {"program": "p", "sources": texts, "files": texts}

    first = open_workspace(tmp_path, "k", settings())
    first.outcome.write_text("{}")
    first.ledger.append(
        "end", {"sources": {"/a.cpp": {"after": "new a"}, "/b.cpp": {"after": "new b"}}}
    )
    first.ledger.close()
    # Killed before it wrote anything, between two files, and after the last.
    for now in ({}, {"a": "new a"}, {"a": "new a", "b": "new b"}):
        again = open_workspace(tmp_path, "k", settings(**now))
        assert (again.folder, again.ended) == (first.folder, True)
        again.ledger.close()
    other = open_workspace(tmp_path, "k", settings(a="edited by hand"))
    assert not other.resumed
    other.ledger.close()
    first.outcome.unlink()
    assert not open_workspace(tmp_path, "k", settings()).resumed


def test_work_of_dead_runs_is_removed_and_that_of_others_is_not(tmp_path: Path) -> None:
    dead, busy = (open_workspace(tmp_path, "k", {"source": name}) for name in "ab")
    for each in (dead, busy):
        (each.builds / "original").mkdir(parents=True)
    dead.ledger.close()
    (tmp_path / "mine" / "work").mkdir(parents=True)
    nameless = tmp_path / "20260101T000000Z-k"
    (nameless / "work").mkdir(parents=True)
    os.utime(nameless, (1e9, 1e9))
    open_workspace(tmp_path, "k", {"source": "c"}).ledger.close()
    assert (dead.folder / "ledger.jsonl").exists()
    assert not (dead.folder / "work").exists()
    assert busy.builds.exists()
    assert (tmp_path / "mine" / "work").exists()
    assert not nameless.exists()
    busy.ledger.close()


@pytest.mark.parametrize(
    ("proposer", "wanted", "refused"),
    [
        ("rules", True, False),
        ("llm", True, True),
        ("command:./x", True, True),
        ("llm", False, False),
    ],
)
def test_without_a_sandbox_only_rules_run(
    monkeypatch: pytest.MonkeyPatch, proposer: str, wanted: bool, refused: bool
) -> None:
    """What somebody else wrote is never run unconfined, unless the user says so."""
    monkeypatch.setattr("rocm_perf_lab.optimize.sandbox.available", lambda: "none")
    asked = OptimizeOptions(
        program="p", arguments=(), sources=(), build=None, proposer=Wanted(proposer),
        policy="body", kernel=None, max_iterations=1, budget_s=1, bar=Bar(1.02, 0.95),
        apply=False, patch=None, bundle=None, report=None, out=Path("out"), device="auto",
        sandbox=wanted, output=Rule(),
    )  # fmt: skip
    warnings: list[str] = []
    if refused:
        with pytest.raises(Refused) as error:
            run._sandbox(asked, warnings)
        assert error.value.exit_code == 5
    else:
        assert run._sandbox(asked, warnings) == "none"
        assert "unconfined" in warnings[0]
