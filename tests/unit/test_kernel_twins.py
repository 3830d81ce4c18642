"""Verdicts an expert would sign, on twins of recordings whose raw tables were looked at first."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from rocm_perf_lab.analyze.gain import _at_least
from rocm_perf_lab.analyze.thread_trace import summarize
from rocm_perf_lab.arch.matrix import matrix_cycles
from rocm_perf_lab.report.text import summary
from rocm_perf_lab.schema.profile import ProfileDocument
from rocm_perf_lab.trace.att_writer import Content
from rocm_perf_lab.workflow import Choices, analyze_files
from support.analysis import documents
from support.att import code, wave, written
from support.traces import MI300X
from support.twins import END, JUMP, MI350X, SMEM, VALU, VMEM, WAIT, Step, run, traced, verdict

LANES = 2**24  # 65,536 workgroups of 256
# Four loads and four stores of 16 bytes a lane: 128 bytes.
STREAM: list[Step] = [
    ("s_load_dwordx4 s[0:3], s[4:5], 0x0", SMEM, 0, 4),
    ("s_waitcnt lgkmcnt(0)", WAIT, 120, 4),
    *((f"global_load_dwordx4 v[{n}:{n + 3}], v[0:1], off", VMEM, 300, 4) for n in (4, 8, 12, 16)),
    ("s_waitcnt vmcnt(0)", WAIT, 4000, 4),
    *((f"global_store_dwordx4 v[0:1], v[{n}:{n + 3}], off", VMEM, 9, 4) for n in (4, 8, 12, 16)),
    ("s_endpgm", END, 0, 900),
]


def microseconds(tbps: float, bytes_a_lane: int = 128) -> float:
    return bytes_a_lane * LANES / tbps / 1e6


def printed(profile: ProfileDocument) -> str:
    """On one line: what matters is the words."""
    console = Console(width=80, color_system=None)
    with console.capture() as capture:
        console.print(summary(profile, 80))
    return " ".join(capture.get().split())


# --- bandwidth from executed loads and stores ------------------------------------------------


@pytest.mark.parametrize("tbps", [5.4, 6.6, 7.9])
def test_a_stream_at_most_of_the_bandwidth_is_bandwidth_bound_whatever_waves_wait_for(
    tbps: float, tmp_path: Path
) -> None:
    builder = run(LANES // 256, microseconds(tbps), agent=MI350X)
    found = verdict(traced(STREAM, tmp_path), builder)
    assert (found.bottleneck, found.rule) == ("memory_bandwidth_bound", "traced_bandwidth")
    assert found.confidence == "high"
    evidence = found.evidence[0]
    assert "128 B a lane x 16,777,216 lanes" in evidence.text
    assert f"ask for {1000 * tbps:,.0f} GB/s, more than HBM's measured 4,886" in evidence.text
    assert f"{100 * tbps / 8.192:.0f} % of the datasheet's 8,192" in evidence.text
    assert not any("16 bytes a lane" in step or "128-bit" in step for step in found.next_steps)
    assert any("what of this caches serve" in missing for missing in found.missing)


def test_data_that_fits_the_infinity_cache_is_less_sure_and_bounded_by_it(tmp_path: Path) -> None:
    """64 MiB a call, at 4.9 of 5.3 TB/s: whether HBM or the cache served them is not recorded."""
    lanes = 2**19
    found = verdict(traced(STREAM, tmp_path), run(lanes // 256, 128 * lanes / 4.9e6))
    assert (found.bottleneck, found.confidence) == ("memory_bandwidth_bound", "medium")
    assert "the Infinity Cache, which can hold the data" in found.meaning
    assert found.gain is not None and (found.gain.kernel_at_most or 0) > 2


def test_the_same_stream_at_a_tenth_of_it_is_not(tmp_path: Path) -> None:
    builder = run(LANES // 256, microseconds(0.5), agent=MI350X)
    assert verdict(traced(STREAM, tmp_path), builder).bottleneck != "memory_bandwidth_bound"


def test_more_than_memory_can_give_came_from_caches_and_is_held_to_the_l1(tmp_path: Path) -> None:
    builder = run(LANES // 256, microseconds(12), agent=MI350X)
    assert verdict(traced(STREAM, tmp_path / "a"), builder).bottleneck != "memory_bandwidth_bound"
    builder = run(LANES // 256, microseconds(30), agent=MI350X)
    found = verdict(traced(STREAM, tmp_path / "b"), builder)
    assert found.bottleneck == "memory_bandwidth_bound" and "L1 cache" in found.meaning


def test_operands_of_busy_matrix_cores_are_shared_so_requests_are_no_traffic(
    tmp_path: Path,
) -> None:
    mfma = ("v_mfma_f32_32x32x8_f16 a[0:15], v[0:1], v[2:3], a[0:15]", VALU, 28, 4)
    att = traced([*STREAM, *[mfma] * 60], tmp_path)
    assert (att.mfma_pipe_utilisation or 0) > 0.2
    found = verdict(att, run(LANES // 256, microseconds(6), agent=MI350X))
    assert found.rule != "traced_bandwidth"


def test_waves_cut_off_are_scaled_by_their_compute_unit_not_by_their_count(tmp_path: Path) -> None:
    """A persistent kernel outlives the trace's buffer: bytes per wave say nothing of the whole."""
    loop: list[Step] = [s for s in STREAM if s[0].startswith("global_load")]
    loop.append(("s_waitcnt vmcnt(0)", WAIT, 900, 4))
    att = traced(loop, tmp_path, waves=4, times=50)
    assert att.traffic is not None and att.traffic.ended_share == 0
    clocked = replace(att, shader_mhz=2100.0)
    found = verdict(clocked, run(2 * MI300X.properties["cu_count"], 9000.0))
    assert found.rule == "traced_bandwidth"
    assert "B a clock on each of 304 CUs at 2,100 MHz" in found.evidence[0].text
    # Without a clock, what was seen on a unit is the least it did in the call.
    least = 50 * 4 * 64 * 64 * 304  # bytes: turns, waves, a lane's four loads, lanes, CUs
    found = verdict(att, run(2 * MI300X.properties["cu_count"], least / 4e6))
    assert found.rule == "traced_bandwidth"
    assert "at least 237.5 MiB on 304 CUs" in found.evidence[0].text


def test_a_thread_trace_alone_tells_bandwidth_where_the_gpu_is_named(tmp_path: Path) -> None:
    loop: list[Step] = [s for s in STREAM if s[0].startswith("global_load")]
    loop.append(("s_waitcnt vmcnt(0)", WAIT, 900, 4))
    traced(loop, tmp_path, waves=4, times=50)
    found = analyze_files([], att=[tmp_path], choices=Choices(gpu="gfx942")).profile.bottleneck
    assert found is not None and found.bottleneck == "memory_bandwidth_bound"


def test_bytes_of_loads_and_stores_are_counted_apart_and_scratch_is_not(tmp_path: Path) -> None:
    att = traced(
        [*STREAM[:-1], ("scratch_store_dwordx4 off, v[0:3], s0", VMEM, 0, 4), STREAM[-1]], tmp_path
    )
    found = att.traffic
    assert found is not None
    assert (found.loads, found.stores) == (8, 8)
    assert (found.load_bytes, found.store_bytes) == (2 * 64, 2 * 64)
    assert found.ended_share == 1 and found.bytes_per_load == 16


# --- the grid before registers and LDS -------------------------------------------------------

WAITING: list[Step] = [
    ("global_load_dwordx4 v[4:7], v[0:1], off", VMEM, 0, 4),
    ("s_waitcnt vmcnt(0)", WAIT, 900, 4),
    ("v_add_f32_e32 v0, v1, v2", VALU, 0, 100),
    ("s_endpgm", END, 0, 4),
]


@pytest.mark.parametrize(
    ("workgroups", "rule"), [(40, "too_few_workgroups"), (215, "idle_units"), (256, "idle_units")]
)
def test_a_grid_smaller_than_the_device_comes_before_registers_and_lds(
    workgroups: int, rule: str, tmp_path: Path
) -> None:
    """40 workgroups on 256 CUs; 0.84 on each: what 64 KiB of LDS would allow is not the matter."""
    agent = MI350X if workgroups < 256 else MI300X
    builder = run(workgroups, 300.0, agent=agent, lds=65536, arch_vgprs=256, total_vgprs=256)
    found = verdict(traced(WAITING, tmp_path), builder)
    assert (found.bottleneck, found.rule) == ("under_occupied", rule)
    said = " ".join([found.meaning, *found.next_steps])
    assert "launch_bounds" not in said and "smaller tiles" not in said
    assert f"{workgroups} workgroups, {agent.properties['cu_count']} CUs" in found.evidence[0].text


def test_a_grid_that_leaves_places_empty_is_named_before_what_would_allow_more(
    tmp_path: Path,
) -> None:
    """Two workgroups of 64 on each CU, where 128 registers let eight be there."""
    builder = run(608, 300.0, block=64, arch_vgprs=128, total_vgprs=128)
    found = verdict(traced(WAITING, tmp_path), builder)
    assert (found.bottleneck, found.rule) == ("under_occupied", "grid_brings_few_waves")


def test_the_line_on_occupancy_speaks_of_the_grid_where_that_limits(tmp_path: Path) -> None:
    builder = run(40, 300.0, agent=MI350X, lds=65536)
    profile = documents(builder.build(), att=[traced(WAITING, tmp_path)]).profile
    text = printed(profile)
    assert "limited by the grid: it brings 0.16 waves to each SIMD, 2 would fit" in text
    builder = run(8192, 300.0, agent=MI350X, lds=65536)
    assert "limited by LDS" in printed(documents(builder.build()).profile)


# --- next steps and gains from the evidence --------------------------------------------------


def test_waits_for_kernel_arguments_are_not_told_to_unroll(tmp_path: Path) -> None:
    steps: list[Step] = [
        ("s_load_dwordx8 s[0:7], s[4:5], 0x0", SMEM, 0, 4),
        ("s_waitcnt lgkmcnt(0)", WAIT, 700, 4),
        ("global_load_dwordx4 v[4:7], v[0:1], off", VMEM, 0, 4),
        ("s_waitcnt vmcnt(0)", WAIT, 200, 4),
        ("s_endpgm", END, 0, 50),
    ]
    found = verdict(traced(steps, tmp_path), run(us=5000.0))
    assert (found.bottleneck, found.rule) == ("latency_bound", "traced_scalar_waits")
    said = " ".join(found.next_steps)
    assert "unroll" not in said and "independent loads" not in said and "arguments" in said


def test_loads_of_sixteen_bytes_are_not_told_to_widen_and_narrow_ones_are(tmp_path: Path) -> None:
    def steps(load: str) -> list[Step]:
        return [(load, VMEM, 700, 4), ("s_waitcnt vmcnt(0)", WAIT, 100, 4), ("s_endpgm", END, 0, 4)]

    wide = verdict(traced(steps("global_load_dwordx4 v[4:7], v[0:1], off"), tmp_path / "wide"))
    narrow = verdict(traced(steps("global_load_ushort v4, v[0:1], off"), tmp_path / "narrow"))
    assert wide.bottleneck == narrow.bottleneck == "vector_memory_issue_bound"
    assert not any("16 bytes a lane" in step for step in wide.next_steps)
    assert any("16 bytes a lane" in step for step in narrow.next_steps)


def test_the_time_after_the_end_of_a_wave_is_its_stores(tmp_path: Path) -> None:
    lines = code("global_store_dword v[0:1], v2, off", "s_endpgm")
    waves = [wave([[0, VMEM, 0, 4, 1], [4, END, 0, 4, 2]], end=400)]
    att = summarize(written(Content(lines, waves), tmp_path))
    assert att.fractions is not None
    assert att.fractions.end_of_wave == pytest.approx((4 + 392) / 400)


def test_single_bytes_waited_for_are_told_to_widen(tmp_path: Path) -> None:
    steps: list[Step] = [
        ("global_load_ubyte v4, v[0:1], off", VMEM, 0, 4),
        ("s_waitcnt vmcnt(0)", WAIT, 900, 4),
        ("s_endpgm", END, 0, 4),
    ]
    found = verdict(traced(steps, tmp_path), run(us=5000.0))
    assert found.rule == "traced_latency" and "16 bytes a lane" in found.next_steps[0]


def test_waves_that_batch_their_loads_are_not_told_to_issue_several(tmp_path: Path) -> None:
    loads: list[Step] = [
        (f"global_load_dwordx4 v[{n}:{n + 3}], v[0:1], off offset:{64 * n}", VMEM, 0, 4)
        for n in range(4, 36, 4)
    ]
    batch: list[Step] = [*loads, ("s_waitcnt vmcnt(0)", WAIT, 900, 4), ("s_endpgm", END, 0, 4)]
    found = verdict(traced(batch, tmp_path / "batch"), run(us=5000.0))
    assert found.rule == "traced_latency"
    assert not any("independent loads" in step for step in found.next_steps)
    single = verdict(traced(WAITING, tmp_path / "single"), run(us=5000.0))
    assert any("independent loads" in step for step in single.next_steps)


def test_registers_are_spoken_of_only_where_they_limit(tmp_path: Path) -> None:
    limited = run(us=5000.0, arch_vgprs=128, total_vgprs=128)
    found = verdict(traced(WAITING, tmp_path / "a"), limited)
    assert any("registers per lane" in step for step in found.next_steps)
    found = verdict(traced(WAITING, tmp_path / "b"), run(us=5000.0))
    assert not any("resident" in step for step in found.next_steps)


def test_unknown_with_a_thread_trace_asks_for_none_and_says_what_it_shows(tmp_path: Path) -> None:
    busy: list[Step] = [
        ("v_add_f32_e32 v0, v1, v2", VALU, 20, 60),
        ("s_waitcnt vmcnt(0)", WAIT, 20, 0),
        ("s_barrier", WAIT, 18, 0),
    ]
    found = verdict(traced(busy, tmp_path))
    assert found.bottleneck == "unknown"
    assert not any("thread trace (--att)" in step for step in found.next_steps)
    assert any("counters" in step for step in found.next_steps)
    assert "% at barriers" in found.meaning


def test_each_verdict_says_what_it_would_gain_at_most(tmp_path: Path) -> None:
    """Bandwidth by the peak, waits by their share, a grid by the units it leaves idle."""
    stream = verdict(
        traced(STREAM, tmp_path / "a"), run(LANES // 256, microseconds(6.6), agent=MI350X)
    )
    assert stream.gain is not None and stream.gain.kernel_at_most == pytest.approx(8.192 / 6.6)
    waits = verdict(traced(WAITING, tmp_path / "b"), run(us=5000.0))
    share = 900 / 1012
    assert waits.gain is not None
    assert waits.gain.kernel_at_most == pytest.approx(1 / (1 - share))
    assert any("waiting for memory (88.9 %)" in why for why in waits.gain.reasons)
    small = verdict(traced(WAITING, tmp_path / "c"), run(40, agent=MI350X))
    assert small.gain is not None
    assert small.gain.kernel_at_most == pytest.approx(256 / 40 / (1 - share))


def test_the_run_gains_no_more_than_its_path_lets_it(tmp_path: Path) -> None:
    """The kernel is a tenth of the run: whatever it gains, the rest stays."""
    builder = run(us=100.0)
    builder.dispatch("other()", 101_000, 1_001_000, grid=(2**21, 1, 1))
    found = verdict(traced(WAITING, tmp_path), builder)
    assert found.gain is not None and found.gain.run_at_most is not None
    kernel = found.gain.kernel_at_most or 0
    share = 100 / 1001  # with what lies between the two, the run is 1,001 us
    assert found.gain.run_at_most == pytest.approx(1 / (1 - share + share / kernel), rel=1e-3)
    assert any("% of the run's path" in why for why in found.gain.reasons)


@given(
    st.lists(st.tuples(st.floats(0, 100), st.floats(0, 100)), min_size=1, max_size=4),
    st.floats(0, 1),
)
def test_no_run_gains_more_than_its_bound(lines: list[tuple[float, float]], left: float) -> None:
    """A longest path is the largest of lines in the kernel's time; some points of it are known."""

    def took(share: float) -> float:
        return max(fixed + slope * share for fixed, slope in lines)

    bound = _at_least({share: took(share) for share in (0.0, 0.5, 0.8, 1.0)}, left)
    assert bound <= took(left) + 1e-6


def test_the_gain_is_printed_with_its_reasons(tmp_path: Path) -> None:
    profile = documents(run(us=5000.0).build(), att=[traced(WAITING, tmp_path)]).profile
    assert "Gain at most 9.04x for the kernel (no wave time waiting for memory" in printed(profile)


# --- does the trace stand for the kernel -----------------------------------------------------


def test_waves_that_ran_seventeen_of_thousands_of_lines_are_not_the_kernel(tmp_path: Path) -> None:
    lines = code(*[step[0] for step in WAITING], *["v_add_f32_e32 v0, v1, v2"] * 4931)
    found = verdict(traced(WAITING, tmp_path / "few", lines=lines), run(us=5000.0))
    whole = verdict(traced(WAITING, tmp_path / "whole"), run(us=5000.0))
    assert any("ran 4 of the kernel's 4,935 instructions" in doubt for doubt in found.doubts)
    assert found.bottleneck == whole.bottleneck
    assert (whole.confidence, found.confidence) == ("medium", "low")


@pytest.mark.parametrize(
    ("durations", "dispatch", "said"),
    [
        ([1.47, *[1.0] * 9], 1, "the first of 10, took 1470 us, 1.47 times the median"),
        ([*[4e-3] * 5, 0.761, *[4e-3] * 6], 6, "call 6 of 12, took 761 us, 190 times the median"),
        ([1.02, *[1.0] * 9], 1, None),  # the first, but as long as the others
        ([1.0, 1.2, 1.0, 1.0], 2, None),
        ([1.47, 1.0], 1, None),  # of two calls none is usual
    ],
)
def test_a_first_call_or_an_outlier_is_said_and_confidence_falls(
    durations: list[float], dispatch: int, said: str | None, tmp_path: Path
) -> None:
    att = traced(WAITING, tmp_path, dispatch_id=dispatch)
    found = verdict(att, run(us=[1000 * d for d in durations], gap_us=0.0))
    assert found.bottleneck == "latency_bound"
    assert [said in doubt for doubt in found.doubts if said] == ([True] if said else [])
    assert found.confidence == ("low" if said else "medium")


def test_doubts_about_a_trace_do_not_touch_a_verdict_that_does_not_rest_on_it(
    tmp_path: Path,
) -> None:
    att = traced(WAITING, tmp_path, dispatch_id=1)
    found = verdict(att, run(40, us=[9.0, 1.0, 1.0, 1.0], gap_us=0.0))
    assert found.doubts and found.rule == "too_few_workgroups" and found.confidence == "high"


def test_a_trace_that_spans_a_part_of_the_call_says_so(tmp_path: Path) -> None:
    att = replace(traced(WAITING, tmp_path), shader_mhz=2000.0)
    found = verdict(att, run(us=[50.0]))
    assert any("spans 0.506 us, 1 % of the traced call" in doubt for doubt in found.doubts)


def test_doubts_are_printed(tmp_path: Path) -> None:
    att = traced(WAITING, tmp_path, dispatch_id=1)
    profile = documents(run(us=[9.0, 6.0, 6.0], gap_us=0.0).build(), att=[att]).profile
    assert "Doubts - the traced call, the first of 3, took 9 us, 1.5 times" in printed(profile)


# --- matrix cycles of gfx950, thresholds missed by a hair, and time between instructions ------


@pytest.mark.parametrize(
    ("isa", "cycles"),
    [
        ("v_mfma_f32_16x16x32_f16 a[0:3], v[0:3], v[4:7], a[0:3]", 16),
        ("v_mfma_f32_32x32x16_bf16 a[0:15], v[0:3], v[4:7], a[0:15]", 32),
        ("v_mfma_f32_16x16x128_f8f6f4 a[0:3], v[0:7], v[8:15], a[0:3]", 32),
        ("v_mfma_scale_f32_16x16x128_f8f6f4 a[0:3], v[0:3], v[4:7], a[0:3] cbsz:4 blgp:4", 16),
        ("v_mfma_f32_32x32x64_f8f6f4 a[0:15], v[0:7], v[8:15], a[0:15] cbsz:4", 64),
        ("v_mfma_i32_16x16x64_i8 a[0:3], v[0:3], v[4:7], a[0:3]", 16),
        ("v_smfmac_f32_16x16x64_f16 a[0:3], v[0:3], v[4:11], v12", 16),
        ("v_mfma_f64_16x16x4_f64 a[0:7], v[0:1], v[2:3], a[0:7]", 64),
        ("v_mfma_f32_16x16x16_f16 a[0:3], v[0:1], v[2:3], a[0:3]", 16),
    ],
)
def test_matrix_cycles_of_gfx950_follow_from_its_peak_rates(isa: str, cycles: int) -> None:
    """FP16 4,096 operations a CU and clock, FP8 8,192, FP6 and FP4 16,384, FP64 128; four SIMDs."""
    assert matrix_cycles(isa, "gfx950") == cycles


def test_matrix_use_is_known_on_gfx950(tmp_path: Path) -> None:
    mfma: Step = ("v_mfma_f32_16x16x32_f16 a[0:3], v[0:3], v[4:7], a[0:3]", VALU, 16, 4)
    att = traced([mfma] * 50, tmp_path)
    assert att.mfma_pipe_utilisation == pytest.approx(0.8)
    assert verdict(att, run(agent=MI350X)).bottleneck == "compute_throughput_limited"


def test_the_code_objects_beside_a_trace_tell_its_architecture(tmp_path: Path) -> None:
    mfma: Step = ("v_mfma_f64_16x16x4_f64 a[0:7], v[0:1], v[2:3], a[0:7]", VALU, 76, 4)
    (tmp_path / "node").mkdir()
    (tmp_path / "node" / "12_gfx950_code_object_id_3.out").touch()
    assert traced([mfma] * 9, tmp_path).mfma_pipe_utilisation == pytest.approx(64 / 80)


def test_a_threshold_missed_by_a_hair_is_a_verdict_of_low_confidence(tmp_path: Path) -> None:
    """24.7 % of the waves' time at barriers, where 25 % would decide."""
    steps: list[Step] = [
        ("s_barrier", WAIT, 247, 0),
        ("v_add_f32_e32 v0, v1, v2", VALU, 200, 553),
    ]
    found = verdict(traced(steps, tmp_path / "near"))
    assert (found.bottleneck, found.confidence) == ("barrier_bound", "low")
    assert "by a hair" in found.meaning
    assert "24.7 % (not at least 25 %" in found.evidence[0].text
    steps = [("s_barrier", WAIT, 200, 0), ("v_add_f32_e32 v0, v1, v2", VALU, 200, 480)]
    assert verdict(traced(steps, tmp_path / "far")).bottleneck == "unknown"


def straight(count: int, idle_at_lines: int, idle_else: int) -> list[Step]:
    """Instructions of eight bytes: each eighth begins a line of 64."""
    return [
        ("v_add_f32_e32 v0, v1, v2", VALU, 0, 4, idle_else if n % 8 else idle_at_lines)
        for n in range(count)
    ]


def test_time_between_instructions_is_a_finding_of_its_own(tmp_path: Path) -> None:
    """Idle where a line of code begins is fetch; idle everywhere is waiting for a turn."""
    fetch = verdict(traced(straight(160, 60, 0), tmp_path / "fetch"))
    assert (fetch.bottleneck, fetch.rule) == ("instruction_fetch_bound", "traced_instruction_fetch")
    assert "v_add_f32_e32 (k.cpp:" in fetch.remarks[0]
    assert "the first of 64 bytes of code" in fetch.remarks[0]
    turn = verdict(traced(straight(160, 5, 5), tmp_path / "turn"))
    assert (turn.bottleneck, turn.rule) == ("instruction_issue_bound", "traced_between")
    branches: list[Step] = [
        ("v_add_f32_e32 v0, v1, v2", VALU, 0, 4, 90),
        *[("v_add_f32_e32 v0, v1, v2", VALU, 0, 4)] * 12,
        ("s_branch 12", JUMP, 0, 4),
    ]
    found = verdict(traced(branches, tmp_path / "loop", times=20))
    assert found.bottleneck == "instruction_fetch_bound"
    assert "idle before v_add_f32_e32 (k.cpp:0)" in found.remarks[0]


def test_waits_that_are_more_than_the_time_between_keep_their_verdict(tmp_path: Path) -> None:
    steps: list[Step] = [*straight(32, 90, 0), *WAITING]
    found = verdict(traced(steps, tmp_path), run(us=5000.0))
    assert found.bottleneck == "latency_bound"
