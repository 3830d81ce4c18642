"""What limits a run, held to twins of recorded cases that were once judged wrongly."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from rocm_perf_lab.schema.profile import PartOfRun, WhereTheTimeGoes
from rocm_perf_lab.workflow import analyze_files
from support.analysis import documents
from support.traces import TraceBuilder

US, MS = 1_000, 1_000_000
FILL = "__amd_rocclr_fillBufferAligned"


def where(trace: TraceBuilder) -> WhereTheTimeGoes:
    found = documents(trace.build()).profile.where_the_time_goes
    assert found is not None
    return found


def share(found: PartOfRun, name: str) -> float | None:
    return next(p.share for p in found.parts if p.name == name)


class Host(TraceBuilder):
    """A program as its one thread runs it: each step begins where the last one returned."""

    now = 0
    number = 0
    free = 0  # when the device is

    def work(self, ns: int) -> Host:
        self.now += ns
        return self

    def launch(self, kernel: str, ns: int, call_ns: int = 3 * US, latency: int = 5 * US) -> Host:
        self.number += 1
        self.call(
            "hipLaunchKernel", self.now, self.now + call_ns, correlation=self.number, stream=0
        )
        self.now += call_ns
        start = max(self.now - 3 * US + latency, self.free + US)
        self.free = start + ns
        self.dispatch(kernel, start, self.free, correlation=self.number)
        return self

    def memcpy(self, ns: int, recorded: bool = True, name: str = "hipMemcpy", **more: Any) -> Host:
        """A blocking copy."""
        self.number += 1
        start = max(self.now + 5 * US, self.free)
        end = start + ns
        self.call(name, self.now, end + 3 * US, correlation=self.number, stream=0)
        if recorded:
            kind = more.pop("kind", "MEMORY_COPY_HOST_TO_DEVICE")
            self.copy(kind, start, end, correlation=self.number)
        self.now, self.free = end + 3 * US, end
        return self

    def wait(self) -> Host:
        end = max(self.free + 4 * US, self.now + US)
        self.call("hipDeviceSynchronize", self.now, end)
        self.now = end
        return self


# --- start-up and what follows it ----------------------------------------------------------------


def small_program(recorded: bool) -> Host:
    """A fill, two uploads that are most of the window, a kernel, a wait, the result."""
    host = Host()
    host.launch(FILL, 4 * US).wait()
    host.memcpy(600 * US, recorded).memcpy(620 * US, recorded)
    host.work(150 * US).launch("vcopy", 40 * US).wait()
    host.memcpy(300 * US, recorded, kind="MEMORY_COPY_DEVICE_TO_HOST")
    return host


@pytest.mark.parametrize("recorded", [True, False])
def test_two_uploads_and_two_waits_are_start_up_and_not_synchronisation(recorded: bool) -> None:
    found = where(small_program(recorded))
    assert found.verdict.bottleneck == "start_up_bound"
    assert found.verdict.scope == "run" and found.verdict.confidence != "high"
    assert "waits" not in found.verdict.meaning
    kinds = [s.kind for s in found.one_time]
    assert kinds == ["before_first_kernel", "after_last_kernel"]
    upload = found.one_time[0]
    assert upload.copies_ms == pytest.approx(1.22, abs=0.05)
    assert upload.gap is not None and upload.gap.call == "hipMemcpy" and upload.gap.calls == 2
    assert any("hipMemcpy 1.2" in e and "in 2 calls" in e for e in found.verdict.evidence)


def test_copies_known_only_by_their_calls_are_said_to_be() -> None:
    notes = [documents(small_program(recorded).build()).profile.notes for recorded in (True, False)]
    told = "No copies were recorded: 3 blocking copy calls count as copies"
    assert [any(note.startswith(told) for note in each) for each in notes] == [False, True]


@pytest.mark.parametrize("recorded", [True, False])
def test_a_blocking_copy_is_a_copy_even_where_only_its_call_was_recorded(recorded: bool) -> None:
    found = where(small_program(recorded))
    assert share(found, "copies") == pytest.approx(1.52 / 1.72, abs=0.03)


def test_where_neither_copies_nor_calls_were_recorded_copies_are_not_known() -> None:
    trace = TraceBuilder()
    for i in range(20):
        trace.dispatch("k", i * MS, i * MS + 100 * US)
    found = where(trace)
    assert share(found, "copies") is None and "recorded" in found.reasons["copies"]
    assert any("--memory-copy-trace" in m for m in found.verdict.missing)
    assert found.verdict.confidence != "high"


def test_where_calls_were_recorded_and_none_copies_there_were_none() -> None:
    host = Host()
    for _ in range(20):
        host.launch("k", 100 * US)
    assert share(where(host), "copies") == 0


def training(first: int, steps: int = 30) -> Host:
    """Kernels again and again, the first launch of one of them loading code for so long."""
    host = Host()
    for step in range(steps):
        host.launch("gemm", 200 * US)
        host.launch("norm", 20 * US, call_ns=first if step == 0 else 3 * US)
    return host


def test_code_loaded_by_a_first_launch_is_start_up_and_named() -> None:
    found = where(training(965 * MS))
    assert [s.kind for s in found.one_time][-1] == "first_use"
    loading = found.one_time[-1]
    assert loading.ms == pytest.approx(965, rel=0.01)
    assert loading.gap is not None and loading.gap.call == "hipLaunchKernel"
    assert loading.gap.ended_by == "norm" and "first launch of norm" in loading.words
    assert (found.verdict.scope, found.verdict.bottleneck) == ("steady", "kernel_bound")
    assert found.steady is not None and found.steady.makespan_ms < 10
    assert share(found.steady, "kernels") == pytest.approx(0.97, abs=0.03)


def test_a_program_without_start_up_is_judged_as_a_whole() -> None:
    found = where(training(3 * US))
    assert found.one_time == [] and found.steady is None and found.verdict.scope == "run"


def test_calls_of_start_up_are_not_among_those_of_the_rest() -> None:
    host = Host()
    host.launch("k", 5 * US)
    host.call("hipModuleLoadData", host.now, host.now + 50 * MS)
    host.work(50 * MS)
    for _ in range(40):
        host.launch("k", 5 * US).work(30 * US)
    found = where(host)
    assert found.steady is not None
    assert [c.name for c in found.steady.host_calls] == ["hipLaunchKernel"]
    assert found.verdict.bottleneck == "launch_bound"
    assert not any("hipModuleLoadData" in e for e in found.verdict.evidence)


def test_uploads_between_the_first_kernels_are_start_up_too() -> None:
    """A kernel that initialises, two uploads with a fill between them, then the work."""
    host = Host()
    host.launch("initialise", 5 * US).memcpy(4 * MS, recorded=False)
    host.launch(FILL, 5 * US).memcpy(3 * MS, recorded=False)
    for _ in range(50):
        host.launch("k", 40 * US)
    found = where(host)
    assert [s.kind for s in found.one_time if s.kind != "warm_up"] == ["first_copies"] * 2
    assert (found.verdict.scope, found.verdict.bottleneck) == ("steady", "kernel_bound")


def test_a_steps_own_input_is_no_start_up() -> None:
    host = Host()
    for _ in range(12):
        host.memcpy(300 * US).launch("k", 100 * US).wait()
    found = where(host)
    assert found.one_time == []
    assert found.verdict.bottleneck == "copy_bound" and found.verdict.confidence == "high"


@pytest.mark.parametrize(("ns", "joined"), [(300 * US, False), (30 * US, True)])
def test_only_many_small_copies_are_told_to_be_joined(ns: int, joined: bool) -> None:
    host = Host()
    for _ in range(12):
        host.memcpy(ns).launch("k", 10 * US).wait()
    found = where(host).verdict
    assert found.bottleneck == "copy_bound"
    assert any("Join many small" in step for step in found.next_steps) == joined
    assert any("12 copies of" in e for e in found.evidence)


@pytest.mark.parametrize("frees", [False, True])
def test_waits_are_told_of_allocations_only_where_there_are_some(frees: bool) -> None:
    host = Host()
    for _ in range(40):
        host.launch("k", 3 * US, latency=8 * US).wait()
        if frees:
            host.call("hipFree", host.now, host.now + US)
            host.work(US)
    found = where(host).verdict
    assert found.bottleneck == "synchronisation_bound"
    assert any("pool" in step for step in found.next_steps) == frees


# --- labels follow from their evidence ------------------------------------------------------------


def test_one_long_gap_is_a_stall_and_no_matter_of_launches() -> None:
    host = Host()
    for step in range(40):
        host.launch("k", 100 * US)
        if step == 20:
            host.wait().work(9600 * US)
    found = where(host)
    assert found.verdict.bottleneck == "stall_bound"
    assert "one stretch of 9.6" in found.verdict.meaning
    assert not any("graph" in step for step in found.verdict.next_steps)
    assert found.gaps[0].ms == pytest.approx(9.6, rel=0.01)
    assert any("own code" in e for e in found.verdict.evidence)


def test_a_stall_in_a_call_is_named_and_gets_its_own_advice() -> None:
    host = Host()
    for step in range(40):
        host.launch("k", 100 * US)
        if step == 20:
            host.wait()
            host.call("hipFree", host.now, host.now + 8 * MS)
            host.work(8 * MS)
    found = where(host)
    assert found.verdict.bottleneck == "stall_bound" and found.verdict.confidence == "high"
    assert found.gaps[0].call == "hipFree"
    assert "hipFreeAsync" in found.verdict.next_steps[0]


def test_a_wait_after_every_kernel_is_synchronisation_and_the_text_counts_them() -> None:
    host = Host()
    for _ in range(40):
        host.launch("k", 3 * US, latency=8 * US).wait()
    found = where(host).verdict
    assert found.bottleneck == "synchronisation_bound"
    assert "39 times for 40 operations" in found.meaning


def test_few_waits_never_make_it_synchronisation() -> None:
    host = Host()
    for step in range(40):
        host.launch("k", 3 * US, latency=8 * US)
        host.work(20 * US)
        if step % 20 == 0:
            host.wait()
    assert where(host).verdict.bottleneck == "launch_bound"


def test_a_device_kept_busy_by_a_slower_host_is_not_limited_by_its_kernels() -> None:
    """Kernels run 60 % of the time, but each is over before the next is launched."""
    host = Host()
    for _ in range(100):
        host.launch("k", 18 * US).work(27 * US)
    found = where(host)
    assert share(found, "kernels") == pytest.approx(0.6, abs=0.02)
    assert found.verdict.bottleneck == "launch_bound"
    assert any("sets the pace" in e for e in found.verdict.evidence)


# --- the culprit by name --------------------------------------------------------------------------


def event(cat: str, name: str, ts: float, dur: float, tid: int = 1, **args: Any) -> dict[str, Any]:
    known = {"ph": "X", "cat": cat, "name": name, "pid": 1, "tid": tid, "ts": ts, "dur": dur}
    return known | {"args": args}


def pytorch(tmp_path: Path, *more: dict[str, Any], late: float = 0.0) -> WhereTheTimeGoes:
    """Forty launches of 200 us, those after the twentieth so much later, and more events."""
    events = list(more)
    for i in range(40):
        at = 1000.0 + 210.0 * i + (late if i >= 20 else 0)
        events.append(event("cuda_runtime", "hipLaunchKernel", at, 4.0, correlation=100 + i))
        where = {"device": 0, "stream": 0, "correlation": 100 + i}
        events.append(event("kernel", "gemm", at + 8, 200.0, 0, **where))
    path = tmp_path / "trace.json"
    path.write_text(json.dumps({"traceEvents": events}))
    found = analyze_files([path]).profile.where_the_time_goes
    assert found is not None
    return found


def test_a_long_blocking_copy_is_named_with_its_operator_and_frame(tmp_path: Path) -> None:
    """The copy itself is short: the call spends its time on pageable memory."""
    at = 1000.0 + 210.0 * 20
    found = pytorch(
        tmp_path,
        event("python_function", "train.py(40): main", 500.0, 900_000.0, 9),
        event("python_function", "train.py(12): load", at + 5, 493_100.0, 9),
        event("python_function", "<built-in method to of Tensor object>", at + 6, 493_090.0, 9),
        event("python_function", "torch/_tensor.py(9): to", at + 5.5, 493_095.0, 9),
        event("cpu_op", "aten::to", at + 7, 493_080.0),
        event("cpu_op", "aten::copy_", at + 8, 493_070.0),
        event("cuda_runtime", "hipMemcpyWithStream", at + 10, 493_000.0, correlation=7),
        event("gpu_memcpy", "Memcpy HtoD", at + 473_000, 20_000.0, 0, correlation=7, device=0),
        late=493_200.0,
    )
    gap = found.gaps[0]
    assert gap.call == "hipMemcpyWithStream" and gap.operator == "aten::copy_"
    assert gap.own_frame == "train.py(12): load" and gap.frame == "torch/_tensor.py(9): to"
    assert share(found, "copies") == pytest.approx(493 / 502, abs=0.01)
    assert found.verdict.bottleneck == "copy_bound"
    told = " ".join(found.verdict.evidence)
    assert "hipMemcpyWithStream" in told and "train.py(12): load" in told


def test_a_stall_in_python_is_named_by_the_programs_own_frame(tmp_path: Path) -> None:
    at = 1000.0 + 210.0 * 20
    found = pytorch(
        tmp_path,
        event("python_function", "train.py(40): main", 500.0, 900_000.0),
        event("python_function", "data.py(7): tokenize", at + 5, 9_600.0),
        late=9_600.0,
    )
    assert found.verdict.bottleneck == "stall_bound" and found.verdict.confidence == "high"
    assert found.gaps[0].own_frame == "data.py(7): tokenize"
    assert any("data.py(7): tokenize" in e for e in found.verdict.evidence)


def test_a_range_the_program_annotated_is_a_name(tmp_path: Path) -> None:
    at = 1000.0 + 210.0 * 20
    loader = "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__"
    found = pytorch(
        tmp_path,
        event("user_annotation", "ProfilerStep#3", 900.0, 900_000.0),
        event("user_annotation", loader, at + 5, 9_600.0),
        late=9_600.0,
    )
    assert found.verdict.bottleneck == "stall_bound" and found.gaps[0].operator == loader
    assert not any("Python frames" in e for e in found.verdict.evidence)


def test_loading_inside_a_call_is_not_called_the_hosts_own_code(tmp_path: Path) -> None:
    at = 1000.0 + 210.0 * 20
    found = pytorch(
        tmp_path, event("cuda_runtime", "hipModuleLoadData", at + 5, 965_000.0), late=965_000.0
    )
    assert [s.kind for s in found.one_time] == ["first_use"]
    assert found.one_time[0].gap is not None
    assert found.one_time[0].gap.call == "hipModuleLoadData"
    assert (found.verdict.scope, found.verdict.bottleneck) == ("steady", "kernel_bound")


def test_a_launch_by_another_thread_is_the_hosts_doing_and_not_unexplained() -> None:
    """The other thread may have waited for the first; when it launched is known all the same."""
    trace, now = TraceBuilder(), 0
    for i in range(20):
        trace.call("hipLaunchKernel", now, now + 3 * US, correlation=2 * i, stream=0)
        trace.dispatch("a", now + 5 * US, now + 25 * US, correlation=2 * i)
        trace.call("hipDeviceSynchronize", now + 4 * US, now + 29 * US)
        late = now + 200 * US
        trace.call("hipLaunchKernel", late, late + 3 * US, correlation=2 * i + 1, thread=2)
        trace.dispatch("b", late + 5 * US, late + 25 * US, correlation=2 * i + 1)
        now = late + 200 * US
    found = where(trace)
    assert (share(found, "unexplained") or 0) < 0.05
    assert found.verdict.bottleneck != "device_idle"


@pytest.mark.parametrize(("beside", "label"), [(0, "communication"), (70 * US, "kernel")])
def test_a_run_whose_collectives_run_alone_waits_for_others(beside: int, label: str) -> None:
    trace = TraceBuilder()
    for i in range(20):
        trace.dispatch("ncclDevKernel_Generic", i * 100 * US, (i * 100 + 80) * US, stream=1)
        trace.dispatch("k", i * 100 * US, i * 100 * US + beside + 10 * US, stream=2)
    assert where(trace).verdict.bottleneck == f"{label}_bound"


def test_a_device_that_hardly_rests_is_limited_by_its_kernels_whoever_sets_the_pace() -> None:
    host = Host()
    for _ in range(100):
        host.launch("k", 190 * US).work(200 * US)
    found = where(host).verdict
    assert (found.bottleneck, found.confidence) == ("kernel_bound", "medium")
    assert any("hardly faster" in e for e in found.evidence)


def test_a_first_round_that_takes_far_longer_is_warm_up_as_a_whole() -> None:
    """Compiled between its launches, each round's kernels run in 3 ms; the first takes 400."""
    host = Host()
    for step in range(12):
        for kernel in ("a", "b", "c"):
            host.work(130 * MS if step == 0 else 0).launch(kernel, MS)
    found = where(host)
    assert found.first_round_ms == pytest.approx(390 - 130, abs=10)
    assert found.usual_round_ms == pytest.approx(3, abs=0.1)
    assert found.steady is not None and found.steady.makespan_ms == pytest.approx(33, abs=2)
    assert (found.verdict.scope, found.verdict.bottleneck) == ("steady", "kernel_bound")
