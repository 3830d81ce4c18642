"""AMD's public list of functions is there, or docs/hip-functions.md says what is not."""

from __future__ import annotations

from pathlib import Path

import pytest

from support import hip_functions as listed
from support import machine
from support.hip_build import need_compiler


def test_every_function_of_the_list_is_there_or_named_as_missing(tmp_path: Path) -> None:
    need_compiler()
    if machine.which("g++") is None:
        pytest.skip("no g++: what a plain host compiler takes cannot be tried")
    uses = listed.read()
    assert listed.page(uses, listed.missing(uses, tmp_path)) == listed.PAGE.read_text("utf-8"), (
        "run: PYTHONPATH=tests python -m support.hip_functions"
    )


def test_a_function_that_is_not_there_is_found(tmp_path: Path) -> None:
    need_compiler()
    rows = [
        listed.Use("a.h", "dh", "float", False, "no_such_function({float})"),
        listed.Use("a.h", "d", "int", False, "sinf({float})"),
        listed.Use("a.h", "d", "float", False, "sinf({float})"),
        listed.Use("a.h", "h", "void", False, "__syncthreads()"),
        listed.Use("a.h", "d", "float4", True, "{int *}"),
    ]
    found = listed.missing(rows, tmp_path)
    assert {use: set(errors) for use, errors in found.items()} == {
        rows[0]: {"device", "host"},
        rows[1]: {"device"},
        rows[3]: {"host"},
        rows[4]: {"device"},
    }
    assert "| `a.h` | 5 | 3 | 1 |" in listed.page(rows, found)
