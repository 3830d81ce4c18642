"""What a thread trace as a whole says: states, occupancy, clock, emptiness, and its JSON."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings

from rocm_perf_lab.analyze.thread_trace import summarize
from rocm_perf_lab.analyze.thread_trace.residency import WaveDurations
from rocm_perf_lab.schema.common import DeviceInfo, Provenance, to_json
from rocm_perf_lab.schema.thread_trace import to_document, to_summary
from rocm_perf_lab.trace import att, att_writer
from rocm_perf_lab.trace.att_writer import CodeLine, Content
from support.att import code, contents, wave, written

PROVENANCE = Provenance(
    tool_version="0",
    command=["rocm-perf", "analyze"],
    started=None,
    host=None,
    device=DeviceInfo(kind="unknown", name=None, architecture="gfx942"),
    rocm=None,
    inputs=[],
)
LINES = code("v_add_f32 v0, v0, v0", "s_barrier", "s_endpgm")


def test_states_are_summed_and_a_simd_issues_when_any_of_its_waves_does(tmp_path: Path) -> None:
    steps = [[0, 6, 0, 4, 1]]
    waves = [
        wave(steps, end=100, timeline=[[2, 40], [3, 60]]),
        wave(steps, end=100, timeline=[[3, 20], [2, 40], [4, 40]], slot=1),
        wave(steps, begin=50, end=100, timeline=[[1, 10], [2, 10], [3, 30]], simd=1),
    ]
    finding = summarize(written(Content(LINES, waves), tmp_path))
    assert finding.state_cycles == {"EMPTY": 0, "IDLE": 10, "EXEC": 90, "WAIT": 110, "STALL": 40}
    assert finding.fractions is not None
    assert finding.fractions.exec_state == pytest.approx(90 / 250)
    assert finding.issue_utilisation == pytest.approx((60 + 10) / (100 + 50))
    assert finding.valu_issue_utilisation == pytest.approx(12 / 150)
    assert finding.waves == WaveDurations(3, 250, 50, 100, 250 / 3, 100)


def test_occupancy_counts_every_compute_unit_of_the_engine(tmp_path: Path) -> None:
    events = [
        [0, 0, 0, 0, 1, 1],
        [0, 0, 0, 1, 1, 1],
        [0, 5, 2, 0, 1, 1],
        [50, 0, 0, 1, 0, 1],
        [50, 0, 0, 1, 1, 1],  # the slot is taken again at once
        [60, 9, 3, 0, 0, 1],  # began before the trace
        [100, 0, 0, 0, 0, 1],
        [100, 0, 0, 1, 0, 1],
        # CU 5's wave never ends in the trace
    ]
    finding = summarize(written(Content(LINES, [], occupancy={3: events}), tmp_path))
    (engine,) = finding.occupancy
    assert (engine.se, engine.waves_started, engine.simds_seen) == (3, 4, 2)
    assert engine.mean_waves == pytest.approx(3.0)
    assert (engine.peak_waves, engine.peak_waves_per_simd) == (3, 2)
    assert finding.mean_waves_per_simd == pytest.approx(1.5)
    assert {waves for _, waves in engine.curve} == {3.0}


def test_the_clock_is_shader_ticks_per_constant_ticks(tmp_path: Path) -> None:
    content = Content(LINES, [], realtime={0: [[6216, 1000], [226312, 11344]]})
    assert summarize(written(content, tmp_path)).shader_mhz == pytest.approx(2127.76, abs=0.01)


def test_barriers_delays_and_issue_stalls_are_told_apart(tmp_path: Path) -> None:
    lines = code("v_add_f32 v0, v0, v0", "s_barrier", "s_nop 1", "v_mfma_f32_4x4x1f32 a0, v0, v1")
    steps = [[0, 6, 16, 20, 1], [20, 9, 40, 40, 2], [60, 9, 8, 8, 3], [68, 6, 12, 16, 4]]
    finding = summarize(written(Content(lines, [wave(steps, end=100)]), tmp_path))
    spent = finding.fractions
    assert spent is not None
    assert (spent.stall_valu, spent.barrier, spent.delay, spent.stall_mfma) == pytest.approx(
        (0.16, 0.40, 0.08, 0.12)
    )
    assert [site.reason for site in finding.stall_sites] == [
        "barrier",
        "issue stall",
        "issue stall",
        "delay",
    ]


def test_lines_belong_to_the_kernel_whose_label_precedes_them(tmp_path: Path) -> None:
    lines = [
        CodeLine("; _Z1av", "a()", 1, 0),
        CodeLine("s_endpgm", "", 1, 0),
        CodeLine("; b", "", 2, 64),
        CodeLine("s_endpgm", "x.h:3 -> y.cpp:9", 2, 64),
    ]
    content = Content(lines, [wave([[0, 11, 0, 7, 3]])])
    finding = summarize(written(content, tmp_path))
    assert [(k.name, k.hit) for k in finding.kernels] == [("a()", 0), ("b", 1)]
    assert finding.lines.kernel.tolist() == [0, 1]
    assert [(s.name, s.latency) for s in finding.source_lines] == [("x.h:3", 7)]


class TestEmptiness:
    def test_no_wave_hit_the_traced_unit(self, tmp_path: Path) -> None:
        finding = summarize(written(Content([], []), tmp_path))
        assert not finding.usable
        assert finding.reason is not None and "no wave of the kernel ran" in finding.reason
        assert finding.hint is not None and "--att-target-cu" in finding.hint
        assert finding.fractions is None
        assert finding.reasons["fractions"] == "no wave with instructions could be read"

    def test_disassembly_without_a_hit_is_as_empty(self, tmp_path: Path) -> None:
        assert not summarize(written(Content(LINES, []), tmp_path)).usable

    def test_no_wave_file_came_along(self, tmp_path: Path) -> None:
        content = Content(LINES, [wave([[0, 6, 0, 4, 1]])])
        folder = att_writer.write(content, tmp_path, agent_handle=1, dispatch_id=1)
        (folder / "se0_sm0_sl0_wv0.json").unlink()
        finding = summarize(att.read(folder))
        # The profiler's own sums are still there, and are shown as such.
        assert (finding.usable, finding.sums_from) == (True, "profiler")
        assert finding.lines.sums.hit.tolist() == [1, 0, 0]

    def test_instructions_of_other_code(self, tmp_path: Path) -> None:
        content = Content(LINES, [wave([[0, 6, 0, 4, 0]])])
        finding = summarize(written(content, tmp_path))
        assert finding.reason is not None and "match no line" in finding.reason

    def test_pc_samples_are_not_a_thread_trace(self, tmp_path: Path) -> None:
        folder = att_writer.write(Content(LINES, []), tmp_path, agent_handle=1, dispatch_id=1)
        path = folder / "filenames.json"
        path.write_text(json.dumps({**json.loads(path.read_text()), "thread_trace": False}))
        assert "PC samples" in (summarize(att.read(folder)).reason or "")


@settings(max_examples=40, deadline=None)
@given(content=contents())
def test_any_finding_is_a_document_and_twice_the_same(
    content: Content, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = att_writer.write(
        content, tmp_path_factory.mktemp("att"), agent_handle=5600, dispatch_id=1
    )
    first, second = (
        to_json(to_document([summarize(att.read(folder))], PROVENANCE)) for _ in range(2)
    )
    assert first == second
    (trace,) = json.loads(first)["traces"]
    nulls = {name for name, value in trace.items() if value is None}
    nulls -= {"reason", "hint", "modelled_error"}  # none of them is a number that is not known
    assert nulls == trace["reasons"].keys()
    to_summary(summarize(att.read(folder)))
