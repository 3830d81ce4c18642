"""Which traces belong to one run, which are repeats, which are counter passes; and merging."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from rocm_perf_lab.trace.merge import merge
from rocm_perf_lab.trace.recording import group
from rocm_perf_lab.trace.trace import Operators, Trace
from support.traces import TraceBuilder, check_trace


def run(
    start: int,
    *,
    pid: int = 1,
    parent: int = 1,
    command: str = "./app",
    machine: str = "m",
    counters: bool = False,
    kernel: str = "k",
) -> Trace:
    """A process that runs for 100 ns from `start` on."""
    values = {"SQ_WAVES": [1.0, 2.0]} if counters else None
    trace = (
        TraceBuilder(pid=pid, command=command, machine_id=machine)
        .call("hipLaunchKernel", start, start + 5, correlation=1, stream=0)
        .dispatch(kernel, start + 10, start + 60, correlation=1, stream=3, counters=values)
        .copy("MEMORY_COPY_DEVICE_TO_HOST", start + 60, start + 100, size=8)
        .build(path=f"{pid}_{start}_results.db")
    )
    return replace(trace, processes=(replace(trace.processes[0], parent_pid=parent),))


def test_tables_without_a_process_are_passes_of_their_own_though_their_times_meet() -> None:
    """rocprof-compute runs the program again for each table."""
    tables = [
        replace(found, sources=(replace(found.sources[0], format="csv"),))
        for found in (run(0, pid=1, counters=True), run(50, pid=2, counters=True))
    ]
    assert len(group(tables).counter_passes) == 2


def test_counters_make_a_pass_and_everything_else_is_timed() -> None:
    recording = group([run(0), run(1000, counters=True), run(2000, counters=True)])
    assert len(recording.timing_runs) == 1
    assert len(recording.counter_passes) == 2
    assert recording.notes == ()


def test_disjoint_windows_of_one_command_are_repeats_in_order_of_time() -> None:
    recording = group([run(2000), run(0), run(1000)])
    assert [int(t.dispatches.start_ns[0]) for t in recording.timing_runs] == [10, 1010, 2010]


def test_overlapping_processes_of_one_machine_are_one_run() -> None:
    recording = group([run(0, pid=1), run(50, pid=2), run(1000, pid=3), run(1020, pid=4)])
    assert [len(t.processes) for t in recording.timing_runs] == [2, 2]


def test_children_of_one_script_are_one_run_and_a_note_says_so() -> None:
    recording = group([run(0, parent=9, command="./a"), run(1000, parent=9, command="./b")])
    assert len(recording.timing_runs) == 1
    assert "one after the other" in recording.notes[0]


def test_programs_that_one_shell_recorded_into_different_folders_are_different_runs() -> None:
    second = run(1000, parent=9, command="./b")
    source = replace(second.sources[0], path=Path("elsewhere") / second.sources[0].path)
    recording = group([run(0, parent=9, command="./a"), replace(second, sources=(source,))])
    assert len(recording.timing_runs) == 2


def test_different_programs_are_not_called_repeats() -> None:
    recording = group([run(0, command="./a"), run(1000, command="./b")])
    assert len(recording.timing_runs) == 2
    assert "not repeats" in recording.notes[0]


def test_ranks_on_several_machines_are_matched_run_by_run() -> None:
    traces = [run(1000 * i, machine=m, pid=i) for m in ("x", "y") for i in (1, 2)]
    recording = group(traces)
    assert [len(t.processes) for t in recording.timing_runs] == [2, 2]
    assert "clocks differ" in recording.notes[0]


def test_machines_that_do_not_match_stay_apart() -> None:
    recording = group([run(0, machine="x"), run(1000, machine="x"), run(0, machine="y")])
    assert len(recording.timing_runs) == 3
    assert "kept apart" in recording.notes[0]


def test_a_process_that_used_no_gpu_is_left_out() -> None:
    idle = TraceBuilder(pid=5).build(path="5_results.db")
    recording = group([run(0), idle])
    assert len(recording.timing_runs) == 1
    assert "5_results.db" in recording.notes[0]
    assert len(group([idle]).timing_runs) == 1


def test_merging_keeps_every_row_and_keeps_processes_apart() -> None:
    a, b = run(0, kernel="one"), run(30, pid=2, kernel="two", counters=True)
    both = merge([a, b])
    check_trace(both)
    assert len(both.dispatches) == len(both.copies) == len(both.regions) == 2
    assert [both.kernels[k].name for k in both.dispatches.kernel] == ["one", "two"]
    assert [both.processes[p].pid for p in both.dispatches.process] == [1, 2]
    for column in (both.dispatches.stream, both.dispatches.queue, both.dispatches.thread):
        assert len(set(column.tolist())) == 2
    assert np.isnan(both.counters["SQ_WAVES"].total[0])
    assert both.counters["SQ_WAVES"].total[1] == 3
    assert [s.path for s in both.sources] == [Path("1_0_results.db"), Path("2_30_results.db")]
    assert both.strings == a.strings


def test_merging_keeps_launches_with_their_operators() -> None:
    def one(name: str) -> Operators:
        row, times = np.zeros(1, np.int32), np.zeros(1, np.int64)
        return Operators((name,), row, times, row, times, times + 9, row, times + 1, row)

    both = merge(
        [
            replace(run(0), operators=one("aten::mm")),
            run(10, pid=2),
            replace(run(30, pid=3), operators=one("aten::add")),
        ]
    ).operators
    assert both is not None
    launched = both.name[both.launch_operator].tolist()
    assert [both.names[name] for name in launched] == ["aten::mm", "aten::add"]
    assert both.launch_process.tolist() == both.process.tolist() == [0, 2]


def test_merging_keeps_a_version_only_if_it_is_everybodys() -> None:
    old, new = (replace(run(0), rocm_version=version) for version in ("6.4", "7.0"))
    assert merge([old, old]).rocm_version == "6.4"
    assert merge([old, new]).rocm_version is None


def test_merging_one_changes_nothing_and_none_is_refused() -> None:
    trace = run(0)
    assert merge([trace]) is trace
    with pytest.raises(ValueError, match="at least one"):
        merge([])
