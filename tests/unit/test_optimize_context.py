"""The question to a proposer: the right definition, the right numbers, no more."""

from __future__ import annotations

from pathlib import Path

import pytest

from rocm_perf_lab.errors import BadInput
from rocm_perf_lab.optimize.kernel_source import base_name, locate

SOURCE = """\
#include <hip/hip_runtime.h>
#define SCALE 3.0f
constexpr int kWidth = 64;
__device__ float helper(float v) { return v * SCALE; }
__device__ float unused(float v) { return v; }
namespace inner {
// A template, with its head over two lines.
template <int N>
__global__ void __launch_bounds__(N)
    twice(float* data, int count) {
  int i = blockIdx.x * N + threadIdx.x;
  if (i < count) data[i] = helper(data[i]) + kWidth;
}
}  // namespace inner
__global__ void plain(float* data) { data[threadIdx.x] += 1.0f; }
__global__ void plain(float* data, int n) { data[threadIdx.x] += n; }
#define MAKE(name) __global__ void name(float* d) { d[0] = 1; }
MAKE(written)
"""


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("softmax(float const*, int)", "softmax"),
        ("void softmax<256>(float const*, int)", "softmax"),
        ("void a::b<(int)3>::softmax<a<int>(*)(int), 4>(x<int>*) [clone .kd]", "softmax"),
        ("(anonymous namespace)::k(int)", "k"),
        ("plain.kd", "plain"),
        ("_Z14softmax_threadPKfPfii", "softmax_thread"),
        ("_ZN5inner5twiceILi64EEvPfi", "twice"),
        ("_ZN12_GLOBAL__N_11kEi.kd", "k"),
    ],
)
def test_a_profilers_name_leads_to_the_functions_own(name: str, wanted: str) -> None:
    assert base_name(name) == wanted


def find(name: str) -> str:
    located = locate(Path("/nowhere/app.cpp"), SOURCE, name, (), "gfx942")
    return located.extent.text(SOURCE)


def test_the_extent_is_the_definition_with_its_template_head() -> None:
    located = locate(
        Path("/nowhere/app.cpp"), SOURCE, "void inner::twice<64>(float*, int)", (), "gfx942"
    )
    text = located.extent.text(SOURCE)
    assert text.startswith("template <int N>") and text.endswith("}")
    assert located.extent.splice(SOURCE, text) == SOURCE
    assert "__device__ float helper(float v) { return v * SCALE; }" in located.used
    assert "#define SCALE 3.0f" in located.used
    assert not any("unused" in piece for piece in located.used)


def test_an_overload_is_told_by_its_parameters() -> None:
    assert "int n" in find("plain(float*, int)")
    assert "int n" not in find("plain(float*)")


@pytest.mark.parametrize(
    ("name", "why"),
    [("missing(int)", "does not define"), ("written(float*)", "macro"), ("plain", "2 kernels")],
)
def test_a_kernel_that_cannot_be_edited_is_refused_with_the_reason(name: str, why: str) -> None:
    with pytest.raises(BadInput, match=why):
        find(name)
