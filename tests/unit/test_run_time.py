"""Where the time of a run goes, and which verdict the run itself gets."""

from __future__ import annotations

from pathlib import Path

import pytest

from rocm_perf_lab.schema.profile import PartOfRun, WhereTheTimeGoes
from support.analysis import documents
from support.cli import rocm_perf
from support.traces import TraceBuilder

US = 1_000


def where(trace: TraceBuilder) -> WhereTheTimeGoes:
    found = documents(trace.build()).profile.where_the_time_goes
    assert found is not None
    return found


def share(found: PartOfRun, name: str) -> float:
    part = next(p.share for p in found.parts if p.name == name)
    assert part is not None
    return part


def steps(
    count: int, kernel_us: int, host_us: int, launch_us: int = 5, sync: bool = False
) -> TraceBuilder:
    """A host that works, launches, and perhaps waits, again and again."""
    trace, now = TraceBuilder(), 0
    for i in range(count):
        now += host_us * US
        trace.call("hipLaunchKernel", now, now + 2 * US, correlation=i, stream=0)
        start = now + launch_us * US
        end = start + kernel_us * US
        trace.dispatch("k", start, end, correlation=i)
        now += 2 * US
        if sync:
            trace.call("hipDeviceSynchronize", now, end + 3 * US)
            now = end + 3 * US
    return trace


def test_the_parts_add_up_to_the_run() -> None:
    found = where(steps(20, 50, 10, sync=True))
    assert sum(p.share or 0 for p in found.parts) == pytest.approx(1)
    assert sum(p.ms or 0 for p in found.parts) == pytest.approx(found.makespan_ms)


@pytest.mark.parametrize(
    ("trace", "label"),
    [
        (steps(50, 500, 3, sync=True), "kernel_bound"),
        (steps(50, 4, 30), "launch_bound"),
        (steps(50, 4, 500), "host_bound"),
        (steps(50, 4, 1, launch_us=8, sync=True), "synchronisation_bound"),
    ],
)
def test_the_run_gets_the_verdict_of_its_largest_part(trace: TraceBuilder, label: str) -> None:
    found = where(trace)
    assert found.verdict.bottleneck == label
    assert found.verdict.evidence and found.verdict.next_steps


def test_of_a_few_operations_no_rate_is_claimed() -> None:
    found = where(steps(4, 4, 30)).verdict
    assert found.confidence == "low" and "only 4 operations" in found.evidence[-1]
    assert where(steps(50, 4, 30)).verdict.confidence != "low"


def test_copies_that_outlast_the_kernels_make_it_copy_bound() -> None:
    trace, now = TraceBuilder(), 0
    for _ in range(10):
        trace.copy("MEMORY_COPY_HOST_TO_DEVICE", now, now + 90 * US, size=1 << 20)
        trace.dispatch("k", now + 91 * US, now + 100 * US)
        now += 101 * US
    found = where(trace)
    assert found.verdict.bottleneck == "copy_bound"
    assert share(found, "copies") > 0.8


def test_an_idle_device_without_host_calls_is_said_before_anything_of_the_kernel() -> None:
    """Kernels are 9 % of the run: what limits them inside changes nothing."""
    trace = TraceBuilder()
    for i in range(20):
        trace.dispatch("k", i * 1000 * US, i * 1000 * US + 90 * US)
    found = where(trace)
    assert found.verdict.bottleneck == "device_idle"
    assert found.device_idle_share == pytest.approx(0.905, abs=0.01)
    assert any("host calls" in m for m in found.verdict.missing)


def test_the_runtimes_own_kernels_and_collectives_have_their_share_of_the_busy_time() -> None:
    trace = (
        TraceBuilder()
        .dispatch("__amd_rocclr_fillBufferAligned", 0, 26 * US)
        .dispatch("ncclDevKernel_Generic", 26 * US, 50 * US)
        .dispatch("k", 50 * US, 100 * US)
    )
    found = where(trace)
    assert (found.runtime_kernel_share, found.collective_share) == (0.26, 0.24)


@pytest.mark.parametrize(
    ("beside", "rule", "words"),
    [(False, "communication_exposed", "waits for data"), (True, "communication_overlapped", "hid")],
)
def test_a_collective_is_judged_by_what_runs_beside_it(beside: bool, rule: str, words: str) -> None:
    trace = TraceBuilder().dispatch(
        "ncclDevKernel_Generic", 0, 100 * US, stream=1, grid=(512, 1, 1), workgroup=(512, 1, 1)
    )
    trace.dispatch("k", 0 if beside else 100 * US, 90 * US if beside else 200 * US, stream=2)
    analysis = documents(trace.build()).analysis
    assert analysis is not None
    found = next(k for k in analysis.kernels if k.kernel.startswith("nccl"))
    assert (found.kind, found.bottleneck, found.rule) == ("collective", "communication_bound", rule)
    assert words in found.meaning
    assert not any("split-K" in step for step in found.next_steps)


def test_the_dominant_kernel_is_the_one_on_the_critical_path_unless_asked_otherwise() -> None:
    """25 short calls make 55 % of the run; the one long dispatch is 27 %."""
    trace, now = TraceBuilder(), 0
    for _ in range(25):
        trace.dispatch("often", now, now + 22 * US)
        now += 22 * US
    trace.dispatch("once", now, now + 270 * US)
    trace.dispatch("other", now + 270 * US, now + 450 * US)
    by_path = documents(trace.build()).profile
    assert by_path.kernel is not None and by_path.kernel.name == "often"
    assert by_path.kernel_selection.startswith("largest part of the critical path")
    longest = documents(trace.build(), select="longest").profile
    assert longest.kernel is not None and longest.kernel.name == "once"
    assert "longest single dispatch" in longest.kernel_selection


def test_an_off_path_kernel_is_not_the_dominant_one_however_long_it_runs_in_all() -> None:
    trace = TraceBuilder().dispatch("path", 0, 600 * US, stream=1)
    for i in range(7):
        trace.dispatch("beside", i * 80 * US, i * 80 * US + 79 * US, stream=2)
        trace.dispatch("beside", i * 80 * US, i * 80 * US + 79 * US, stream=3)
    found = documents(trace.build()).profile
    assert found.kernel is not None and found.kernel.name == "path"


def test_a_verdict_on_a_run_is_explained(tmp_path: Path) -> None:
    done = rocm_perf("explain", "copy_bound", cwd=tmp_path)
    assert done.returncode == 0 and "are the largest part" in done.stdout
    both = rocm_perf("explain", "launch_bound", cwd=tmp_path).stdout
    assert "launch_bound: of a run" in both and "rule launch_overhead" in both
    assert "{level}" not in rocm_perf("explain", "memory_bandwidth_bound", cwd=tmp_path).stdout
