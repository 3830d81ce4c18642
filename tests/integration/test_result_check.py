"""The result check against kernels that cheat or err: each is told from the original.

The capture is written by hand; what the original must leave is numpy's.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np
import pytest

from rocm_perf_lab.optimize.input_sets import Subject, integer_columns
from rocm_perf_lab.optimize.layout import read_layout
from rocm_perf_lab.optimize.result_check import WATCHED, Plan, check, prepare
from rocm_perf_lab.optimize.sandbox import Sandbox, available
from rocm_perf_lab.optimize.target import open_confined
from rocm_perf_lab.replay.format import open_capture
from rocm_perf_lab.replay.session import ReplaySession
from support.hip_build import need_virtual_gpu
from support.kernel_captures import BASE, Memory, capture_kernel, compile_kernels

# Rows are scaled by their sum, which waves share by LDS; `seen` counts what was read before.
SOURCE = """
extern "C" __global__ void scale_rows(const float* in, float* out, float* total, int columns) {
  __shared__ float part[256];
  const float* row = in + blockIdx.x * columns;
  float sum = 0.0f;
  for (int c = threadIdx.x; c < columns; c += 256) sum += row[c] * row[c];
  part[threadIdx.x] = sum;
  __syncthreads();
  for (int step = 128; step > 0; step /= 2) {
    if (threadIdx.x < step) part[threadIdx.x] += part[threadIdx.x + step];
    __syncthreads();
  }
  float all = part[0];
  for (int c = threadIdx.x; c < columns; c += 256) out[blockIdx.x * columns + c] = row[c] / all;
  if (threadIdx.x == 0) total[blockIdx.x] += all;
}
"""
SIGNATURE = "scale_rows(float const*, float*, float*, int)"
ROWS, COLUMNS = 3, 600
IN, OUT, TOTAL = BASE, BASE + 0x10000, BASE + 0x20000

CHANGES: dict[str, tuple[str, str]] = {
    "unrolled": ("  for (int c = threadIdx.x; c < columns; c += 256) sum",
                 "#pragma unroll 4\n  for (int c = threadIdx.x; c < columns; c += 256) sum"),
    "empty": ("  __shared__ float part[256];", "  return;\n  __shared__ float part[256];"),
    "short": ("c < columns; c += 256) out", "c < columns - 1; c += 256) out"),
    "half": ("sum += row[c] * row[c]", "sum += (float)((_Float16)row[c] * (_Float16)row[c])"),
    "race": ("    __syncthreads();\n  }", "  }"),
    "never set": ("  float sum = 0.0f;", "  float sum;"),
    "stray": ("  float all = part[0];", "  float all = part[0];\n  out[3 * columns] = all;"),
    "keeps": ("if (threadIdx.x == 0) total", "if (threadIdx.x == 0 && all != all) total"),
    "input": ("  float all = part[0];", "  float all = part[0];\n  ((float*)row)[0] = 0.0f;"),
    "captured only": ("  float all = part[0];",
                      "  float all = part[0];\n  if (in[1] != 2.0f) all *= 1.5f;"),
    "reciprocal": ("row[c] / all;", "row[c] * (1.0f / all);"),
}  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    need_virtual_gpu()
    return tmp_path_factory.mktemp("result-check")


@pytest.fixture(scope="module")
def capture(folder: Path) -> Path:
    code = compile_kernels(folder, SOURCE, "original")
    x = (np.arange(ROWS * COLUMNS, dtype="<f4").reshape(ROWS, COLUMNS) % 17 + 1).astype("<f4")
    total = (x * x).sum(axis=1, dtype="<f8").astype("<f4")  # small whole numbers: exact
    out = (x / total[:, None]).astype("<f4")
    before = np.full(ROWS, 10, "<f4")
    arguments = [a.to_bytes(8, "little") for a in (IN, OUT, TOTAL)]
    return capture_kernel(
        folder / "capture", code, "scale_rows",
        [*arguments, COLUMNS.to_bytes(4, "little")],
        [Memory(IN, x.tobytes()), Memory(OUT, bytes(out.nbytes), out.tobytes()),
         Memory(TOTAL, before.tobytes(), (before + total).tobytes())],
        grid=ROWS * 256, workgroup=256, demangled=SIGNATURE,
    )  # fmt: skip


@pytest.fixture(scope="module")
def opening(capture: Path, folder: Path) -> Callable[[int], ReplaySession]:
    work = folder / "work"
    work.mkdir()
    box = Sandbox(available(), work, (capture,))

    class Waves:
        def __init__(self, seed: int) -> None:
            self.seed, self.work = seed, work

        def wrap(self, command: Sequence[str]) -> list[str]:
            return box.wrap(command)

        def environment(self, extra: Mapping[str, str]) -> dict[str, str]:
            asked = {
                "ROCM_PERF_VIRTUAL_WAVES": str(self.seed),
                "ROCM_PERF_VIRTUAL_TIMING": "emulation",
                "ROCM_PERF_VIRTUAL_THREADS": "1",
            }
            return {**box.environment(extra), **asked}

    def opens(seed: int) -> ReplaySession:
        if seed == WATCHED:
            return open_confined(capture, "virtual", box, seed)
        return ReplaySession(capture, device="virtual", confinement=Waves(seed), timeout_s=120)

    return opens


@pytest.fixture(scope="module")
def plan(opening: Callable[[int], ReplaySession]) -> Plan:
    return prepare(opening)


def test_only_what_is_never_read_is_poisoned(plan: Plan) -> None:
    assert plan.blocked is None
    assert plan.poisoned == ("argument 1",)  # `out`; `total` is added to
    # Three rows, each of which is a sum: now and then there is a NaN in every one of them.
    assert plan.left_out.keys() <= {"special values"}
    assert len(plan.sets) >= 8


def test_buffers_are_found_with_their_size_and_type(capture: Path) -> None:
    with open_capture(capture) as opened:
        found = read_layout(opened)
    by_name = {buffer.name: buffer for buffer in found.buffers}
    assert by_name["argument 0"].size >= ROWS * COLUMNS * 4
    assert [leaf.type.name for leaf in by_name["argument 0"].leaves] == ["f32"]
    assert [b.const for b in found.buffers] == [True, False, False]
    assert [scalar.value for scalar in found.scalars] == [COLUMNS]


def changed(folder: Path, name: str) -> bytes:
    old, new = CHANGES[name]
    assert old in SOURCE
    return compile_kernels(folder, SOURCE.replace(old, new, 1), name.replace(" ", "-")).elf.data


def test_an_honest_change_passes_exactly(
    folder: Path, opening: Callable[[int], ReplaySession], plan: Plan
) -> None:
    found = check(opening, plan, changed(folder, "unrolled"))
    assert found.reason is None
    assert found.exact


def test_another_rounding_passes_within_the_tolerance(
    folder: Path, opening: Callable[[int], ReplaySession], plan: Plan
) -> None:
    found = check(opening, plan, changed(folder, "reciprocal"))
    assert found.reason is None
    assert not found.exact


@pytest.mark.parametrize(
    ("name", "caught_by"),
    [
        ("empty", "captured"),
        ("short", "captured"),
        ("half", ""),
        ("race", ""),
        ("never set", "captured, outputs poisoned, interleaving 1"),
        ("stray", "captured"),
        ("keeps", "captured"),
        ("input", "captured"),
        ("captured only", "another seed"),
    ],
)
def test_a_cheat_or_mistake_is_found(
    folder: Path,
    opening: Callable[[int], ReplaySession],
    plan: Plan,
    name: str,
    caught_by: str,
) -> None:
    found = check(opening, plan, changed(folder, name))
    assert found.reason is not None
    assert found.reason.startswith(caught_by), found.reason


def test_indices_in_a_float_buffer_are_left_alone(folder: Path, capture: Path) -> None:
    """Small whole numbers, read as floats, are denormals: this is not data to draw anew."""
    code = compile_kernels(folder, SOURCE, "original")
    indices = np.arange(ROWS * COLUMNS, dtype="<i4").tobytes()
    arguments = [a.to_bytes(8, "little") for a in (IN, OUT, TOTAL)]
    odd = capture_kernel(
        folder / "indices", code, "scale_rows", [*arguments, COLUMNS.to_bytes(4, "little")],
        [Memory(IN, indices), Memory(OUT, bytes(8)), Memory(TOTAL, bytes(8))],
        grid=256, workgroup=256, demangled=SIGNATURE,
    )  # fmt: skip
    with open_capture(odd) as opened:
        subject = Subject(read_layout(opened))
        found = {buffer.name for buffer, _, _ in integer_columns(opened, subject)}
    assert found == {"argument 0"}
