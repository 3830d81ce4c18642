"""The recorded MI350X training step: 43,915 dispatches, 567 streams on 5 queues, no host calls."""

from __future__ import annotations

import pytest

from rocm_perf_lab.analyze.graph import build_and_solve
from rocm_perf_lab.trace.read import read_traces
from support.recorded_data import recorded


def test_the_recorded_training_step() -> None:
    (trace,) = read_traces([recorded("trace/mi350x_training_rocprofv3.json.gz")])
    finding = build_and_solve(trace)
    assert finding.scope == "device-only"
    assert finding.replay_error == 0
    assert round(finding.device.kernel_sum_ns / 1e6) == 4442
    assert round(finding.device.busy_ns / 1e6) == 4233
    assert round(finding.makespan_ns / 1e6) == 15122
    dominant = finding.kernels[0]
    assert dominant.name.startswith("ncclDevKernel_Generic")
    # Halving it is 1.88x of the kernel time and at most 1.16x of the time end to end.
    assert finding.device.kernel_sum_ns / (
        finding.device.kernel_sum_ns - dominant.total_ns / 2
    ) == pytest.approx(1.88, abs=0.005)
    half = dominant.what_if[1]
    assert 1.14 < finding.makespan_ns / half.makespan_ns < 1.16
    assert half.makespan_ns < half.pinned_makespan_ns < finding.makespan_ns
    # Most of the time has no recorded cause, and that is what it says.
    assert finding.coverage == pytest.approx(0.278, abs=0.005)
    assert finding.device.idle_by_cause_ns["unknown"] > 0.99 * finding.device.idle_ns
