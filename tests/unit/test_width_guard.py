"""Indices keep their width: what a body may not begin to do, and what it may."""

from __future__ import annotations

from pathlib import Path

import pytest

from rocm_perf_lab.optimize.static_guard import check
from support.catalogue import context

WIDE = """
__global__ void rows(const float* in, float* out, size_t n, size_t pitch) {
  size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
  size_t row = i / 60, column = i % 60;
  if (i < n) out[row * pitch + column] = in[row * pitch + column] * 2.0f;
}
"""
NARROW = """
__global__ void rows(const float* in, float* out, int n, int pitch) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int row = i / 60, column = i % 60;
  if (i < n) out[row * pitch + column] = in[row * pitch + column] * 2.0f;
}
"""


def refused(folder: Path, kernel: str, old: str, new: str) -> str | None:
    path = folder / "rows.cpp"
    text = "#include <hip/hip_runtime.h>\n" + kernel + "int main() {}\n"
    path.write_text(text)
    assert old in text
    verdict = check(context("body", path, text, "rows"), text.replace(old, new))
    assert not verdict.diagnostics
    return verdict.reason if verdict.findings else None


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ("size_t row = i / 60", "unsigned row = i / 60", "cut down to unsigned int"),
        ("in[row * pitch + column]", "in[(int)(row * pitch + column)]", "cut down to int"),
        ("in[row * pitch", "in[(int)row * (int)pitch", "a product in 32 bits"),
        ("(size_t)blockIdx.x * blockDim.x", "blockIdx.x * blockDim.x", "a product in 32 bits"),
        ("row = i / 60", "row = (size_t)((float)i / 60.0f)", "made of floating point"),
        ("row = i / 60", "row = __float2int_rz((float)i / 60.0f)", "made of floating point"),
    ],
)
def test_an_index_of_64_bits_stays_one(tmp_path: Path, old: str, new: str, why: str) -> None:
    assert why in (refused(tmp_path, WIDE, old, new) or "")


@pytest.mark.parametrize(
    ("kernel", "old", "new"),
    [
        (WIDE, "column = i % 60;", "column = i % 60; int lane = i % 64; if (lane < 0) return;"),
        (WIDE, "column = i % 60;", "column = i % 60; const int wave = sizeof(float) * 16;"),
        (WIDE, "* 2.0f;", "* (float)(2 * threadIdx.x - 2 * threadIdx.x + 2);"),
        (NARROW, "int row = i / 60", "int first = n * pitch, row = i / 60"),
        (NARROW, "row * pitch + column] *", "(size_t)row * pitch + column] *"),
    ],
)
def test_what_loses_no_width_passes(tmp_path: Path, kernel: str, old: str, new: str) -> None:
    assert refused(tmp_path, kernel, old, new) is None


CHECKED = """
__global__ void rows(const float* in, const int* at, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  if (at[i] < 0 || at[i] >= n) { __builtin_trap(); }
  out[i] = in[at[i]];
}
"""


@pytest.mark.parametrize(
    "new",
    ["", "if (at[i] < 0) { __builtin_trap(); }", "if (at[i] < 0 || at[i] >= n) return;"],
)
def test_a_check_that_ends_the_program_stays(tmp_path: Path, new: str) -> None:
    old = "if (at[i] < 0 || at[i] >= n) { __builtin_trap(); }"
    assert "[checks]" in (refused(tmp_path, CHECKED, old, new) or "")


def test_a_check_may_stand_elsewhere(tmp_path: Path) -> None:
    old = "  if (at[i] < 0 || at[i] >= n) { __builtin_trap(); }\n  out[i] = in[at[i]];"
    new = "  float x = 0.0f;" + old.replace("out[i] = in[at[i]]", "x = in[at[i]]; out[i] = x")
    assert refused(tmp_path, CHECKED, old, new) is None
