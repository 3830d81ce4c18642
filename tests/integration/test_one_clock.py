"""One clock: what a program's events say is what a recording of it shows, to the nanosecond."""

from __future__ import annotations

import dataclasses
import itertools
import os
import re
import subprocess
from pathlib import Path

import pytest

from rocm_perf_lab.validate import times
from rocm_perf_lab.validate.costs import costs
from rocm_perf_lab.virtual import native
from support.hip_build import REPOSITORY, hipcc
from support.native_build import programs as native_programs
from support.virtual_profile import databases, need_profiler, query, standin

PROGRAMS = REPOSITORY / "tests" / "native" / "hip"
TWO = "virtual:mi300x*2"
TRACES = ("--kernel-trace", "--hip-trace", "--memory-copy-trace", "--memory-allocation-trace")

WITHIN = (1 << 20) - 3  # the size of the copy within a device

Span = tuple[int, int]


@dataclasses.dataclass(frozen=True)
class Recorded:
    told: list[list[str]]  # lines of the program, as words
    path: Path
    kernels: dict[int, Span]  # by the number in their names
    copies: dict[int, Span]  # by size
    fills: dict[int, Span]  # by workgroups


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    need_profiler()
    target = tmp_path_factory.mktemp("clock") / "one_clock"
    hipcc("-O2", "-I", PROGRAMS, PROGRAMS / "one_clock.hip", "-o", target)
    return target


def record(program: Path, out: Path, *more: str, **variables: str) -> Recorded:
    env = {"ROCM_PERF_DEVICE": TWO, "ROCM_PERF_REPRODUCIBLE": "1", **variables}
    words: tuple[str | Path, ...] = (*TRACES, *more, "-d", out, "-o", "x", "--", program)
    done = standin(*words, cwd=program.parent, env=env)
    (path,) = databases(out)
    rows = query(path, "SELECT name, grid_x / workgroup_x, start, end FROM kernels")
    named = [(re.match(r"void work<(\d+)>", name), groups, a, b) for name, groups, a, b in rows]
    copies = query(path, "SELECT size, start, end FROM memory_copies")
    return Recorded(
        told=[line.split() for line in done.stdout.splitlines()],
        path=path,
        kernels={int(found[1]): (a, b) for found, _, a, b in named if found},
        copies={size: (a, b) for size, a, b in copies},
        fills={groups: (a, b) for found, groups, a, b in named if not found},
    )


@pytest.fixture(scope="module")
def recorded(program: Path, tmp_path_factory: pytest.TempPathFactory) -> Recorded:
    return record(program, tmp_path_factory.mktemp("recorded"))


def test_events_and_the_recording_agree_to_the_nanosecond(recorded: Recorded) -> None:
    _, origin = recorded.kernels[0]
    kinds = {"kernel": recorded.kernels, "copy": recorded.copies, "fill": recorded.fills}
    # An event behind an engine's copy is told when the queue has heard of that.
    later = {"kernel": 0, "copy": costs()["signal_ns"], "fill": 0}
    assert len(recorded.told) > 20
    for words in recorded.told:
        if words[0] == "kernel":
            start, end = recorded.kernels[int(words[1])]
            assert [start - origin, end - origin] == [int(word) for word in words[2:]], words
        else:
            _, kind, number, told = words
            _, end = kinds[kind][int(number)]
            signal = 0 if int(number) == WITHIN else later[kind]
            assert end - origin + signal == int(told), words


def test_everything_that_was_done_has_a_row(recorded: Recorded) -> None:
    assert sorted(recorded.kernels) == list(range(14))
    assert sorted(recorded.fills) == [3, 5, 7], "that of the graph too"
    pinned = [(1 << 20) - i for i in range(1, 7)]
    assert sorted(recorded.copies) == sorted([*pinned, 100000, 54321, 77777, 66666])


def test_streams_events_and_graphs_are_in_order(recorded: Recorded) -> None:
    k = recorded.kernels
    assert k[1][0] >= k[0][1], "a stream runs in order"
    assert k[2][0] < k[1][1], "streams overlap where there is room"
    assert k[4][0] >= k[3][1], "what fills the device shares it with nothing"
    assert k[5][0] >= k[4][1] + costs()["signal_ns"], "an event orders two streams"
    assert k[6][0] >= max(k[1][1], k[5][1]), "the null stream waits for blocking ones"
    assert k[7][0] >= k[6][1], "and they for it"
    assert k[10][0] < k[9][1], "branches of a graph overlap"
    joined = max(k[10][1], recorded.fills[5][1], recorded.copies[54321][1])
    assert k[11][0] >= joined, "and come together again"
    assert k[8][0] == recorded.copies[100000][1] + costs()["signal_ns"]
    # A device's room and engines are its own.
    assert k[13][0] >= k[12][1], "a blocking stream waits for its device's null stream"
    assert recorded.copies[77777][0] >= k[13][1]


def test_copies_take_their_bytes(recorded: Recorded) -> None:
    def took(size: int) -> int:
        start, end = recorded.copies[size]
        return end - start

    megabyte = 1 << 20
    for size in (megabyte - 1, megabyte - 4, 100000, 54321):
        assert took(size) == costs().copy_ns("H2D", size)
    assert took(megabyte - 2) == costs().copy_ns("D2H", megabyte - 2)
    assert took(WITHIN) == costs().copy_ns("D2D", WITHIN)
    assert took(77777) == costs().copy_ns("H2D", 77777), "between devices over the bus"
    first, second = recorded.copies[megabyte - 1], recorded.copies[megabyte - 4]
    assert second[0] >= first[1] or first[0] >= second[1], "one engine for each way"


def calls(path: Path) -> list[tuple[str, int, int, int]]:
    return query(path, "SELECT name, tid, start, end FROM regions ORDER BY start, end")


def test_calls_follow_each_other_and_work_follows_its_call(recorded: Recorded) -> None:
    rows = calls(recorded.path)
    assert len({tid for _, tid, _, _ in rows}) == 1
    assert all(a[3] <= b[2] for a, b in itertools.pairwise(rows))
    early = """SELECT count(*) FROM kernels k JOIN regions r ON r.stack_id = k.stack_id
               WHERE k.start < r.start"""
    assert query(recorded.path, early) == [(0,)]


def test_a_call_takes_what_the_table_says_and_its_tracer(recorded: Recorded) -> None:
    took: dict[str, set[int]] = {}
    for name, _, start, end in calls(recorded.path):
        took.setdefault(name, set()).add(end - start)
    listed = costs().calls
    for name in ("hipMalloc", "hipHostMalloc", "hipEventRecord", "hipStreamWaitEvent"):
        assert took[name] == {listed[name]}, name
    assert took["hipEventCreate"] == {costs()["call_ns"]}
    tracer = costs()["tracer_ns"]
    assert took["hipExtLaunchKernel"] == {listed["hipExtLaunchKernel"] + tracer}
    # What is captured submits nothing, so there is nothing to trace.
    assert took["hipMemsetAsync"] == {listed["hipMemsetAsync"], listed["hipMemsetAsync"] + tracer}
    # 3 kernels, a fill and a copy.
    assert took["hipGraphLaunch"] == {listed["hipGraphLaunch"] + 5 * tracer}


def test_a_synchronisation_returns_when_the_work_was_heard_of(recorded: Recorded) -> None:
    ended = [end for name, _, _, end in calls(recorded.path) if name == "hipDeviceSynchronize"]
    event = recorded.copies[66666][1] + costs()["signal_ns"]
    assert event + costs()["wake_up_ns"] in ended


def test_while_counters_are_collected_dispatches_do_not_overlap(
    program: Path, tmp_path: Path
) -> None:
    alone = record(program, tmp_path, "--pmc", "SQ_WAVES")
    spans = sorted(span for n, span in alone.kernels.items() if n < 12)
    assert all(a[1] <= b[0] for a, b in itertools.pairwise(spans))


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_held_up_threads_change_no_time(
    program: Path, recorded: Recorded, tmp_path: Path, seed: int
) -> None:
    delays = next(native_programs().parent.rglob("libdelays.so"))
    again = record(program, tmp_path, LD_PRELOAD=str(delays), DELAYS_SEED=str(seed))
    assert dataclasses.replace(again, path=recorded.path) == recorded
    assert calls(again.path) == calls(recorded.path)


def test_without_a_tracer_work_takes_as_long(program: Path, recorded: Recorded) -> None:
    """Where only the host is slower, dispatches are the same, and so is what follows them."""
    variables = native.environment(TWO, os.environ) | {"ROCM_PERF_VIRTUAL_TIMING": "model"}
    done = subprocess.run(
        [program], env=variables, capture_output=True, text=True, timeout=300, check=True
    )
    for line, words in zip(done.stdout.splitlines(), recorded.told, strict=True):
        plain = line.split()
        assert plain[:2] == words[:2]
        if plain[0] == "kernel":
            assert int(plain[3]) - int(plain[2]) == int(words[3]) - int(words[2])


def test_what_validate_takes_events_to_show_is_what_they_show(tmp_path: Path) -> None:
    need_profiler()
    target = tmp_path / "around"
    hipcc("-O2", "-I", PROGRAMS, PROGRAMS / "modelled_around.hip", "-o", target)
    device = "virtual:mi300a"
    variables = native.environment(device, os.environ) | {"ROCM_PERF_VIRTUAL_TIMING": "model"}
    done = subprocess.run(
        [target], env=variables, capture_output=True, text=True, timeout=300, check=True
    )
    rows = [line.split() for line in done.stdout.splitlines()]
    told = {(name, int(size)): int(shown) for name, size, shown in rows}
    kernel_us = told.pop(("kernel", 0)) / 1000
    set_up = 2 * costs().calls["__hipPushCallConfiguration"]  # the least a call can take
    for (name, size), shown in told.items():
        if name.startswith("memcopy"):
            taken = times.copied(times.Row(name, f"{size}MB", 1), costs(device)).modelled_us
        else:
            program = "floydwarshall" if name == "sweep" else "fir"
            taken = times.by_events(
                times.Row(program, f"{size}_nodes", 1), kernel_us, costs(device)
            )
        slack = 2 + set_up * max(size, 1) if name in ("one", "sweep") else 2
        assert shown == pytest.approx(1000 * taken, abs=slack), (name, size)
