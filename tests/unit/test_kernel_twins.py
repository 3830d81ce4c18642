"""Verdicts an expert would sign, on twins of recordings whose raw tables were looked at first."""

from __future__ import annotations

from pathlib import Path

import pytest
from rich.console import Console

from rocm_perf_lab.report.text import summary
from rocm_perf_lab.schema.profile import ProfileDocument
from rocm_perf_lab.workflow import Choices, analyze_files
from support.analysis import documents
from support.traces import MI300X
from support.twins import END, MI350X, SMEM, VALU, VMEM, WAIT, Step, run, traced, verdict

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
    assert f"{1000 * tbps:,.0f} of HBM's" in evidence.text and "8,192" in evidence.text
    assert not any("16 bytes a lane" in step or "128-bit" in step for step in found.next_steps)
    assert any("what of this caches serve" in missing for missing in found.missing)


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
    found = verdict(att, run(2 * MI300X.properties["cu_count"], 9000.0))
    assert found.rule == "traced_bandwidth"
    assert "B a clock on each of 304 CUs at 2,100 MHz" in found.evidence[0].text


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
