"""`rocm-perf check --tool init`: what nobody wrote is found where it matters, and nowhere else.

The program holds each kernel twice: `name<false>` has the mistake, `name<true>` has not; those
called `clean_…` read what nobody wrote and are right all the same.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from rocm_perf_lab.check.words import UNWRITTEN
from support.checked_programs import PROGRAMS, Document, built, by_name, check, planted

SOURCE = PROGRAMS / "check_init.cpp"


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built(tmp_path_factory.mktemp("init"), "check_init")


@pytest.fixture(scope="module")
def found(program: Path) -> Document:
    return check(program, "--tool", "init")


def statement(source: str) -> str:
    return SOURCE.read_text().splitlines()[int(source.rpartition(":")[2]) - 1]


def test_whatever_nobody_wrote_is_found_and_no_twin(found: Document) -> None:
    wrong = {name for name in planted("check_init") if not name.startswith("clean_")}
    assert len(wrong) >= 24
    assert by_name(found, "false").keys() == wrong
    assert by_name(found, "true") == {}
    assert {finding["kind"] for finding in found["findings"]} == set(UNWRITTEN)


@pytest.mark.parametrize(
    ("kernel", "kind"),
    [
        ("scaled", "uninitialised-store"),
        ("branched", "uninitialised-branch"),
        ("uniform_branch", "uninitialised-branch"),
        ("gathered", "uninitialised-address"),
        ("histogram", "uninitialised-atomic"),
        ("shared_counters", "uninitialised-atomic"),
    ],
)
def test_a_finding_says_what_became_of_it(found: Document, kernel: str, kind: str) -> None:
    assert {finding["kind"] for finding in by_name(found, "false")[kernel]} == {kind}


def test_both_ends_are_named_and_the_buffer(found: Document) -> None:
    (finding,) = by_name(found, "false")["wide"]
    read, write = finding["sides"]
    assert "const int4 four = from[i]" in statement(read["source"])
    assert "four.x + four.y" in statement(write["source"])
    assert read["bytes"] == 16
    assert read["workgroup"] == write["workgroup"] == [0, 0, 0]
    assert read["work_item"] == [48, 0, 0]  # the first past the half that was copied
    assert finding["count"] == 48
    assert finding["buffer"]["size"] == 3 * 128 * 4
    assert finding["buffer"]["offset"] == 3 * 128 * 2
    assert finding["buffer"]["arguments"] == ["offset 8"]
    assert finding["buffer"]["allocated"][0]["file"].endswith("check_init.cpp")


def test_shared_memory_is_told_by_its_offset(found: Document) -> None:
    (finding,) = by_name(found, "false")["tile_edge"]
    assert finding["buffer"]["kind"] == "LDS"
    assert finding["buffer"]["offset"] == 0
    assert "tile[t] + tile[t + 2]" in statement(finding["sides"][0]["source"])


def test_a_variable_without_a_value_is_told_by_its_register(found: Document) -> None:
    (finding,) = by_name(found, "false")["variable"]
    assert len(finding["sides"]) == 1
    assert finding["detail"].endswith("which nothing wrote")
    assert finding["buffer"] is None


def test_only_kernels_that_match_are_told_of_but_all_are_known_to_write(program: Path) -> None:
    some = check(program, "--tool", "init", "--kernel", "^void scaled|clean_pairs_copied")
    assert set(by_name(some, "false")) == {"scaled"}
    assert by_name(some, "true") == {}
