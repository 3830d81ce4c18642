"""Capture, then replay in another process: the same bytes, for every kind of program."""

from __future__ import annotations

from pathlib import Path

import pytest

from rocm_perf_lab.errors import Refused
from rocm_perf_lab.replay.capture import CaptureOptions, capture_program
from rocm_perf_lab.replay.session import ORIGINAL, ReplaySession
from support.hip_build import hipcc, need_virtual_gpu

PROGRAMS = Path(__file__).parent / "programs"
EXAMPLES = Path(__file__).parents[2] / "examples"

# (program, kernel): those that build on each other's output are among them.
KERNELS = [
    ("saxpy", "saxpy"),
    ("reduction", "sum_atomic"),
    ("histogram", "histogram_global"),
    ("streams", "polynomial"),
    ("nbody", "step"),
    ("transpose", "transpose_naive"),
]
SLOW_KERNELS = [
    ("vcopy", "vecCopy"),
    ("softmax", "softmax_"),
    ("attention", "scores"),
    ("gemm", "gemm_naive"),
    ("gemm", "gemm_.*mfma|mfma"),
    ("stencil", "laplacian"),
]
# Of capture_cases.cpp: memory of every kind, variables, LDS, structures, graphs, cooperative grids,
# a scan with look-back.
CASES = [
    "in_place",
    "atomic",
    "dynamic_lds",
    "globals",
    "structs",
    "streams",
    "graph",
    "memory_kinds",
    "cooperative",
    "may_print",
    "sparse",
    "duplicates",
    "threads",
    "look_back",
    "nothing",
]


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    need_virtual_gpu()
    return tmp_path_factory.mktemp("programs")


def built(folder: Path, source: Path) -> Path:
    target = folder / source.stem
    if not target.exists():
        hipcc("-O2", source, "-o", target)
    return target


def capture(program: Path, arguments: tuple[str, ...], kernel: str, out: Path) -> Path:
    return capture_program(
        CaptureOptions(
            program=str(program), arguments=arguments, kernel=kernel, out=out, device="virtual"
        )
    ).folder


def same_bytes(folder: Path, iterations: int = 3) -> None:
    with ReplaySession(folder, device="virtual") as replay:
        result = replay.run([ORIGINAL] * iterations)
        assert result.verdict() == "identical", result.differences()


@pytest.mark.parametrize(("program", "kernel"), KERNELS, ids=lambda value: value)
def test_an_example_gives_the_same_bytes(
    programs: Path, tmp_path: Path, program: str, kernel: str
) -> None:
    source = built(programs, EXAMPLES / f"{program}.cpp")
    same_bytes(capture(source, (), kernel, tmp_path / "c"))


@pytest.mark.slow
@pytest.mark.parametrize(("program", "kernel"), SLOW_KERNELS, ids=lambda value: value)
def test_a_larger_example_gives_the_same_bytes(
    programs: Path, tmp_path: Path, program: str, kernel: str
) -> None:
    test_an_example_gives_the_same_bytes(programs, tmp_path, program, kernel)


@pytest.mark.parametrize("case", CASES)
def test_a_case_gives_the_same_bytes(programs: Path, tmp_path: Path, case: str) -> None:
    source = built(programs, PROGRAMS / "capture_cases.cpp")
    same_bytes(capture(source, (case,), ".", tmp_path / "c"), iterations=2)


def test_a_later_launch_starts_from_what_the_earlier_ones_left(
    programs: Path, tmp_path: Path
) -> None:
    source = built(programs, PROGRAMS / "capture_cases.cpp")
    folder = capture_program(
        CaptureOptions(
            program=str(source),
            arguments=("in_place",),
            kernel="in_place",
            index=2,
            out=tmp_path / "c",
            device="virtual",
        )
    ).folder
    same_bytes(folder, iterations=100)


def test_a_kernel_that_called_the_host_is_refused(programs: Path, tmp_path: Path) -> None:
    source = built(programs, PROGRAMS / "capture_cases.cpp")
    folder = capture(source, ("prints",), ".", tmp_path / "c")
    with pytest.raises(Refused, match="called the host"):
        ReplaySession(folder)


def test_objects_with_vtables_are_refused_and_can_be_moved_with_the_code(
    programs: Path, tmp_path: Path
) -> None:
    source = built(programs, PROGRAMS / "capture_cases.cpp")
    folder = capture(source, ("virtual_call",), "call", tmp_path / "c")
    with pytest.raises(Refused, match="code moves"):
        ReplaySession(folder, device="virtual")
    with ReplaySession(folder, device="virtual", translate_pointers=True) as replay:
        assert replay.run([ORIGINAL] * 2).verdict() == "identical"
