"""A thread trace without counters is enough for a verdict, and says what counters would add."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from rocm_perf_lab.analyze.thread_trace import ThreadTraceFinding
from rocm_perf_lab.analyze.thread_trace.accesses import bytes_per_lane, remarks
from rocm_perf_lab.report.thread_trace import sentences
from rocm_perf_lab.schema.profile import BottleneckSummary
from rocm_perf_lab.schema.thread_trace import to_summary
from rocm_perf_lab.workflow import analyze_files
from support.analysis import documents
from support.traces import TraceBuilder
from support.twins import END, LDS, VALU, VMEM, WAIT, Step, run, traced


def verdict(att: ThreadTraceFinding) -> BottleneckSummary:
    found = documents(run().build(), att=[att]).profile.bottleneck
    assert found is not None
    return found


NARROW = ("global_load_ushort v0, v[2:3], off", VMEM, 729, 4)


@pytest.mark.parametrize(
    ("steps", "label"),
    [
        (
            [NARROW, ("s_waitcnt vmcnt(0)", WAIT, 212, 4), ("s_endpgm", END, 0, 51)],
            "vector_memory_issue_bound",
        ),
        (
            [
                ("global_load_dwordx4 v[0:3], v[4:5], off", VMEM, 0, 4),
                ("s_waitcnt vmcnt(0)", WAIT, 800, 4),
                ("v_add_f32_e32 v0, v1, v2", VALU, 0, 4),
            ],
            "latency_bound",
        ),
        (
            [
                ("ds_read_b32 v0, v1", LDS, 100, 4),
                ("s_waitcnt lgkmcnt(0)", WAIT, 300, 4),
                ("v_add_f32_e32 v0, v1, v2", VALU, 0, 400),
            ],
            "lds_bound",
        ),
        (
            [("s_barrier", WAIT, 600, 4), ("v_add_f32_e32 v0, v1, v2", VALU, 0, 400)],
            "barrier_bound",
        ),
        (
            [("v_mfma_f32_32x32x8_f16 a[0:15], v[0:1], v[2:3], a[0:15]", VALU, 28, 4)] * 20
            + [("s_waitcnt lgkmcnt(0)", WAIT, 100, 4)],
            "compute_throughput_limited",
        ),
    ],
)
def test_a_thread_trace_decides_and_is_marked(
    steps: Sequence[Step], label: str, tmp_path: Path
) -> None:
    found = verdict(traced(steps, tmp_path))
    assert found.bottleneck == label
    assert any(m.startswith("counters would tell") for m in found.missing) or label.startswith(
        "compute"
    )


def test_the_summary_lists_the_largest_causes_whatever_they_are(tmp_path: Path) -> None:
    steps = [NARROW, ("s_waitcnt vmcnt(0)", WAIT, 212, 4), ("s_endpgm", END, 0, 51)]
    att = traced(steps, tmp_path)
    text = sentences(to_summary(att))
    assert "72.9 % stalled issuing vector memory instructions" in text
    assert "21.2 % waiting for vector memory" in text
    assert text.index("72.9 %") < text.index("21.2 %")
    evidence = verdict(att).evidence
    assert any("narrow load global_load_ushort (k.cpp:0)" in line for line in evidence)


def test_a_wait_on_several_loads_names_them_all_with_their_parts(tmp_path: Path) -> None:
    loads = [(f"global_load_dword v{n}, v[8:9], off offset:{64 * n}", VMEM, 0, 4) for n in range(6)]
    att = traced([*loads, ("s_waitcnt vmcnt(0)", WAIT, 600, 4)], tmp_path)
    site = att.stall_sites[0]
    assert len(site.waits_for) == 6
    assert sum(w.share for w in site.waits_for) == pytest.approx(1)
    assert "and 2 more" in sentences(to_summary(att))


def test_matrix_use_is_estimated_from_the_instructions(tmp_path: Path) -> None:
    """32x32x8 keeps the matrix core 32 cycles: issued every 40, it is busy 80 % of the time."""
    mfma = ("v_mfma_f32_32x32x8_f16 a[0:15], v[0:1], v[2:3], a[0:15]", VALU, 36, 4)
    att = traced([mfma] * 50, tmp_path)
    assert att.mfma_pipe_utilisation == pytest.approx(0.8)
    assert (att.mfma_issue_utilisation or 0) < 0.11
    found = verdict(att)
    assert found.bottleneck == "compute_throughput_limited"
    unknown = traced([("v_mfma_f32_9x9x9_f16 a0, v0, v1, a0", VALU, 0, 4)], tmp_path / "x")
    assert unknown.mfma_pipe_utilisation is None
    assert "not known" in unknown.reasons["mfma_pipe_utilisation"]


@pytest.mark.parametrize(
    ("isa", "width"),
    [
        ("global_load_ushort v0, v[2:3], off", 2),
        ("global_load_ubyte v0, v[2:3], off", 1),
        ("buffer_load_dwordx4 v[0:3], v4, s[0:3], 0 offen", 16),
        ("global_load_short_d16_hi v0, v[2:3], off", 2),
        ("global_load_b128 v[0:3], v[2:3], off", 16),
        ("global_load_u8 v0, v[2:3], off", 1),
        ("flat_load_dword v0, v[2:3]", 4),
        ("global_atomic_add v[2:3], v0, off", None),
        ("ds_read_b32 v0, v1", None),
    ],
)
def test_the_bytes_of_a_lane_are_in_the_mnemonic(isa: str, width: int | None) -> None:
    assert bytes_per_lane(isa) == width


def remarked(*isa: str) -> dict[int, tuple[str, ...]]:
    found = remarks(isa, [False] * len(isa), range(len(isa)))
    return {row: remark.kinds for row, remark in found.items()}


def test_neighbouring_pieces_are_uncoalesced_and_a_second_load_of_one_is_a_repeat() -> None:
    first = "global_load_dword v0, v[8:9], off"
    second = "global_load_dword v1, v[8:9], off offset:4"
    assert remarked(first, second) == {0: ("uncoalesced",), 1: ("uncoalesced",)}
    assert remarked(first, "global_load_dword v5, v[8:9], off") == {1: ("repeated",)}
    # The address changed in between, or memory may have: nothing is known.
    assert remarked(first, "v_add_u32_e32 v8, 64, v8", second) == {}
    assert remarked(first, "global_store_dword v[2:3], v7, off", first) == {}
    assert remarked("global_load_dwordx4 v[0:3], v[8:9], off") == {}
    narrow = [f"global_load_ushort v{n}, v[8:9], off offset:{2 * n}" for n in range(2)]
    assert remarked(*narrow) == {0: ("narrow", "uncoalesced"), 1: ("narrow", "uncoalesced")}


def test_a_thread_trace_belongs_to_its_kernel_and_says_so(tmp_path: Path) -> None:
    att = traced([NARROW, ("s_waitcnt vmcnt(0)", WAIT, 212, 4)], tmp_path)
    both = TraceBuilder().kernel("kernel()", mangled_name="_Z6kernelv")
    both.dispatch("other(float*)", 0, 900_000).dispatch("kernel()", 1, 9)
    found = documents(both.build(), att=[att])
    profile, analysis = found.profile, found.analysis
    assert profile.kernel is not None and profile.kernel.name == "other(float*)"
    assert profile.thread_trace is not None and profile.thread_trace.kernel == "kernel()"
    assert analysis is not None
    own = {k.kernel: k for k in analysis.kernels}
    assert own["kernel()"].thread_trace is not None
    assert own["kernel()"].bottleneck == "vector_memory_issue_bound"
    assert own["other(float*)"].thread_trace is None


def test_a_thread_trace_alone_is_analysed(tmp_path: Path) -> None:
    traced([NARROW, ("s_waitcnt vmcnt(0)", WAIT, 212, 4)], tmp_path)
    found = analyze_files([], att=[tmp_path])
    assert found.profile.kernel is not None and found.profile.kernel.name == "kernel()"
    assert found.profile.bottleneck is not None
    assert found.profile.bottleneck.bottleneck == "vector_memory_issue_bound"
    assert found.profile.runtime_ms is None and found.profile.reasons["runtime_ms"]
    assert found.thread_trace is not None and found.dag is None
