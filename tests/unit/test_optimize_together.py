"""What was accepted file by file is claimed only if it holds as one program."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from rocm_perf_lab.errors import BadInput
from rocm_perf_lab.optimize import loop
from rocm_perf_lab.optimize.attempt import Best
from rocm_perf_lab.optimize.build import Builder, BuildFailed, Built
from rocm_perf_lab.optimize.loop import Before, Search
from rocm_perf_lab.optimize.whole_program import WholeTime

BEFORE = Before(WholeTime(10.0, 0.0), None)
A, B = Path("/a.cpp"), Path("/b.cpp")


class Kernels:
    """A build: code by the kernel's symbol."""

    def __init__(self, **codes: bytes) -> None:
        self.codes, self.program = codes, Path("/program")

    def kernel(self, symbol: str) -> SimpleNamespace:
        return SimpleNamespace(code=self.codes[symbol])


class FakeBuilder:
    def __init__(self, built: Kernels | BuildFailed) -> None:
        self.built = built

    def build_all(self, texts: dict[Path, str], folder: Path) -> Kernels:
        assert texts == {A: "new a", B: "new b"}
        if isinstance(self.built, BuildFailed):
            raise self.built
        return self.built


def claim(symbol: str, file: Path) -> SimpleNamespace:
    return SimpleNamespace(symbol=symbol, kernel=symbol, file=str(file))


def together(
    monkeypatch: pytest.MonkeyPatch, whole: Kernels | BuildFailed, ms: float | BadInput
) -> tuple[WholeTime | None, Search]:
    """Two files, each changed and measured with the other as it was."""

    def whole_time(*_: object) -> WholeTime:
        if isinstance(ms, BadInput):
            raise ms
        return WholeTime(ms, 0.0)

    monkeypatch.setattr(loop, "whole_time", whole_time)
    options = SimpleNamespace(budget_s=1.0, arguments=(), device="virtual")
    space = SimpleNamespace(ledger=SimpleNamespace(entries=[]), builds=Path("/builds"))
    parts: list[Any] = [options, None, None, None, space, lambda _: None]
    search = Search(*parts)
    search.claims = cast(Any, [claim("first", A), claim("second", B)])
    changed = {
        A: Best("new a", cast(Built, Kernels(first=b"1" * 8, second=b"0" * 8))),
        B: Best("new b", cast(Built, Kernels(first=b"0" * 8, second=b"2" * 8))),
    }
    builder = cast(Builder, FakeBuilder(whole))
    return search._together(builder, changed, BEFORE), search


MEASURED = Kernels(first=b"1" * 8, second=b"2" * 8)


def test_both_changes_in_one_program_are_measured_as_one(monkeypatch: pytest.MonkeyPatch) -> None:
    found, search = together(monkeypatch, MEASURED, 8.0)
    assert found == WholeTime(8.0, 0.0)
    assert len(search.claims) == 2


@pytest.mark.parametrize(
    ("whole", "ms", "words"),
    [
        (BuildFailed("a name twice", ""), 8.0, "does not build"),
        # As it was in the other file's build, which is not the one that was measured.
        (Kernels(first=b"0" * 8, second=b"2" * 8), 8.0, "code of first"),
        (MEASURED, 11.0, "takes 11 ms"),
        (MEASURED, BadInput("the program exited with code 1"), "exited with code 1"),
    ],
)
def test_what_does_not_hold_together_is_not_claimed(
    monkeypatch: pytest.MonkeyPatch, whole: Kernels | BuildFailed, ms: float | BadInput, words: str
) -> None:
    found, search = together(monkeypatch, whole, ms)
    assert found is None
    assert search.claims == []
    assert words in search.notes[0]
