"""Every launch of a program is recorded, and several are captured in one run of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from rocm_perf_lab.codeobject.kernels import read_code_objects
from rocm_perf_lab.errors import BadInput, Refused
from rocm_perf_lab.optimize import promises
from rocm_perf_lab.replay.capture import CaptureOptions
from rocm_perf_lab.replay.launches import Launches, Want, capture_several, record_launches
from rocm_perf_lab.replay.session import ORIGINAL, ReplaySession
from support.hip_build import REPOSITORY, hipcc, need_virtual_gpu

PROGRAMS = Path(__file__).parent / "programs"
SYMBOL = "_Z10add_scaledPKfPfiif"


@pytest.fixture(scope="module")
def aliased(tmp_path_factory: pytest.TempPathFactory) -> Path:
    need_virtual_gpu()
    program = tmp_path_factory.mktemp("launches") / "aliased"
    hipcc("-O3", PROGRAMS / "optimize_aliased.cpp", "-o", program)
    return program


@pytest.fixture(scope="module")
def recorded(aliased: Path) -> Launches:
    return record_launches(CaptureOptions(str(aliased), (), "", device="virtual"))


def test_launches_that_differ_in_nothing_are_recorded_once(recorded: Launches) -> None:
    assert recorded.complete
    first, last = recorded.all
    assert (first.symbol, first.index, last.index) == (SYMBOL, 0, 5)
    assert (first.grid, first.block) == ((128, 1, 1), (64, 1, 1))
    assert first.allocations[0] != first.allocations[8]
    assert last.allocations[0] == last.allocations[8] == first.allocations[8]


def test_no_promise_is_made_that_a_later_launch_breaks(aliased: Path, recorded: Launches) -> None:
    kernels = {k.name: k for code in read_code_objects(aliased) for k in code.kernels}
    known = promises.seen(recorded, kernels)
    text = (PROGRAMS / "optimize_aliased.cpp").read_text()
    promised = text.replace("float* out", "float* __restrict__ out")
    why = promises.broken(known, "add_scaled", text, promised)
    assert why is not None
    assert "same memory in launch 5" in why
    wide = text.replace("to[c] + from[c]", "*(float4*)(out)")
    assert "alignment" in str(promises.broken(known, "add_scaled", text, wide))


def test_several_launches_are_captured_in_one_run(
    aliased: Path, recorded: Launches, tmp_path: Path
) -> None:
    wants = [
        Want(SYMBOL, 0, tmp_path / "first"),
        Want(SYMBOL, 5, tmp_path / "last"),
        Want(SYMBOL, 6, tmp_path / "never"),
        Want(SYMBOL, 3, tmp_path / "large", max_bytes=1),
    ]
    found = capture_several(CaptureOptions(str(aliased), (), "", device="virtual"), wants)
    assert found[:2] == [None, None]
    assert isinstance(found[2], BadInput)
    assert isinstance(found[3], Refused)
    for want, launch in zip(wants[:2], recorded.all, strict=True):
        with ReplaySession(want.out, device="virtual") as session:
            assert session.capture.dispatch.index == launch.index
            assert session.capture.kernarg[:28] == (launch.kernarg or b"")[:28]
            assert session.run([ORIGINAL]).verdict() == "identical"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["first", "last"]


def test_launches_on_several_streams_are_captured_one_after_the_other(tmp_path: Path) -> None:
    need_virtual_gpu()
    program = tmp_path / "streams"
    hipcc("-O3", REPOSITORY / "examples" / "streams.cpp", "-o", program)
    options = CaptureOptions(str(program), (), "", device="virtual")
    every = record_launches(options).all
    wants = [Want(each.symbol, each.index, tmp_path / str(i)) for i, each in enumerate(every)]
    assert capture_several(options, wants) == [None] * len(every)
    for want in wants:
        with ReplaySession(want.out, device="virtual") as session:
            assert session.run([ORIGINAL]).verdict() == "identical"
