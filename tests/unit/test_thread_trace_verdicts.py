"""A thread trace without counters is enough for a verdict, and says what counters would add."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from rocm_perf_lab.analyze.thread_trace import ThreadTraceFinding
from rocm_perf_lab.analyze.thread_trace.accesses import bytes_per_lane, remarks
from rocm_perf_lab.analyze.traced_dispatch import traced_dispatch, usual_call
from rocm_perf_lab.errors import BadInput
from rocm_perf_lab.report.thread_trace import sentences
from rocm_perf_lab.schema.profile import BottleneckSummary
from rocm_perf_lab.schema.thread_trace import to_summary
from rocm_perf_lab.trace import att as att_reader
from rocm_perf_lab.trace.rocpd_writer import Dispatch, RocpdWriter
from rocm_perf_lab.workflow import analyze_files
from rocm_perf_lab.workflow.trace_owners import Owners, by_kernel
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
    one = remarks(["global_load_ushort v0, v[8:9], off"], [False], [0])
    assert one[0].text == "2 bytes a lane: 8 fit one load"


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


# --- whose trace it is -----------------------------------------------------------------------


def owners(att: list[ThreadTraceFinding], *kernels: str, **facts: object) -> Owners:
    builder = TraceBuilder()
    for number, name in enumerate(kernels):
        builder.kernel(name, **facts).dispatch(name, 1000 * number, 1000 * number + 500)
    return by_kernel(att, builder.build())


def test_a_trace_of_another_kernel_is_refused_with_both_names(tmp_path: Path) -> None:
    """Dispatch 1 of this run is gemm; the trace numbered 1 is of another program's kernel()."""
    att = traced([NARROW, ("s_waitcnt vmcnt(0)", WAIT, 212, 4)], tmp_path)
    found = owners([att], "gemm(float*)")
    assert not found.named and not found.by_name
    assert (
        "a thread trace of kernel(), and dispatch 1 of this recording is gemm(float*)"
        in (found.refused[0])
    )
    others = documents(TraceBuilder().dispatch("gemm(float*)", 0, 500).build(), att=[att])
    assert others.profile.thread_trace is None
    assert any("is refused" in note and "gemm(float*)" in note for note in others.profile.notes)
    assert others.analysis is not None and others.analysis.kernels[0].thread_trace is None


def test_a_trace_asked_for_that_is_of_another_kernel_is_bad_input(tmp_path: Path) -> None:
    traced([NARROW, ("s_waitcnt vmcnt(0)", WAIT, 212, 4)], tmp_path / "att")
    database = tmp_path / "1_results.db"
    with RocpdWriter(database, guid="00000000-0000-0000-0000-000000000001") as db:
        db.process(pid=7, command="./app", hostname="node")
        db.agent(4, "GPU", "gfx942", product="AMD Instinct MI300X")
        db.code_object(1, 4)
        db.kernel(1, "gemm", arch_vgprs=32)
        db.dispatches(Dispatch(1, 4, 1000 * i, 1000 * i + 500) for i in range(4))
    with pytest.raises(BadInput, match=r"kernel\(\), and dispatch 1 of this recording is gemm"):
        analyze_files([database], att=[tmp_path / "att"])


def test_a_trace_on_another_architecture_is_refused(tmp_path: Path) -> None:
    att = replace(traced([NARROW], tmp_path), gfxip=11)
    assert "on gfx11, and this recording is of gfx942" in owners([att], "kernel()").refused[0]


@pytest.mark.parametrize("name", ["kernel()", "_Z6kernelv.kd", "void kernel()", "kernel"])
def test_a_trace_is_its_kernels_however_the_name_is_spelt(name: str, tmp_path: Path) -> None:
    att = traced([NARROW], tmp_path)
    assert list(owners([att], "other", name).by_name) == [name]


def test_of_two_traces_the_one_of_the_usual_call_stands_for_the_kernel(tmp_path: Path) -> None:
    first = traced([NARROW], tmp_path / "a", dispatch_id=1)
    usual = traced([NARROW], tmp_path / "b", dispatch_id=3)
    calls = run(us=[761.0, 4.0, 4.1, 4.0]).build()
    for order in ([first, usual], [usual, first]):
        assert by_kernel(order, calls).by_name["kernel()"].dispatch_id == 3


def test_the_process_and_the_agent_tell_which_dispatch_was_traced(tmp_path: Path) -> None:
    att = traced([NARROW], tmp_path, dispatch_id=2)
    calls = run(us=[5.0, 4.0, 4.0]).build()
    found = traced_dispatch(calls, "kernel()", att)
    assert found is not None and (found.place, found.calls, found.duration_ns) == (2, 3, 4000)
    for stranger in (replace(att, process_ids=(101,)), replace(att, agent_handle=77)):
        found = traced_dispatch(calls, "kernel()", stranger)
        assert found is not None and found.place is None and found.duration_ns is None


def test_the_raw_trace_beside_a_folder_names_its_process(tmp_path: Path) -> None:
    traced([NARROW], tmp_path, dispatch_id=3)
    (tmp_path / "node").mkdir()
    for name in ("4711_5600_shader_engine_0_3.att", "4712_5600_shader_engine_0_9.att"):
        (tmp_path / "node" / name).touch()
    assert att_reader.find(tmp_path)[0].process_ids == (4711,)


@pytest.mark.parametrize(
    ("us", "launch"),
    [
        ([9.0, 4.0, 4.0, 4.1], 2),  # not the first, which is longer
        ([4.0, 4.0, 4.0], 2),  # nor where it is as long
        ([4.0], 1),
        ([4.0, 761.0, 900.0, 4.0, 5.0], 5),
        ([4.0, 9.0], 2),
    ],
)
def test_a_usual_call_is_the_one_to_trace(us: list[float], launch: int) -> None:
    assert usual_call(run(us=us).build(), "kernel()") == launch
    assert usual_call(run(us=us).build(), "another()") is None
