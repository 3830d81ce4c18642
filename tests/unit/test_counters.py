"""Counters of several passes belong to a dispatch only where the runs agree on what it was."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocm_perf_lab.analyze.counters import JoinedCounters, join
from rocm_perf_lab.analyze.keys import kernel_keys
from rocm_perf_lab.analyze.metrics import KernelMetrics, elapsed_cycles, evaluate
from rocm_perf_lab.arch import gpu
from rocm_perf_lab.arch.counters import (
    WITNESS,
    base_name,
    block_of,
    counter_groups,
    fits,
    metric_set,
    metric_sets,
)
from rocm_perf_lab.arch.formula import Formula, UndefinedError
from rocm_perf_lab.arch.load import files
from rocm_perf_lab.trace.merge import merge
from rocm_perf_lab.trace.trace import Trace
from support.traces import Counters, TraceBuilder, per_dispatch

GPU = gpu("gfx942")
ARCHITECTURES = sorted(files())


def timing(*kernels: str) -> TraceBuilder:
    """Kernels one after the other, the n-th taking n microseconds."""
    builder, now = TraceBuilder(), 0
    for number, kernel in enumerate(kernels, 1):
        builder.dispatch(kernel, now, now + 1000 * number)
        now += 1000 * number
    return builder


def counted(*kernels: tuple[str, float], counter: str = "SQ_WAVES") -> TraceBuilder:
    builder = TraceBuilder()
    for number, (kernel, value) in enumerate(kernels):
        values = {counter: value} if not math.isnan(value) else None
        builder.dispatch(kernel, number * 100_000, number * 100_000 + 50_000, counters=values)
    return builder


def total(joined: JoinedCounters, kernel: str, counter: str = "SQ_WAVES") -> float | None:
    found = next(k for k in joined.kernels if k.key.name == kernel)
    values = [p.readings[counter].total for p in found.passes if counter in p.readings]
    return values[0] if values else None


# --- joining ---------------------------------------------------------------------------------


def test_times_come_from_the_timing_run_and_counters_from_the_pass() -> None:
    joined = join(timing("a", "b", "a").build(), [counted(("a", 10), ("b", 20), ("a", 30)).build()])
    a = next(k for k in joined.kernels if k.key.name == "a")
    assert (a.dispatches, a.covered, a.mean_ns, a.total_ns) == (2, 2, 2000, 4000)
    assert total(joined, "a") == 20
    assert total(joined, "b") == 20
    assert per_dispatch(joined, "SQ_WAVES").tolist() == [10, 20, 30]
    assert joined.timed_by == "timing run"


def test_kernels_come_longest_total_time_first() -> None:
    joined = join(timing("a", "b", "c").build(), [])
    assert [k.key.name for k in joined.kernels] == ["c", "b", "a"]
    assert all(k.reasons == {"counters": "no counters were collected"} for k in joined.kernels)


def test_counters_for_half_the_dispatches_go_with_the_time_of_that_half() -> None:
    nan = math.nan
    joined = join(
        timing("a", "a", "a", "a").build(),
        [counted(("a", nan), ("a", 6), ("a", nan), ("a", 2)).build()],
    )
    (a,) = joined.kernels
    assert (a.dispatches, a.covered) == (4, 2)
    assert a.mean_ns == (2000 + 4000) / 2
    assert total(joined, "a") == 4
    assert "counters for 2 of 4 dispatches" in a.notes
    column = per_dispatch(joined, "SQ_WAVES")
    assert np.isnan(column[[0, 2]]).all() and column[[1, 3]].tolist() == [6, 2]


def test_passes_that_counted_different_dispatches_are_joined_on_those_they_share() -> None:
    nan = math.nan
    first = counted(("a", 1), ("a", 2), ("a", nan)).build()
    second = counted(("a", nan), ("a", 20), ("a", 30), counter="SQ_INSTS").build()
    (a,) = join(timing("a", "a", "a").build(), [first, second]).kernels
    assert (a.covered, a.mean_ns) == (1, 2000)
    assert a.passes[0].readings["SQ_WAVES"].total == 2
    assert a.passes[1].readings["SQ_INSTS"].total == 20


def test_passes_that_share_no_dispatch_keep_their_own_and_say_so() -> None:
    nan = math.nan
    first = counted(("a", 1), ("a", nan)).build()
    second = counted(("a", nan), ("a", 20), counter="SQ_INSTS").build()
    (a,) = join(timing("a", "a").build(), [first, second]).kernels
    assert a.counters == {"SQ_WAVES", "SQ_INSTS"}
    assert "the passes counted different dispatches of this kernel" in a.notes


@pytest.mark.parametrize(
    "change",
    [{"grid": (131072, 1, 1)}, {"workgroup": (128, 1, 1)}, {"lds": 1024}],
    ids=["grid", "workgroup", "lds"],
)
def test_a_dispatch_of_another_shape_is_another_kernel(change: dict[str, Any]) -> None:
    run = TraceBuilder().dispatch("a", 0, 10).dispatch("a", 10, 30, **change).build()
    other = TraceBuilder().dispatch("a", 0, 10, counters={"SQ_WAVES": 5}).build()
    joined = join(run, [other])
    plain = next(k for k in joined.kernels if k.dispatches and k.mean_ns == 10)
    changed = next(k for k in joined.kernels if k.mean_ns == 20)
    assert plain.counters == {"SQ_WAVES"} and not changed.counters
    assert changed.reasons == {"counters": "no counter pass has this kernel in this shape"}


def test_another_order_with_the_same_number_gives_means() -> None:
    joined = join(
        timing("a", "b", "b", "a").build(),
        [counted(("b", 1), ("a", 10), ("a", 20), ("b", 3)).build()],
    )
    assert total(joined, "a") == 15 and total(joined, "b") == 2
    a = next(k for k in joined.kernels if k.key.name == "a")
    assert any("another order: means over all 2 dispatches" in note for note in a.notes)
    assert np.isnan(per_dispatch(joined, "SQ_WAVES")).all()


def test_another_order_with_another_number_is_null_with_the_reason() -> None:
    joined = join(timing("a", "a", "b").build(), [counted(("b", 1), ("b", 2), ("a", 3)).build()])
    for name in ("a", "b"):
        kernel = next(k for k in joined.kernels if k.key.name == name)
        assert not kernel.counters
        (reason,) = kernel.reasons.values()
        assert "which belong together cannot be known" in reason


def test_a_pass_narrowed_to_one_kernel_keeps_its_dispatch_numbers() -> None:
    run = timing("a", "b", "a", "b").build()
    narrowed = counted(("a", math.nan), ("b", 5), ("a", math.nan), ("b", 7)).build()
    rows = np.flatnonzero(narrowed.dispatches.dispatch_id % 2 == 0)
    d = narrowed.dispatches
    kept = replace(
        narrowed,
        dispatches=replace(d, **{name: getattr(d, name)[rows] for name in d.__dataclass_fields__}),
        counters={
            name: replace(c, **{f: getattr(c, f)[rows] for f in c.__dataclass_fields__})
            for name, c in narrowed.counters.items()
        },
    )
    joined = join(run, [kept])
    assert per_dispatch(joined, "SQ_WAVES")[[1, 3]].tolist() == [5, 7]
    assert total(joined, "b") == 6


def test_a_kernel_only_the_pass_ran_is_left_out_and_noted() -> None:
    joined = join(timing("a").build(), [counted(("a", 1), ("warmup", 2)).build()])
    assert [k.key.name for k in joined.kernels] == ["a"]
    assert any("ran 1 kernel shapes that the timing run did not" in n for n in joined.notes)


def test_without_a_timing_run_the_counter_run_times_and_says_so() -> None:
    joined = join(None, [counted(("a", 4)).build()])
    assert joined.timed_by == "counter run"
    assert joined.kernels[0].mean_ns == 50_000
    assert any("serialised under counter collection" in n for n in joined.notes)


def test_nothing_recorded_is_no_error() -> None:
    assert join(None, []).kernels == ()
    assert join(TraceBuilder().build(), []).notes == ("no dispatch was recorded",)


def test_the_same_counter_in_two_passes_is_used_once_and_a_difference_is_noted() -> None:
    run = timing("a").build()
    same = join(run, [counted(("a", 100)).build(), counted(("a", 100)).build()]).kernels[0]
    assert not same.notes
    differing = join(run, [counted(("a", 100)).build(), counted(("a", 150)).build()])
    assert total(differing, "a") == 100
    assert differing.kernels[0].notes == (
        "SQ_WAVES differs between passes (100, 150); the first is used",
    )


def test_ranks_are_matched_in_order_of_their_start() -> None:
    def rank(pid: int, start: int, value: float | None) -> Trace:
        counters = {"SQ_WAVES": value} if value else None
        return TraceBuilder(pid=pid).dispatch("a", start, start + 10, counters=counters).build()

    run = merge([rank(7, 0, None), rank(9, 5, None)])
    counted_run = merge([rank(70, 100, 1), rank(90, 105, 2)])
    assert per_dispatch(join(run, [counted_run]), "SQ_WAVES").tolist() == [1, 2]


# --- counters that did not count -------------------------------------------------------------


def test_a_pass_in_which_everything_is_zero_counts_for_nothing() -> None:
    zeros = {"SQ_INSTS_VALU_FMA_F32": 0.0, "TCC_HIT_sum": 0.0}
    silent = TraceBuilder().dispatch("a", 0, 10, counters=zeros).build()
    (a,) = join(timing("a").build(), [silent]).kernels
    assert not a.counters
    assert a.reasons["TCC_HIT"] == ("every counter of every dispatch reads zero in counter pass 1")


def test_a_block_whose_witness_reads_zero_is_left_out_and_others_stay() -> None:
    counters = {"SQ_WAVES": 0.0, "SQ_INSTS_VALU_FMA_F32": 0.0, "TCC_HIT_sum": 5.0}
    run = TraceBuilder().dispatch("a", 0, 10, counters=counters).build()
    (a,) = join(timing("a").build(), [run]).kernels
    assert a.counters == {"TCC_HIT"}
    assert (
        "SQ_WAVES reads zero, so its block was not counting" in a.reasons["SQ_INSTS_VALU_FMA_F32"]
    )


def test_no_matrix_work_is_a_zero_not_a_gap() -> None:
    counters: Counters = {WITNESS: [900.0] * 8, "SQ_INSTS_VALU_MFMA_MOPS_BF16": 0.0}
    run = TraceBuilder().dispatch("a", 0, 10, counters=counters).build()
    (a,) = join(timing("a").build(), [run]).kernels
    assert evaluate(a, GPU).get("mfma_bf16") == 0


# --- formulas --------------------------------------------------------------------------------


def metrics(counters: dict[str, float], grid: int = 64 * 256) -> KernelMetrics:
    run = TraceBuilder().dispatch("a", 0, 10_000, grid=(grid, 1, 1), counters=counters).build()
    return evaluate(join(None, [run]).kernels[0], GPU)


def test_both_spellings_of_a_counter_are_read() -> None:
    for suffix in ("", "_sum"):
        found = metrics(
            {f"TCC_{n}{suffix}": v for n, v in (("EA0_WRREQ", 10.0), ("EA0_WRREQ_64B", 8.0))}
        )
        assert found.get("fabric_write_bytes") == 8 * 64 + 2 * 32


def test_the_derived_size_is_used_where_the_base_counters_are_not_there() -> None:
    assert metrics({"FETCH_SIZE": 3.0}).get("fabric_read_bytes") == 3072
    both = {"FETCH_SIZE": 3.0, "TCC_BUBBLE": 1.0, "TCC_EA0_RDREQ": 1.0, "TCC_EA0_RDREQ_32B": 0.0}
    assert metrics(both).get("fabric_read_bytes") == 128


def test_a_missing_counter_is_named() -> None:
    found = metrics({"TCC_EA0_WRREQ": 10.0})["fabric_write_bytes"]
    assert (found.value, found.reason) == (None, "TCC_EA0_WRREQ_64B not collected")


@pytest.mark.parametrize(
    ("counters", "metric", "sentence"),
    [
        (
            {"TCC_EA0_WRREQ": 5.0, "TCC_EA0_WRREQ_64B": 9.0},
            "fabric_write_bytes",
            "TCC_EA0_WRREQ_64B = 9 exceeds TCC_EA0_WRREQ = 5, which cannot be",
        ),
        (
            {"SQ_LDS_BANK_CONFLICT": 9.0, "SQ_LDS_IDX_ACTIVE": 5.0},
            "lds_bytes",
            "SQ_LDS_BANK_CONFLICT = 9 exceeds SQ_LDS_IDX_ACTIVE = 5, which cannot be",
        ),
        (
            {"SQ_WAVES": 128.0, "SQ_INSTS_VALU_MFMA_MOPS_F16": 7.0},
            "mfma_f16",
            "expected_waves = 256 exceeds SQ_WAVES = 128, which cannot be",
        ),
    ],
)
def test_the_impossible_is_null_with_the_reason(
    counters: dict[str, float], metric: str, sentence: str
) -> None:
    found = metrics(counters)
    assert found[metric].value is None
    assert found[metric].reason == sentence
    assert sentence in found.plausibility


def test_a_share_of_nothing_is_undefined_not_zero() -> None:
    found = metrics({"SQ_LDS_BANK_CONFLICT": 0.0, "SQ_LDS_IDX_ACTIVE": 0.0, "SQ_INSTS": 5.0})
    share = found["lds_conflict_share"]
    assert (share.value, share.reason) == (None, "SQ_LDS_IDX_ACTIVE is zero")


def test_ratios_are_taken_within_one_pass() -> None:
    """The second pass ran twice as long; its waits must not be put over the first one's cycles."""
    one = TraceBuilder().dispatch("a", 0, 10, counters={"SQ_WAVE_CYCLES": 100.0}).build()
    two = TraceBuilder().dispatch(
        "a", 0, 20, counters={"SQ_WAVE_CYCLES": 200.0, "SQ_WAIT_ANY": 150.0}
    )
    (a,) = join(timing("a").build(), [one, two.build()]).kernels
    assert evaluate(a, GPU).get("wait_share") == 0.75


@pytest.mark.parametrize(
    ("values", "duration_ns", "expected"),
    [
        (
            [21000.0] * 7 + [22000.0],
            10_000,
            21000,
        ),  # eight XCCs: the largest, but no more than 10 us
        ([15000.0] * 8, 10_000, 15000),  # a lower clock
        ([8 * 15000.0], 10_000, 15000),  # recorded as one sum over the XCCs
        ([18000.0], 10_000, 18000),  # one value that cannot be such a sum
    ],
)
def test_cycles_are_counted_per_xcc(values: list[float], duration_ns: int, expected: float) -> None:
    run = TraceBuilder().dispatch("a", 0, duration_ns, counters={WITNESS: values}).build()
    (a,) = join(None, [run]).kernels
    assert elapsed_cycles(a.passes[0], GPU) == pytest.approx(expected)


def test_formulas_are_arithmetic_and_nothing_else() -> None:
    assert Formula("2*A + b/(C - 1)")({"A": 3, "b": 4, "C": 3}) == 8
    assert Formula("2*A + b").counters == ("A",)
    with pytest.raises(UndefinedError, match="C - C is zero"):
        Formula("A/(C - C)")({"A": 1, "C": 2})
    for text in ("__import__('os')", "a.b", "A if B else C", "'x'", "[A]", "True", "lambda: A"):
        with pytest.raises(ValueError, match="not allowed"):
            _ = Formula(text).names
    with pytest.raises(ValueError, match="not allowed"):
        Formula("A**B")({"A": 9.0, "B": 9.0})


# --- passes ----------------------------------------------------------------------------------


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_the_passes_of_an_architecture_fit_its_slots_and_hold_every_counter(
    architecture: str,
) -> None:
    groups = counter_groups(architecture, details=True)
    metrics_ = metric_set(files()[architecture]["metrics"])
    collected = {base_name(c) for group in groups for c in group}
    for metric in metrics_.metrics.values():
        assert set(metric.formulas[0].counters) <= collected
    assert len(counter_groups(architecture)) <= len(groups)
    for group in groups:
        assert group[0] == WITNESS
        assert fits([base_name(c) for c in group], metrics_.slots)


@given(
    architecture=st.sampled_from(ARCHITECTURES),
    data=st.data(),
)
def test_any_selection_fits_is_covered_and_takes_few_passes(
    architecture: str, data: st.DataObject
) -> None:
    chosen = metric_set(files()[architecture]["metrics"])
    want = data.draw(st.lists(st.sampled_from(sorted(chosen.metrics)), unique=True))
    groups = [[base_name(c) for c in g] for g in counter_groups(architecture, want)]
    wanted = {c for name in want for c in chosen.metrics[name].formulas[0].counters}
    assert wanted <= {c for g in groups for c in g} | {WITNESS}
    for group in groups:
        assert fits(group, chosen.slots)
        assert set(group) - {WITNESS} <= wanted
    for name in want:
        if chosen.metrics[name].together:
            needed = set(chosen.metrics[name].formulas[0].counters)
            assert any(needed <= set(g) for g in groups), name
    per_block: dict[str, int] = {}
    for counter in wanted - {WITNESS}:
        per_block[block_of(counter)] = per_block.get(block_of(counter), 0) + 1
    fewest = max((-(-n // chosen.slots.get(b, 2)) for b, n in per_block.items()), default=0)
    assert len(groups) <= fewest + 1


def test_a_counter_can_be_asked_for_by_its_own_name() -> None:
    assert counter_groups("gfx942", ["SQ_INSTS", "TCC_REQ"]) == [
        [WITNESS, "SQ_INSTS", "TCC_REQ_sum"]
    ]


def test_gfx942_needs_four_passes() -> None:
    assert len(counter_groups("gfx942")) == 4


@pytest.mark.parametrize("name", metric_sets())
def test_every_formula_and_check_can_be_read(name: str) -> None:
    for metric in metric_set(name).metrics.values():
        assert all(formula.names for formula in metric.formulas)
    for check in metric_set(name).checks:
        assert check.counters


# --- keys ------------------------------------------------------------------------------------


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["a", "b"]),
            st.integers(1, 3),
            st.integers(1, 3),
            st.sampled_from([0, 512, 2**40]),
        ),
        min_size=1,
        max_size=30,
    )
)
def test_dispatches_share_a_key_exactly_if_name_grid_workgroup_and_lds_agree(
    rows: list[tuple[str, int, int, int]],
) -> None:
    builder = TraceBuilder()
    for now, (name, grid, workgroup, lds) in enumerate(rows):
        builder.dispatch(
            name, now, now + 1, grid=(grid, 7, 1), workgroup=(1, workgroup, 1), lds=lds
        )
    keys, index = kernel_keys(builder.build())
    assert len(keys) == len(set(rows))
    found = [keys[i] for i in index]
    assert [(k.name, k.grid[0], k.workgroup[1], k.lds_bytes) for k in found] == rows
