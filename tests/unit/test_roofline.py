"""Rooflines: counted work and traffic are exact, the position follows, the impossible is null."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocm_perf_lab.analyze.counters import join
from rocm_perf_lab.analyze.roofline import KernelRoofline, RooflineFinding, roofline
from rocm_perf_lab.arch import gpu
from rocm_perf_lab.arch.gpu import CeilingKind
from rocm_perf_lab.schema.common import DeviceInfo, Provenance, to_json
from rocm_perf_lab.schema.roofline import RooflineDocument, to_document
from support import vcopy
from support.traces import MI300X, Counters, TraceBuilder, per_dispatch

GPU = gpu("gfx942")
VALU = [
    f"SQ_INSTS_VALU_{op}_{t}"
    for op in ("ADD", "MUL", "TRANS", "FMA")
    for t in ("F16", "F32", "F64")
]
MFMA = [f"SQ_INSTS_VALU_MFMA_MOPS_{t}" for t in ("F16", "BF16", "F32", "F64", "F8", "I8")]
NOTHING = dict.fromkeys([*VALU, *MFMA], 0.0) | {"GRBM_GUI_ACTIVE": [21_000_000.0] * 8}
TRAFFIC = ("TCC_BUBBLE", "TCC_EA0_RDREQ", "TCC_EA0_RDREQ_32B", "TCC_EA0_WRREQ", "TCC_EA0_WRREQ_64B")


def traffic(read_bytes: float = 0, written_bytes: float = 0) -> dict[str, float]:
    lines, writes = read_bytes / 128, written_bytes / 64
    return dict(zip(TRAFFIC, (lines, lines, 0.0, writes, writes), strict=True))


def kernel(
    counters: Counters,
    duration_ns: int = 10_000_000,
    ceilings: CeilingKind = "measured",
    **facts: Any,
) -> KernelRoofline:
    builder = TraceBuilder().dispatch("k", 0, duration_ns, counters=counters, **facts)
    timing = TraceBuilder().dispatch("k", 0, duration_ns, **facts).build()
    return roofline(join(timing, [builder.build()]), GPU, ceilings).kernels[0]


# --- recorded on hardware --------------------------------------------------------------------


def recorded(folder: str) -> KernelRoofline:
    passes = vcopy.passes(folder)
    return roofline(join(None, passes), gpu(passes[0].agents[0])).kernels[0]


@pytest.mark.parametrize("folder", ["MI300X_A1_rocpd", "MI300X_A1", "MI200", "MI100"])
def test_vcopy_reads_8_mib_from_memory(folder: str) -> None:
    """Beyond the array, a wave fetches its instructions and arguments: two thousandths more."""
    read = recorded(folder).levels["fabric"].read_bytes
    assert read is not None
    assert vcopy.BYTES <= read <= vcopy.BYTES * 1.0025


@pytest.mark.parametrize("folder", ["MI300X_A1_rocpd", "MI300X_A1", "MI350"])
def test_vcopy_writes_8_mib_exactly_where_the_l2_writes_through(folder: str) -> None:
    assert recorded(folder).levels["fabric"].write_bytes == vcopy.BYTES


@pytest.mark.parametrize("folder", ["MI200", "MI100"])
def test_vcopy_writes_8_mib_exactly_when_the_l2_starts_clean(folder: str) -> None:
    """Later dispatches leave part of their lines in the L2 of these GPUs."""
    joined = join(None, vcopy.passes(folder))
    writes = per_dispatch(joined, "TCC_EA_WRREQ_64B_sum") * 64
    assert writes[0] == vcopy.BYTES
    assert (writes[1:] < vcopy.BYTES).all()


@pytest.mark.parametrize("folder", ["MI300X_A1_rocpd", "MI300X_A1", "MI350", "MI200", "MI100"])
def test_vcopy_moves_16_mib_through_the_l2_exactly(folder: str) -> None:
    assert recorded(folder).levels["l2"].bytes == 2 * vcopy.BYTES


def test_reads_of_an_mi350_are_null_without_the_counter_of_128_byte_reads() -> None:
    found = recorded("MI350")
    assert found.levels["fabric"].bytes is None and found.roofline_position is None
    assert found.levels["fabric"].reason == "TCC_EA0_RDREQ_128B not collected"
    assert found.reasons["roofline_position"] == "TCC_EA0_RDREQ_128B not collected"


def test_vcopy_is_memory_bound_and_has_no_flops() -> None:
    """16 MiB fit the Infinity Cache of an MI300X; an MI210 has none."""
    for folder, level, low, high in (
        ("MI300X_A1_rocpd", "mall", 0.3, 0.5),
        ("MI200", "hbm", 0.5, 0.7),
    ):
        found = recorded(folder)
        assert found.flops == 0 and found.operational_intensity == 0
        assert found.roofline_position == "memory_bound" and found.bound_by == level
        assert low < (found.fraction_of_roof or 0) < high


def test_occupancy_and_lanes_of_vcopy_are_what_the_hardware_had() -> None:
    found = recorded("MI300X_A1_rocpd")
    assert found.metric("active_lanes") == 1
    assert found.metric("occupancy_of_busy_cus") == pytest.approx(0.71, abs=0.02)
    assert found.metric("loads_per_wave") == 2


def test_an_mi100_has_no_flop_counters_and_says_so() -> None:
    found = recorded("MI100")
    assert found.flops is None
    assert found.reasons["flops"] == "gfx908 has no counter of floating-point work by type"
    assert found.levels["fabric"].fraction is not None


def test_matrix_flops_of_a_recorded_gemm_are_exactly_2mnk_times_batch() -> None:
    """MI300X, batched 512x128x128 in bf16, batch 128: the counter read 4,194,304."""
    found = kernel({**NOTHING, "SQ_INSTS_VALU_MFMA_MOPS_BF16": 4_194_304.0})
    assert found.flops_by_type["mfma_bf16"].value == 2 * 128 * 512 * 128 * 128
    assert found.flops == 2_147_483_648


def test_bytes_of_a_recorded_fill_are_exact() -> None:
    """MI300X, a fill of 16,777,216 bytes: 262,144 writes of 64 bytes."""
    counters = {**NOTHING, **traffic(), "TCC_EA0_WRREQ": 262_144.0, "TCC_EA0_WRREQ_64B": 262_144.0}
    assert kernel(counters).levels["fabric"].write_bytes == 16_777_216


def test_a_gibibyte_copied_is_a_gibibyte_read() -> None:
    """MI300X VF, 1 GiB copied: 8,388,608 of 8,388,760 reads were of 128 bytes."""
    counters = dict(
        zip(TRAFFIC, (8_388_608.0, 8_388_760.0, 0.0, 16_777_216.0, 16_777_216.0), strict=True)
    )
    level = kernel({**NOTHING, **counters}).levels["fabric"]
    assert level.read_bytes == pytest.approx(2**30, rel=1e-4)
    assert level.write_bytes == 2**30


# --- position --------------------------------------------------------------------------------


def test_a_gemm_far_right_of_the_ridge_is_compute_bound() -> None:
    mops = 4096**3 * 2 / 512
    found = kernel({**NOTHING, **traffic(1e8, 3e7), "SQ_INSTS_VALU_MFMA_MOPS_F16": mops}, 200_000)
    assert found.roofline_position == "compute_bound" and found.bound_by == "compute"
    assert found.achieved_gflops == pytest.approx(4096**3 * 2 / 200_000)
    assert found.compute_roof_gflops == pytest.approx(917668.2)
    assert found.fraction_of_roof == pytest.approx(4096**3 * 2 / 200_000 / 917668.2)
    assert found.ridge_point == pytest.approx(917668.2 / 6414.4)  # 130 MB fit the Infinity Cache
    assert found.compute_roof_pipe == "mfma_f16"
    assert found.compute_peak_gflops == pytest.approx(1307443.2)


def test_the_roof_of_a_mix_adds_times_within_a_pipe_and_overlaps_the_two() -> None:
    """Half the VALU time in f64, half in f32; matrix work beside it is hidden."""
    f32, f64, bf16 = 126164.7e3, 66558.6e3, 917668.2e2  # 1 us, 1 us, 0.1 us at their ceilings
    counters = {
        **NOTHING,
        **traffic(1e6, 1e6),
        "SQ_INSTS_VALU_FMA_F32": f32 / 128,
        "SQ_INSTS_VALU_ADD_F64": f64 / 64,
        "SQ_INSTS_VALU_MFMA_MOPS_BF16": bf16 / 512,
    }
    found = kernel(counters, 4_000)
    assert found.compute_fraction == pytest.approx(0.5)
    assert found.compute_roof_gflops == pytest.approx((f32 + f64 + bf16) / 2e-6 / 1e9)
    assert found.roofline_position == "compute_bound"


def test_integer_matrix_work_counts_as_time_but_not_as_flops() -> None:
    ops = 1870237.5e3  # 1 us at the best of its rate, which F8 reached
    found = kernel({**NOTHING, **traffic(1e6, 0), "SQ_INSTS_VALU_MFMA_MOPS_I8": ops / 512}, 2_000)
    assert found.flops == 0 and found.iops == pytest.approx(ops)
    assert found.roofline_position == "compute_bound"
    assert found.compute_fraction == pytest.approx(0.5)


def test_ceilings_are_measured_or_of_the_datasheet_as_asked() -> None:
    counters = {**NOTHING, **traffic(2e9, 2e9)}
    measured, datasheet = kernel(counters, 1_000_000), kernel(counters, 1_000_000, "datasheet")
    assert measured.levels["fabric"].ceiling_gbps == 4218.8
    assert datasheet.levels["fabric"].ceiling_gbps == pytest.approx(5324.8)


@given(
    flops=st.floats(1e3, 1e13),
    moved=st.floats(1e3, 1e11),
    slower=st.floats(1.01, 100),
)
def test_below_the_ridge_is_memory_bound_and_slower_is_further_from_the_roof(
    flops: float, moved: float, slower: float
) -> None:
    fast = max(flops / 126164.7, moved / 4218.8, 1000.0)  # ns at the roof
    counters = {**NOTHING, **traffic(moved, 0), "SQ_INSTS_VALU_FMA_F32": flops / 128}
    found = kernel(counters, int(fast * 1.5) + 1)
    ridge = found.ridge_point
    assert ridge is not None and found.operational_intensity is not None
    assert (found.roofline_position == "memory_bound") == (found.operational_intensity < ridge)
    assert found.achieved_gflops is not None and found.achieved_bandwidth_gbps is not None
    ceiling = found.levels["fabric"].ceiling_gbps
    assert ceiling == (6414.4 if moved <= 2**28 else 4218.8)
    roof = min(126164.7, found.operational_intensity * ceiling)
    assert found.fraction_of_roof == pytest.approx(found.achieved_gflops / roof)
    later = kernel(counters, int((int(fast * 1.5) + 1) * slower) + 1)
    assert (later.fraction_of_roof or 0) < (found.fraction_of_roof or 0)


def test_a_kernel_above_a_measured_ceiling_is_at_all_of_it_and_it_says_so() -> None:
    found = kernel({**NOTHING, **traffic(2.4e9, 2.4e9)}, 1_000_000)
    level = found.levels["fabric"]
    assert (level.served_by, level.fraction) == ("hbm", 1.0)
    assert level.fraction_of_datasheet == pytest.approx(4800 / 5324.8)
    assert any("90 % of the datasheet's 5325" in p for p in found.plausibility)


def test_a_kernel_that_computes_above_a_measured_ceiling_is_at_all_of_it_and_it_says_so() -> None:
    flops = 1.1 * GPU.measured["mfma_f16"].value * 1e9 * 1e-3
    counters = {**NOTHING, **traffic(1e7, 0), "SQ_INSTS_VALU_MFMA_MOPS_F16": flops / 512}
    found = kernel(counters, 1_000_000)
    assert (found.compute_fraction, found.fraction_of_roof, found.bound_by) == (1, 1, "compute")
    assert any("faster than the best sustained compute rate" in p for p in found.plausibility)


def test_types_of_one_rate_share_the_best_figure_any_of_them_reached() -> None:
    """BF16's own benchmark reached 516 TFLOP/s where F16, at the same rate per CU, reached 918."""
    assert GPU.measured["mfma_bf16"].value == 917668.2
    assert "mfma_bf16's own benchmark reached 516485" in GPU.measured["mfma_bf16"].source
    assert GPU.measured["mfma_f8"].value == GPU.measured["mfma_i8"].value == 1870237.5
    assert GPU.measured["mfma_f16"].value == 917668.2


def test_a_published_rate_below_the_counters_own_gives_way_to_the_datasheet() -> None:
    """2048 FLOP per CU and cycle: what the matrix cores did while busy is the datasheet's rate."""
    flops = 300e3 * 1e6
    counters = {
        **NOTHING,
        **traffic(1e7, 0),
        "SQ_INSTS_VALU_MFMA_MOPS_BF16": flops / 512,
        "SQ_VALU_MFMA_BUSY_CYCLES": flops / 512,  # 512 FLOP per SIMD and cycle
    }
    found = kernel(counters, 1_000_000)
    assert found.compute_roof_gflops == pytest.approx(1307443.2)
    assert found.fraction_of_roof == pytest.approx(300e3 / 1307443.2)
    assert any("below what the counters' own rate implies" in p for p in found.plausibility)


@given(
    flops=st.floats(1e6, 1e13),
    moved=st.floats(1e3, 1e11),
    busy=st.floats(0.2, 2.0),
    durations=st.tuples(st.integers(1_000, 10**9), st.integers(1_000, 10**9)),
)
def test_percentages_rise_with_speed_always(
    flops: float, moved: float, busy: float, durations: tuple[int, int]
) -> None:
    """The same work in less time is nearer every roof, or at it, until it is impossible."""
    counters = {
        **NOTHING,
        **traffic(moved / 2, moved / 2),
        "SQ_INSTS_VALU_MFMA_MOPS_BF16": flops / 512,
        "SQ_VALU_MFMA_BUSY_CYCLES": busy * flops / 512,
        "SQ_INSTS_VALU_FMA_F32": flops / 128 / 100,
    }
    slow, fast = (kernel(counters, ns) for ns in sorted(durations, reverse=True))
    pairs = [
        (slow.fraction_of_roof, fast.fraction_of_roof),
        (slow.compute_fraction, fast.compute_fraction),
        *(
            (slow.levels[name].fraction, fast.levels[name].fraction)
            for name in ("fabric", "l2", "lds")
        ),
    ]
    for before, after in pairs:
        assert before is None or after is None or after >= before
        assert after is None or 0 <= after <= 1


@given(moved=st.floats(1e3, 1e10), more=st.floats(1.0, 1000))
def test_more_bytes_in_the_same_time_never_lower_the_percentage(moved: float, more: float) -> None:
    few, many = (
        kernel({**NOTHING, **traffic(m, 0)}, 10_000_000).levels["fabric"].fraction
        for m in (moved, moved * more)
    )
    assert few is not None and (many is None or many >= few)


# --- levels ----------------------------------------------------------------------------------


def test_traffic_that_fits_the_infinity_cache_is_held_against_it_and_both_are_given() -> None:
    """38 MB a dispatch at 62 % of HBM's ceiling were called HBM-bound."""
    found = kernel({**NOTHING, **traffic(19e6, 19e6)}, 14_500)
    level = found.levels["fabric"]
    assert level.served_by == "mall" and found.bound_by == "mall"
    assert level.ceilings == {"hbm": 4218.8, "mall": 6414.4}
    assert level.fraction == pytest.approx(38e6 / 14_500 / 6414.4)
    assert "38 MB" in (level.note or "") and "fits the 256 MiB Infinity Cache" in (level.note or "")
    assert found.levels["hbm"].bytes is None and found.levels["hbm"].reason


@pytest.mark.parametrize(("moved", "level"), [(2**28, "mall"), (2**28 + 128, "hbm")])
def test_more_than_the_infinity_cache_holds_is_held_against_memory(moved: int, level: str) -> None:
    found = kernel({**NOTHING, **traffic(moved)}, 1_000_000)
    assert found.levels["fabric"].served_by == level


def test_a_small_footprint_counts_even_where_much_is_moved() -> None:
    builder = TraceBuilder().dispatch("k", 0, 1_000_000, counters={**NOTHING, **traffic(1e9, 1e9)})
    joined = join(None, [builder.build()])
    assert roofline(joined, GPU).kernels[0].levels["fabric"].served_by == "hbm"
    small = roofline(joined, GPU, footprint_bytes=100 * 2**20).kernels[0].levels["fabric"]
    assert small.served_by == "mall" and "the program holds" in (small.note or "")


def test_the_part_of_hbm_is_bounded_by_what_can_be_touched_first() -> None:
    builder = TraceBuilder().dispatch("k", 0, 1_000_000, counters={**NOTHING, **traffic(1e9, 1e9)})
    joined = join(None, [builder.build()])
    shares = {
        size: roofline(joined, GPU, footprint_bytes=size).kernels[0].levels["fabric"].hbm_share
        for size in (None, 100_000_000, 2**30)
    }
    assert shares[None] is shares[2**30] is None
    assert shares[100_000_000] == pytest.approx((0.0, 0.05))


# --- what cannot be --------------------------------------------------------------------------


def test_more_bytes_than_the_fabric_can_move_is_null() -> None:
    level = kernel({**NOTHING, **traffic(1e9, 1e9)}, 10_000).levels["fabric"]
    assert level.bytes is None and level.fraction is None
    assert level.reason == "fabric at 200000 GB/s exceeds the peak of 17200, which cannot be"


def test_more_than_the_l1_can_move_is_our_bound_and_not_a_fault() -> None:
    peak = GPU.highest("l1")
    assert peak is not None
    accesses = 2 * peak * 1e9 * 1e-3 / 64
    counters = {**NOTHING, **traffic(1e7), "TCP_TOTAL_CACHE_ACCESSES": accesses}
    level = kernel(counters, 1_000_000).levels["l1"]
    assert level.gbps == pytest.approx(2 * peak) and level.fraction == 1


def test_more_bytes_than_memory_can_move_came_from_the_infinity_cache() -> None:
    found = kernel({**NOTHING, **traffic(3e8, 3e8)}, 100_000)
    assert found.levels["fabric"].gbps == pytest.approx(6000)
    assert found.levels["fabric"].fraction == 1.0
    assert any("the Infinity Cache served a part" in p for p in found.plausibility)


def test_without_an_infinity_cache_more_than_memory_moves_is_null() -> None:
    agent = replace(
        MI300X,
        architecture="gfx90a",
        product_name="AMD Instinct MI210",
        properties={"cu_count": 104, "max_engine_clk_fcompute": 1700, "num_xcc": 1},
    )
    counters = {
        "TCC_EA_RDREQ": 1e9,
        "TCC_EA_RDREQ_32B": 0.0,
        "TCC_EA_WRREQ": 0.0,
        "TCC_EA_WRREQ_64B": 0.0,
    }
    trace = TraceBuilder(agent=agent).dispatch("k", 0, 10_000_000, counters=counters).build()
    level = roofline(join(None, [trace]), gpu(agent)).kernels[0].levels["fabric"]
    assert level.bytes is None and "exceeds the peak of 1638" in (level.reason or "")


def test_more_flops_than_the_pipe_can_do_is_null() -> None:
    found = kernel({**NOTHING, **traffic(1e6, 0), "SQ_INSTS_VALU_FMA_F64": 1e9}, 10_000)
    assert found.flops_by_type["valu_f64"].value is None
    assert found.flops is None and found.roofline_position is None
    assert "valu_f64 at 12800000 GFLOP/s exceeds the peak of 81715" in found.reasons["flops"]


def test_one_missing_flop_counter_makes_the_sum_null_and_is_named() -> None:
    counters = {**NOTHING, **traffic(1e6, 0)}
    del counters["SQ_INSTS_VALU_FMA_F16"]
    found = kernel(counters)
    assert found.flops is None
    assert found.reasons["flops"] == "valu_f16: SQ_INSTS_VALU_FMA_F16 not collected"
    assert found.flops_by_type["valu_f32"].value == 0


def test_no_traffic_at_all_leaves_the_intensity_null() -> None:
    found = kernel({**NOTHING, **traffic(), "SQ_INSTS_VALU_FMA_F32": 1e6})
    assert found.operational_intensity is None
    why = "no fabric traffic was counted, so intensity has no value"
    assert found.levels["fabric"].reason == why
    assert found.roofline_position == "compute_bound"


def test_a_dispatch_without_duration_has_no_rates() -> None:
    found = kernel({**NOTHING, **traffic(1e6, 0)}, 0)
    assert found.achieved_gflops is None and found.levels["fabric"].gbps is None
    assert found.reasons["roofline_position"] == "the kernel's dispatches have no duration"


def test_an_unknown_gpu_gives_reasons_not_numbers() -> None:
    trace = TraceBuilder().dispatch("k", 0, 10, counters=NOTHING).build()
    (found,) = roofline(join(None, [trace]), None).kernels
    assert found.flops is None
    assert found.reason == "no architecture file describes this GPU"


def test_without_counters_the_reason_is_that() -> None:
    timing = TraceBuilder().dispatch("k", 0, 10).build()
    (found,) = roofline(join(timing, []), GPU).kernels
    assert found.roofline_position is None
    assert "no counters were collected" in (found.reason or "")


def test_a_rdna_gpu_has_bandwidth_but_no_flops() -> None:
    agent = replace(
        MI300X, architecture="gfx1100", product_name="Radeon RX 7900 XTX", properties={}
    )
    counters = {f"GL2C_EA_RDREQ_{n}B": 1000.0 for n in (32, 64, 96, 128)} | {
        "GL2C_MC_WRREQ": 10.0,
        "GL2C_EA_WRREQ_64B": 8.0,
    }
    trace = TraceBuilder(agent=agent).dispatch("k", 0, 1_000_000, counters=counters).build()
    (found,) = roofline(join(None, [trace]), gpu(agent)).kernels
    assert found.levels["fabric"].read_bytes == 1000 * (32 + 64 + 96 + 128)
    assert found.levels["fabric"].write_bytes == 8 * 64 + 2 * 32
    assert found.reasons["flops"] == "gfx1100 has no counter of floating-point work by type"


# --- the file --------------------------------------------------------------------------------


def document(finding: RooflineFinding) -> RooflineDocument:
    provenance = Provenance(
        tool_version="0",
        command=[],
        started=None,
        host=None,
        device=DeviceInfo(kind="unknown", name=None, architecture=None),
        rocm=None,
        inputs=[],
    )
    return to_document(finding, provenance)


def test_the_file_lists_every_ceiling_with_its_source_and_no_null_without_a_reason() -> None:
    trace = TraceBuilder().dispatch("k", 0, 10_000, counters={**NOTHING, **traffic(1e6, 0)}).build()
    finding = roofline(join(None, [trace]), GPU)
    text = to_json(document(finding))
    assert text == to_json(document(roofline(join(None, [trace]), GPU)))
    read = json.loads(text)
    assert {c["name"] for c in read["ceilings"]} >= {"hbm", "l2", "lds", "mfma_bf16", "valu_f32"}
    assert all(c["source"] and c["kind"] for c in read["ceilings"])
    (k,) = read["kernels"]
    for metric in [*k["metrics"].values(), *k["flops_by_type"].values()]:
        assert (metric["value"] is None) == (metric["reason"] is not None)
    for level in k["bytes_by_level"].values():
        assert level["bytes"] is not None or level["reason"]
