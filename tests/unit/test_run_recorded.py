"""Verdicts on recorded runs, held to what their raw events show."""

from __future__ import annotations

import pytest

from rocm_perf_lab.schema.profile import WhereTheTimeGoes
from rocm_perf_lab.workflow import analyze_files
from support.recorded_data import recorded


def where(name: str) -> WhereTheTimeGoes:
    found = analyze_files([recorded(f"trace/{name}.json.gz")]).profile.where_the_time_goes
    assert found is not None
    return found


def test_a_training_run_is_judged_by_its_steps_and_not_by_its_start() -> None:
    """50 steps: the first from 7.6 to 12.65 s of 15.12, the others 35 to 60 ms each."""
    found = where("mi350x_training_rocprofv3")
    assert found.makespan_ms == pytest.approx(15_122, abs=1)
    assert found.first_round_ms == pytest.approx(5_008, abs=10)
    assert found.usual_round_ms == pytest.approx(39, abs=3)
    assert found.steady is not None and found.steady.makespan_ms == pytest.approx(2_480, abs=30)
    assert (found.verdict.scope, found.verdict.bottleneck) == ("steady", "communication_bound")
    assert next(p.share for p in found.parts if p.name == "copies") is None
    first = max((s for s in found.one_time if s.kind == "first_use"), key=lambda s: s.ms)
    assert first.ms == pytest.approx(2_625, abs=1) and "first launch of Cijk" in first.words


def test_one_eager_step_is_bound_by_its_launches_and_long_gaps_have_names() -> None:
    """60 gaps, 3.1 of 3.5 ms; the longest, 247 us, inspects a signature: none dominates."""
    found = where("mi300_bert_small_kineto")
    assert found.device_idle_share == pytest.approx(3105.2 / 3496.0, abs=0.001)
    assert found.one_time == [] and found.verdict.bottleneck == "launch_bound"
    gap = found.gaps[0]
    assert gap.ms == pytest.approx(0.2465, abs=0.001)
    assert gap.frame == "inspect.py(2501): _signature_from_callable"
    assert gap.own_frame is not None and gap.own_frame.endswith("): run_on_input")
    assert any("Python frames were recorded" in e for e in found.verdict.evidence)


@pytest.mark.parametrize(
    ("name", "busy"), [("mi210_gpu_only_kineto", 0.894), ("mi300_vllm_graph_kineto", 0.994)]
)
def test_a_busy_device_is_limited_by_its_kernels(name: str, busy: float) -> None:
    found = where(name)
    assert found.kernel_busy_share == pytest.approx(busy, abs=0.001)
    assert found.verdict.bottleneck == "kernel_bound" and found.one_time == []
