"""Lines that no input of a check reaches have to stay as they are."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import cast

from rocm_perf_lab.optimize.plan import Plan
from rocm_perf_lab.optimize.reached import (
    ENTER,
    FALSE,
    NO,
    NOT_RUN,
    ONE_WAY,
    RAN,
    STAY,
    TRUE,
    UNSEEN,
    YES,
    Piece,
    Seen,
    Source,
    differs,
    judge,
    missing,
)
from rocm_perf_lab.replay.session import ReplaySession

BOTH = RAN | TRUE | FALSE
BEFORE = Source(
    Path("/before/k.cpp"),
    """__global__ void k(float* x, int n) {
  int i = threadIdx.x;
  if (i < n) x[i] *= 2;  // the usual case
  if (n == 77777) x[0] = 1;
}
""",
)
AFTER = Source(Path("/after/k.cpp"), BEFORE.text.replace("*= 2", "+= x[i]"))


def seen(source: Source, *rows: tuple[int, int, int, int]) -> Seen:
    found = Seen()
    file = str(source.path)
    for line, column, every, what in rows:
        found.add([{"file": file, "line": line, "column": column, "all": every}])
        found.add([{"file": file, "line": line, "column": column, "seen": what}])
    return found


def test_a_line_that_ran_and_whose_conditions_went_both_ways_is_reached() -> None:
    found = seen(BEFORE, (3, 9, BOTH, BOTH), (3, 14, RAN, RAN))
    assert not missing(BEFORE, found.of(BEFORE))


def test_a_condition_that_every_input_decides_one_way_is_not() -> None:
    found = seen(BEFORE, (4, 9, BOTH, RAN | FALSE))
    assert missing(BEFORE, found.of(BEFORE)) == {"if (n == 77777) x[0] = 1;": ONE_WAY}


def test_nor_is_one_of_which_a_part_never_ran() -> None:
    found = seen(BEFORE, (4, 9, BOTH, RAN | FALSE), (4, 24, RAN, 0))
    assert missing(BEFORE, found.of(BEFORE)) == {"if (n == 77777) x[0] = 1;": NOT_RUN}


def test_instructions_of_one_place_count_together() -> None:
    """The condition of a loop stands before it and at its end."""
    found = seen(BEFORE, (3, 9, BOTH, RAN | FALSE), (3, 9, BOTH, RAN | TRUE))
    assert not missing(BEFORE, found.of(BEFORE))


def test_what_a_compiler_makes_of_a_division_decides_nothing() -> None:
    source = Source(Path("/d.cpp"), "int q = n / d;\n")
    assert not missing(source, seen(source, (1, 11, BOTH, RAN | TRUE)).of(source))
    assert missing(source, seen(source, (1, 11, BOTH, 0)).of(source))


def test_a_line_that_is_not_reached_may_stand_in_both() -> None:
    old = seen(BEFORE, (4, 9, BOTH, RAN | FALSE)).of(BEFORE)
    new = seen(AFTER, (4, 9, BOTH, RAN | FALSE)).of(AFTER)
    assert judge(BEFORE, old, AFTER, new) is None


def test_a_special_case_that_no_input_is_must_not_come() -> None:
    own = Source(AFTER.path, AFTER.text.replace("n == 77777", "n * 3 == 77"))
    old = seen(BEFORE, (4, 9, BOTH, BOTH)).of(BEFORE)
    why = judge(BEFORE, old, own, seen(own, (4, 13, BOTH, RAN | FALSE)).of(own))
    assert why is not None and "'if (n * 3 == 77) x[0] = 1;'" in why


WITHOUT = Source(AFTER.path, AFTER.text.replace("  if (n == 77777) x[0] = 1;\n", ""))


def test_nor_one_go() -> None:
    old = seen(BEFORE, (4, 9, BOTH, RAN | FALSE), (4, 24, RAN, 0)).of(BEFORE)
    why = judge(BEFORE, old, WITHOUT, {})
    assert why is not None and "has to stay as it is" in why


def test_nor_a_decision_that_is_always_the_same() -> None:
    """Compilers choose between two values where the source has a branch."""
    decides = RAN | YES | NO
    old = seen(BEFORE, (4, 9, BOTH, BOTH), (4, 20, decides, RAN | NO)).of(BEFORE)
    assert judge(BEFORE, old, WITHOUT, {}) is not None


def test_one_of_several_comparisons_may_come_out_the_same() -> None:
    """In `a && b ? x : y` it is the choice that has to be made both ways."""
    source = Source(Path("/c.cpp"), "x = n > 0 && n < m ? n : m;\n")
    compared = [(1, 7, BOTH, BOTH), (1, 16, BOTH, RAN | TRUE)]
    chosen = seen(source, *compared, (1, 20, RAN | YES | NO, RAN | YES | NO))
    assert not missing(source, chosen.of(source))
    entered = seen(source, *compared, (1, 20, RAN | ENTER | STAY, RAN | ENTER | STAY))
    assert not missing(source, entered.of(source))
    assert missing(source, seen(source, *compared).of(source))


def test_that_every_lane_enters_a_loop_is_no_decision() -> None:
    source = Source(Path("/l.cpp"), "for (int i = 0; i < n; ++i) x += i;\n")
    every, some = RAN | ENTER | STAY, RAN | ENTER
    assert not missing(source, seen(source, (1, 1, every, some), (1, 19, BOTH, BOTH)).of(source))
    assert missing(BEFORE, seen(BEFORE, (4, 9, every, some)).of(BEFORE))


def test_spaces_and_remarks_make_no_other_line() -> None:
    own = Source(
        AFTER.path, AFTER.text.replace("if (n ==", "  if  (n ==").replace("1;\n", "1; // no\n")
    )
    old = seen(BEFORE, (4, 9, BOTH, RAN | FALSE), (4, 24, RAN, 0)).of(BEFORE)
    assert judge(BEFORE, old, own, {}) is None


class _Session:
    """A virtual device on which nothing names the source."""

    device = SimpleNamespace(kind="virtual")
    timeout_s = 1.0

    def __enter__(self) -> _Session:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def load(self, image: bytes) -> int:
        return len(image)

    def noted(self, kind: str) -> list[dict[str, object]]:
        return []


def test_that_nothing_was_seen_is_a_refusal() -> None:
    plan = Plan((), ())
    piece = Piece(lambda _: cast(ReplaySession, _Session()), plan, (), b"", b"")
    why = differs(BEFORE, AFTER, [piece])
    assert why is not None and why.startswith(UNSEEN)
