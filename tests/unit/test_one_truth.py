"""A fact that stands in more than one document is the same in all of them, and so is its reason."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from rocm_perf_lab.analyze.thread_trace import summarize
from rocm_perf_lab.schema.roofline import RooflineKernel
from rocm_perf_lab.trace.att_writer import Content
from rocm_perf_lab.workflow import Documents, analyze_files
from support.analysis import documents
from support.att import code, wave, written
from support.recorded_data import recorded
from support.traces import MI300X, TraceBuilder
from support.vcopy import passes

US = 1_000
COUNTERS = {
    "SQ_WAVES": 1024.0,
    "GRBM_GUI_ACTIVE": 84_000.0,
    "SQ_WAIT_ANY": 700.0,
    "SQ_WAVE_CYCLES": 1000.0,
}


def trace(virtual: bool = False, host: bool = True, counters: bool = False) -> TraceBuilder:
    builder = TraceBuilder(virtual=virtual)
    builder.kernel("gemm", arch_vgprs=128, accum_vgprs=128, total_vgprs=256)
    for i in range(12):
        at = i * 100 * US
        if host:
            builder.call("hipLaunchKernel", at, at + 2 * US, correlation=i, stream=0)
        builder.dispatch(
            "gemm" if i % 3 else "__amd_rocclr_fillBufferAligned",
            at + 5 * US,
            at + (40 + i) * US,
            correlation=i if host else -1,
            counters=COUNTERS if counters else None,
        )
    return builder


def with_att(folder: Path) -> Documents:
    lines = code("global_load_ushort v0, v[2:3], off", "s_waitcnt vmcnt(0)")
    waves = [wave([[0, 3, 900, 904, 1], [904, 9, 100, 104, 2]])]
    att = summarize(written(Content(code=lines, waves=waves), folder))
    return documents(trace().build(), att=[replace(att, kernel="gemm")])


INPUTS: dict[str, Callable[[Path], Documents]] = {
    "timing run": lambda _: documents(trace().build()),
    "device only": lambda _: documents(trace(host=False).build()),
    "several runs": lambda _: documents(*(replace(trace(), pid=i).build() for i in range(3))),
    "counters only": lambda _: documents(trace(counters=True).build()),
    "timing and counters": lambda _: documents(
        replace(trace(), pid=1).build(), replace(trace(counters=True), pid=2).build()
    ),
    "virtual": lambda _: documents(trace(virtual=True).build()),
    "unknown GPU": lambda _: documents(
        replace(trace(), agent=replace(MI300X, architecture="gfx99", properties={})).build()
    ),
    "only helpers": lambda _: documents(
        TraceBuilder().dispatch("__amd_rocclr_copyBuffer", 0, 10 * US).build()
    ),
    "no launch size": lambda _: documents(
        TraceBuilder().dispatch("k", 0, 10 * US, grid=(-1, -1, -1), workgroup=(-1, -1, -1)).build()
    ),
    "thread trace": with_att,
    "vcopy counters": lambda _: documents(*passes("MI300X_A1_rocpd")),
    "kineto": lambda _: analyze_files([recorded("trace/mi300_bert_small_kineto.json.gz")]),
    "kineto, device only": lambda _: analyze_files(
        [recorded("trace/mi210_gpu_only_kineto.json.gz")]
    ),
}


@pytest.fixture(params=INPUTS)
def found(request: pytest.FixtureRequest, tmp_path: Path) -> Documents:
    return INPUTS[request.param](tmp_path)


def test_profile_and_analysis_say_the_same_of_every_kernel(found: Documents) -> None:
    assert found.analysis is not None
    shown = {k.kernel.name: k for k in found.profile.kernels}
    assert {k.kernel for k in found.analysis.kernels} <= shown.keys()
    for judged in found.analysis.kernels:
        k = shown[judged.kernel]
        assert (judged.dispatches, judged.time_ms) == (k.dispatches, k.total_ms)
        assert (judged.grid, judged.block) == (k.kernel.grid, k.kernel.block)
        assert judged.kind == k.kind
        b = k.bottleneck
        assert (judged.bottleneck, judged.confidence) == (b.bottleneck, b.confidence)
        assert (judged.next_steps, judged.missing) == (b.next_steps, b.missing)
        told = [e.text for e in judged.evidence if e.holds] if judged.rule else []
        assert [*told, *judged.remarks] == b.evidence
        assert judged.occupancy == k.occupancy
        assert judged.occupancy_theoretical == k.occupancy.theoretical
        assert judged.reasons.get("occupancy_theoretical") == k.occupancy.reason
        assert judged.roofline_position == k.roofline.roofline_position
        assert judged.reasons.get("roofline_position") == k.roofline.reason
        assert judged.fraction_of_roof == k.roofline.fraction_of_roof
        assert judged.operational_intensity == k.roofline.operational_intensity
        assert judged.critical_path_score == k.critical_path.critical_path_score
        if judged.critical_path_score is None:
            assert judged.reasons["critical_path_score"] == k.critical_path.reason


def test_the_critical_path_is_the_same_in_all_documents(found: Documents) -> None:
    assert found.dag is not None
    graph = {k.name: k for k in found.dag.kernels if not k.is_copy}
    for k in found.profile.kernels:
        score = k.critical_path.critical_path_score
        if found.dag.scope == "serialised":
            assert (
                score is None and k.critical_path.reason == found.dag.reasons["critical_path_score"]
            )
            continue
        own = graph[k.kernel.name]
        assert (score, k.critical_path.slack_ns) == (own.critical_path_score, own.slack_ns)
        assert k.critical_path.drag_ns == own.drag_ns
    timeline, where = found.profile.timeline, found.profile.where_the_time_goes
    if found.dag.scope == "serialised":
        why = found.dag.reasons["makespan_ns"]
        assert timeline is None and where is None and found.dag.makespan_ns is None
        assert found.profile.reasons["timeline"] == why
        assert found.profile.reasons["where_the_time_goes"] == why
        return
    assert timeline is not None and where is not None
    assert found.dag.makespan_ns is not None
    assert timeline.makespan_ms == where.makespan_ms == found.dag.makespan_ns / 1e6
    assert sum(p.share or 0 for p in where.parts) == pytest.approx(1)


def test_roofline_and_profile_say_the_same(found: Documents) -> None:
    assert found.roofline is not None
    first: dict[str, RooflineKernel] = {}
    for roof in found.roofline.kernels:
        first.setdefault(roof.kernel, roof)
    for k in found.profile.kernels:
        roof = first[k.kernel.name]
        r = k.roofline
        assert r.fraction_of_roof == roof.fraction_of_roof
        assert (r.compute_roof_gflops, r.compute_roof_type) == (
            roof.compute_roof_gflops,
            roof.compute_roof_type,
        )
        assert r.reason == roof.reasons.get("roofline_position")
        if k.kernel == found.profile.kernel:
            assert found.profile.metrics == roof.metrics_table


def test_the_dominant_kernels_facts_stand_once(found: Documents) -> None:
    profile = found.profile
    dominant = next(k for k in profile.kernels if k.kernel == profile.kernel)
    assert profile.resources == dominant.resources
    assert profile.occupancy == dominant.occupancy
    assert profile.roofline == dominant.roofline
    assert profile.critical_path == dominant.critical_path
    assert profile.bottleneck == dominant.bottleneck
    assert sum(k.share or 0 for k in profile.kernels) == pytest.approx(1)


def test_every_document_has_the_same_provenance(found: Documents) -> None:
    assert len({str(d.provenance) for d in found.files().values()}) == 1


def test_no_null_is_without_a_reason(found: Documents) -> None:
    """Wherever a value is null, the reason stands beside it."""
    for k in found.profile.kernels:
        assert k.occupancy.theoretical is not None or k.occupancy.reason
        assert k.roofline.roofline_position is not None or k.roofline.reason
        assert k.critical_path.critical_path_score is not None or k.critical_path.reason
        assert k.kernel.grid is not None or k.reasons["grid"]
    p = found.profile
    assert p.timeline is not None or p.reasons["timeline"]
    assert p.where_the_time_goes is not None or p.reasons["where_the_time_goes"]
    interval = p.stability.ci95_ms if p.stability else None
    assert interval is None or interval[0] >= 0
