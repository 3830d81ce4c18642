"""Every instance of a template that a change reaches is compared, or the change is refused."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from rocm_perf_lab.codeobject.elf import Elf
from rocm_perf_lab.codeobject.kernels import CodeObject, Kernel
from rocm_perf_lab.errors import BadInput
from rocm_perf_lab.optimize import family as family_module
from rocm_perf_lab.optimize import result_check
from rocm_perf_lab.optimize.build import Built
from rocm_perf_lab.optimize.family import Compared, Family, comparisons, most_crowded
from rocm_perf_lab.optimize.result_check import CheckResult, Plan, SetResult
from rocm_perf_lab.replay.launches import Launch, Launches

ONE, TWO = "_Z5blendILi1EEvPf", "_Z5blendILi2EEvPf"


def kernel(symbol: str, code: bytes = b"\0" * 8) -> Kernel:
    return Kernel(symbol, "gfx942", 8, 0, 8, 0, 0, 0, 0, 8, 1024, 64, (), 0, code)


def launch(symbol: str, index: int = 0, grid: int = 64) -> Launch:
    return Launch(symbol, index, 1, (grid, 1, 1), (64, 1, 1), 0, b"")


def built(*kernels: Kernel) -> Built:
    elf = cast(Elf, SimpleNamespace(data=b"image"))
    return Built(Path("program"), (CodeObject("gfx942", elf, kernels),), "")


def family(launched: tuple[str, ...], *further: Compared, **more: Any) -> Family:
    kernels = {symbol: kernel(symbol) for symbol in (ONE, TWO)}
    launches = Launches(tuple(launch(symbol) for symbol in launched))
    return Family(kernels, launches, launch(ONE), further, **more)


class Opening:
    """Stands for a capture: the sets of which a comparison gave these results."""

    def __init__(self, *results: SetResult, blocked: str | None = None) -> None:
        self.results, self.blocked = results, blocked

    def __call__(self, seed: int) -> Any:
        raise BadInput("nothing is opened here")


@pytest.fixture(autouse=True)
def _no_replays(monkeypatch: pytest.MonkeyPatch) -> None:
    def prepare(opening: Any, debug: Any, brief: bool, orders: bool) -> Plan:
        assert brief
        return Plan((), (), blocked=opening.blocked)

    def check(opening: Any, plan: Plan, image: bytes) -> CheckResult:
        return CheckResult(opening.results)

    monkeypatch.setattr(result_check, "prepare", prepare)
    monkeypatch.setattr(result_check, "check", check)


def test_other_code_or_other_needs_are_a_change() -> None:
    before = built(kernel(ONE), kernel(TWO))
    after = built(kernel(ONE, b"\1" * 8), replace(kernel(TWO), vgprs=9))
    assert family((ONE,)).changed(before, after) == [ONE, TWO]
    assert family((ONE,)).changed(before, before) == []


def test_an_instance_that_is_never_launched_cannot_be_checked() -> None:
    assert family((ONE, TWO)).unchecked([ONE, TWO]) is None
    why = family((ONE,)).unchecked([ONE, TWO])
    assert why is not None
    assert "blend<2>" in why
    assert "never launches" in why


def test_every_instance_that_changed_is_compared() -> None:
    good = SetResult("captured", True, None)
    bad = SetResult("captured", False, "3 of 64 elements differ")
    both = family((ONE, TWO), Compared(launch(TWO, 4), Path("capture"), Opening(bad)))
    assert both.check([ONE], built(kernel(TWO))).sets == ()
    found = both.check([ONE, TWO], built(kernel(TWO))).reason
    assert found == "launch 4 of blend<2>: captured: 3 of 64 elements differ"
    fine = family((ONE, TWO), Compared(launch(TWO, 4), Path("capture"), Opening(good)))
    assert fine.check([ONE, TWO], built(kernel(TWO))).reason is None


def test_an_instance_of_which_nothing_can_be_compared_is_refused() -> None:
    nothing = family((ONE, TWO), Compared(launch(TWO), Path("capture"), Opening()))
    assert "nothing to compare" in str(nothing.check([ONE, TWO], built(kernel(TWO))).reason)
    blocked = family(
        (ONE, TWO), Compared(launch(TWO), Path("capture"), Opening(blocked="it calls the host"))
    )
    assert "it calls the host" in str(blocked.check([ONE, TWO], built(kernel(TWO))).reason)
    failed = family((ONE, TWO), failed={TWO: "too large"})
    assert "too large" in str(failed.check([ONE, TWO], built(kernel(TWO))).reason)


def test_the_limit_says_what_was_seen_and_what_was_not_compared() -> None:
    text = family((ONE, TWO)).limit()
    assert "blend<1>, different launches: 2; compared: 1; " in text
    assert "1 of 2 instances of the template" in text


def test_one_launch_of_every_other_instance_is_tried_on_all_inputs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    launches = [launch(ONE, 1), launch(TWO, 2), launch(TWO, 3)]
    opened = {Path(str(each.index)): each for each in launches}
    monkeypatch.setattr(family_module, "open_capture", lambda path, tell: nullcontext(opened[path]))
    monkeypatch.setattr(family_module, "launch_of", lambda each: each)
    opens = cast(Any, lambda path: Opening())
    found = comparisons(list(opened), launch(ONE), opens, lambda _: None)
    assert [each.full for each in found] == [False, True, False]


def test_where_no_larger_size_is_tried_the_limit_says_why() -> None:
    told = family((ONE,), not_grown={ONE: "its arguments point to 300 MiB, more than 256"})
    assert told.limit().endswith(
        "no larger sizes tried (its arguments point to 300 MiB, more than 256)"
    )
    assert "larger" not in family((ONE,)).limit()


def test_orders_are_tried_where_there_is_more_to_put_in_order_than_in_the_main_launch() -> None:
    def shaped(symbol: str, groups: int, threads: int) -> Launch:
        return Launch(symbol, 0, 1, (groups * threads, 1, 1), (threads, 1, 1), 0, b"")

    main = shaped(ONE, 3, 64)
    few = [shaped(ONE, 2, 64), shaped(ONE, 3, 64)]
    assert most_crowded(few, main) == set()
    assert most_crowded([*few, shaped(ONE, 8, 64), shaped(ONE, 1, 256)], main) == {2, 3}
    assert most_crowded([*few, shaped(ONE, 8, 128), shaped(ONE, 9, 64)], main) == {2, 3}
    assert most_crowded([*few, shaped(TWO, 1, 64)], main) == {2}
