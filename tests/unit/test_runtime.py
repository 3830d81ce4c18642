"""Which kernel dominates, how long it ran, how steady it was."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocm_perf_lab.analyze.kernel_class import is_helper, kernel_class
from rocm_perf_lab.analyze.runtime import Select, dominated, measure, stability
from rocm_perf_lab.errors import BadInput, UsageError
from support.traces import TraceBuilder

MS = 1_000_000


def run(*dispatches: tuple[str, float]) -> TraceBuilder:
    builder, now = TraceBuilder(), 0
    for name, ms in dispatches:
        end = now + round(ms * MS)
        builder.dispatch(name, now, end)
        now = end
    return builder


@pytest.mark.parametrize(
    ("name", "helper"),
    [
        ("__amd_rocclr_fillBufferAligned", True),
        ("__amd_rocclr_copyBuffer.kd", True),
        ("hipMyKernel(float*)", False),
        ("my__amd_rocclr_thing", False),
    ],
)
def test_only_the_runtimes_own_kernels_are_helpers(name: str, helper: bool) -> None:
    assert is_helper(name) is helper


def test_runtime_is_the_sum_of_dispatch_times_of_the_users_kernels() -> None:
    found = measure([run(("a", 1), ("__amd_rocclr_fillBuffer", 9), ("b", 2), ("a", 1)).build()])
    assert found.runtime_ms == 4.0
    assert [(k.name, k.dispatches, k.total_ms) for k in found.kernels] == [
        ("__amd_rocclr_fillBuffer", 1, 9.0),
        ("a", 2, 2.0),
        ("b", 1, 2.0),
    ]


def test_a_total_is_the_median_over_the_runs_that_launched_the_kernel() -> None:
    runs = [run(("a", 1), ("b", ms)).build() for ms in (1, 2, 9)] + [run(("a", 1)).build()]
    found = {k.name: k for k in measure(runs).kernels}
    assert (found["b"].total_ms, found["b"].stability.runs) == (2.0, 3)
    alone = measure(runs, "b")
    assert alone.stability is not None
    assert (alone.runtime_ms, alone.stability.runs) == (2.0, 3)


def test_the_runtimes_own_kernels_have_their_share_and_shares_add_up() -> None:
    found = measure([run(("a", 1), ("__amd_rocclr_fillBuffer", 1), ("a", 2)).build()])
    assert [(k.name, k.kind, k.share) for k in found.kernels] == [
        ("a", "user", 0.75),
        ("__amd_rocclr_fillBuffer", "runtime", 0.25),
    ]


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("ncclDevKernel_Generic(ncclDevComm*, unsigned long, ncclWork*)", "collective"),
        ("void vllm::cross_device_reduce_1stage<__hip_bfloat16, 8>(...)", "collective"),
        ("mscclKernel_Sum_half_LL", "collective"),
        ("block_all_reduce_sum_f32_kernel(float*, float*)", "user"),
        ("void reduce_kernel<512, 1>(ReduceOp)", "user"),
        ("__amd_rocclr_copyBuffer", "runtime"),
    ],
)
def test_kernels_are_the_users_the_runtimes_or_a_collectives(name: str, kind: str) -> None:
    assert kernel_class(name) == kind


@pytest.mark.parametrize(
    ("by", "path_ns", "name", "words"),
    [
        ("path", {"often": 3 * MS, "long": 2 * MS}, "often", "largest part of the critical path"),
        ("path", {"often": 1 * MS, "long": 2 * MS}, "long", "largest part of the critical path"),
        ("path", None, "often", "largest total time"),
        ("path", {}, "often", "none of them is on the critical path"),
        ("total", None, "often", "largest total time"),
        ("longest", {"often": 3 * MS}, "long", "longest single dispatch"),
    ],
)
def test_which_kernel_dominates_and_that_it_says_why(
    by: Select, path_ns: dict[str, int] | None, name: str, words: str
) -> None:
    found = dominated(
        measure([run(("often", 1), ("often", 1), ("often", 1), ("long", 2)).build()]), by, path_ns
    )
    assert found.dominant is not None
    assert found.kernels[found.dominant].name == name
    assert words in found.selection


def test_a_kernels_figures_are_over_the_runs_that_launched_it() -> None:
    runs = [run(("a", 1)).build(), run(("a", 1)).build(), run(("a", 1), ("b", 4)).build()]
    found = {k.name: (k.dispatches, k.total_ms, k.share) for k in measure(runs).kernels}
    assert found == {"b": (1, 4.0, 0.8), "a": (1, 1.0, 0.2)}


def test_if_only_helpers_ran_the_longest_of_them_is_taken_and_it_says_so() -> None:
    found = measure([run(("__amd_rocclr_fillBuffer", 1)).build()])
    assert found.dominant == 0
    assert "only runtime helpers" in found.selection
    assert found.runtime_ms == 1.0


def test_a_pattern_narrows_everything() -> None:
    found = measure([run(("gemm_a", 1), ("gemm_b", 2), ("copy", 5)).build()], "gemm")
    assert found.runtime_ms == 3.0
    assert [k.name for k in found.kernels] == ["gemm_b", "gemm_a"]


def test_a_pattern_without_a_match_names_what_ran() -> None:
    with pytest.raises(BadInput) as error:
        measure([run(("gemm", 1)).build()], "conv")
    assert "gemm" in (error.value.hint or "")


def test_a_broken_pattern_is_a_usage_error() -> None:
    with pytest.raises(UsageError, match="not a regular expression"):
        measure([run(("gemm", 1)).build()], "(")


def test_totals_are_medians_over_runs() -> None:
    found = measure([run(("k", ms)).build() for ms in (1, 2, 9)])
    assert found.runtime_ms == 2.0
    assert found.stability is not None
    assert found.stability.runs == 3
    assert found.stability.classification == "unstable"


def test_runs_that_differ_in_launches_are_noted() -> None:
    found = measure([run(("k", 1)).build(), run(("k", 1), ("k", 1)).build()])
    assert any("equally often" in note for note in found.notes)


def test_launch_shapes_are_counted_and_the_longest_is_shown() -> None:
    trace = (
        TraceBuilder()
        .dispatch("k", 0, 10, grid=(64, 1, 1), workgroup=(64, 1, 1))
        .dispatch("k", 10, 90, grid=(128, 1, 1), workgroup=(64, 1, 1))
        .build()
    )
    (kernel,) = measure([trace]).kernels
    assert (kernel.launch_shapes, kernel.grid) == (2, (128, 1, 1))


def test_no_dispatch_at_all_is_no_runtime() -> None:
    found = measure([TraceBuilder().build()])
    assert (found.runtime_ms, found.dominant, found.kernels) == (None, None, ())


@pytest.mark.parametrize(
    ("values", "label"),
    [([1, 1, 1], "stable"), ([1.0, 1.1], "moderate"), ([1, 2], "unstable"), ([1], None)],
)
def test_stability_by_coefficient_of_variation(values: list[float], label: str | None) -> None:
    assert stability(np.array(values, dtype=float)).classification == label


def test_the_interval_is_students() -> None:
    # n = 3, mean 5, stddev 1: t(0.975, 2) = 4.303
    found = stability(np.array([4.0, 5.0, 6.0]))
    assert found.ci95_ms == pytest.approx((5 - 4.303 / 3**0.5, 5 + 4.303 / 3**0.5))


def test_no_interval_of_a_time_begins_below_zero() -> None:
    interval = stability(np.array([1.0, 2.0, 3.0])).ci95_ms
    assert interval is not None and interval[0] == 0.0


@given(st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 10**9)), min_size=1))
def test_kernel_totals_add_up_to_the_runtime(dispatches: list[tuple[str, int]]) -> None:
    builder = TraceBuilder()
    for name, ns in dispatches:
        builder.dispatch(name, 0, ns)
    found = measure([builder.build()])
    assert found.runtime_ms == pytest.approx(sum(ns for _, ns in dispatches) / 1e6)
    assert sum(k.total_ms for k in found.kernels) == pytest.approx(found.runtime_ms)
    assert sum(k.dispatches for k in found.kernels) == len(dispatches)
