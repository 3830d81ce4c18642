"""The same recording given twice counts once; different programs are not averaged."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from rocm_perf_lab.analyze.programs import one_program
from rocm_perf_lab.errors import BadInput
from rocm_perf_lab.trace.recording import group
from rocm_perf_lab.trace.rocpd_writer import Dispatch, RocpdWriter
from rocm_perf_lab.trace.trace import Trace
from rocm_perf_lab.workflow import analyze_files
from support.traces import TraceBuilder


def trace(name: str = "k", command: str = "./app", at: int = 0, pid: int = 7) -> TraceBuilder:
    builder = TraceBuilder(command=command, pid=pid)
    for i in range(4):
        builder.dispatch(name, at + 1000 * i, at + 1000 * i + 500)
    return builder


def test_the_same_dispatches_in_two_files_are_counted_once_with_a_note() -> None:
    recording = group([trace().build("a_results.db"), trace().build("copy.db")])
    assert len(recording.timing_runs) == 1
    assert any("same dispatches" in note for note in recording.notes)


def test_a_plain_trace_of_a_counted_run_is_no_timing_run() -> None:
    counted = TraceBuilder(pid=7)
    for i in range(4):
        counted.dispatch("k", 1000 * i, 1000 * i + 500, counters={"SQ_WAVES": 4.0})
    recording = group([trace().build("kernel_trace.csv"), counted.build("counters.csv")])
    assert not recording.timing_runs and len(recording.counter_passes) == 1
    assert any("no timing run's" in note for note in recording.notes)


def test_another_process_and_another_machine_are_others() -> None:
    assert len(group([trace(pid=1).build(), trace(pid=2).build()]).timing_runs[0].dispatches) == 8
    other = replace(trace(), machine_id="elsewhere")
    assert group([trace().build(), other.build()]).notes[-1].startswith("Traces of 2 machines")


def test_dispatch_rows_doubled_inside_a_database_are_counted_once() -> None:
    builder = trace()
    rows = [dict(row) for row in builder._dispatches]
    builder._dispatches += rows
    found = builder.build()
    assert len(found.dispatches) == 4
    assert found.notes == ("4 dispatches are recorded twice; each is counted once.",)


@pytest.mark.parametrize("how", ["copy", "link"])
def test_a_copy_and_a_link_of_a_database_change_nothing(how: str, tmp_path: Path) -> None:
    first, second = tmp_path / "1_results.db", tmp_path / "2_results.db"
    with RocpdWriter(first, guid="00000000-0000-0000-0000-000000000001") as db:
        db.process(pid=7, command="./app", hostname="node")
        db.agent(4, "GPU", "gfx942", product="AMD Instinct MI300X")
        db.code_object(1, 4)
        db.kernel(1, "k", arch_vgprs=32)
        db.dispatches(Dispatch(1, 4, 1000 * i, 1000 * i + 500) for i in range(4))
    if how == "copy":
        second.write_bytes(first.read_bytes())
    else:
        second.symlink_to(first)
    found = analyze_files([first, second]).profile
    assert found.kernels[0].dispatches == 4
    assert found.stability is not None and found.stability.runs == 1
    if how == "copy":
        assert any("same content" in note for note in found.notes)


def test_recordings_of_different_programs_are_refused_by_name() -> None:
    runs = [trace("a", "./one").build("x.db"), trace("b", "./two", at=10**6).build("y.db")]
    with pytest.raises(BadInput, match=r"2 different programs: one \(x.db\); two \(y.db\)"):
        one_program(runs)


def test_one_program_with_other_arguments_is_one_program() -> None:
    one_program([trace("a", "./one 1").build(), trace("a", "./one 2", at=10**6).build()])


FILL = "__amd_rocclr_fillBufferAligned"


def mixed(kernels: dict[str, int], command: str, at: int = 0, **counters: float) -> Trace:
    """Each kernel once, for so many us."""
    made = TraceBuilder(command=command, pid=at + 1)
    now = at
    for name, us in kernels.items():
        made.dispatch(name, now, now + us * 1000, counters=counters or None)
        now += us * 1000
    return made.build(f"{at}.db")


@pytest.mark.parametrize("command", ["./two", "./one"])
def test_programs_that_share_only_the_runtimes_kernels_are_different(command: str) -> None:
    """Whatever their command lines: an average of two kernels is nobody's time."""
    runs = [mixed({"a": 50, FILL: 50}, "./one"), mixed({"b": 50, FILL: 50}, command, at=10**9)]
    with pytest.raises(BadInput, match="2 different programs"):
        one_program(runs)


def test_programs_are_compared_by_the_time_in_what_they_share() -> None:
    same = {"gemm": 900, "norm": 50, "x": 50}
    one_program([mixed(same, "./one"), mixed({"gemm": 800, "y": 50, "z": 50}, "./two", at=10**9)])
    with pytest.raises(BadInput, match="2 different programs"):
        one_program([mixed(same, "./one"), mixed({"norm": 50, "other": 900}, "./two", at=10**9)])


def test_of_one_command_a_library_may_choose_other_kernels() -> None:
    one_program([mixed({"a": 9, "b": 1}, "./one"), mixed({"c": 9, "b": 1}, "./one", at=10**9)])


def test_counter_passes_of_another_program_are_refused_and_of_few_kernels_are_not() -> None:
    run = mixed({"a": 90, "b": 10}, "./one")
    one_program([run], [mixed({"b": 30}, "./profiled", at=10**9, SQ_WAVES=1.0)])
    with pytest.raises(BadInput, match="2 different programs"):
        one_program([run], [mixed({"c": 30}, "./other", at=10**9, SQ_WAVES=1.0)])


def test_runs_of_the_runtimes_kernels_alone_are_compared_by_those() -> None:
    one_program([mixed({FILL: 5}, "./one"), mixed({FILL: 6}, "./two", at=10**9)])
