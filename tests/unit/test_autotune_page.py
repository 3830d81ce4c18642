"""The report: what it shows, and that names from a space cannot become markup."""

from __future__ import annotations

import re
from dataclasses import replace

from rocm_perf_lab.arch.modelled_error import model_errors
from rocm_perf_lab.autotune import document, space
from rocm_perf_lab.autotune.evaluation import Evaluation, Measurement
from rocm_perf_lab.autotune.job import Request
from rocm_perf_lab.autotune.recorded import Record, RecordedSpace
from rocm_perf_lab.autotune.search import Plan
from rocm_perf_lab.autotune.tune import Job, tune
from rocm_perf_lab.report import autotune_page as page
from rocm_perf_lab.report.autotune import summary
from rocm_perf_lab.report.charts.convergence import convergence
from rocm_perf_lab.schema.autotune import AutotuneDocument

NASTY = "<script>alert('x')</script>"


def result(times: list[float | None]) -> AutotuneDocument:
    rows = space.from_configurations(
        [{NASTY: i // 2, "kind": f"<i>{i % 2}"} for i in range(len(times))], "here"
    )
    records = tuple(
        Record("ok", (t,), t) if t is not None else Record("failed", (), None) for t in times
    )
    job = Job(rows, Plan("auto", len(times), 0), recorded=RecordedSpace(rows, records, NASTY, None))
    return document.document(Request(budget="100%"), job, tune(job), started="")


def test_names_and_values_are_text_not_markup() -> None:
    html = page.render(result([float(1 + i) for i in range(20)]))
    assert NASTY not in html
    assert "<i>" not in html
    assert "&lt;script&gt;" in html
    assert not re.search(r"(src|href)=|url\(|@import", html)


def test_every_measurement_is_a_point_and_the_line_only_falls() -> None:
    found = result([5.0, None, 3.0, 4.0, 2.0, 6.0])
    chart = convergence(found)
    assert chart is not None
    assert len(chart.points) == 5
    heights = [float(v) for v in re.findall(r"V([\d.]+)", chart.line)]
    assert heights == sorted(heights)  # down the page is faster
    assert max(heights, default=chart.points[0][1]) <= chart.bottom


def test_a_run_in_which_nothing_worked_has_a_page_too() -> None:
    found = result([None] * 4)
    assert found.best_config is None
    assert "no configuration worked" in page.render(found)


def test_a_modelled_time_that_repeats_says_so_and_a_small_spread_is_not_shown_as_none() -> None:
    found = result([1.0, 2.0])
    best = found.best_config
    assert best is not None

    def shown(cv: float, modelled_error: float | None) -> str:
        held = best.model_copy(update={"cv": cv, "samples": 3})
        given = {"best_config": held, "modelled_error": modelled_error}
        return summary(found.model_copy(update=given))

    assert "(3 samples, repeats exactly)" in shown(0.0, 0.1)
    assert "(3 samples, CV below 0.1 %)" in shown(3.4e-17, 0.1)
    assert "(3 samples, CV 0 %)" in shown(0.0, None)
    assert "(3 samples, CV 4.2 %)" in shown(0.042, None)


def test_modelled_times_say_so_with_their_error() -> None:
    def tuned(kind: str) -> AutotuneDocument:
        rows = space.from_configurations([{"block": 64}, {"block": 256}], "here")
        records = tuple(Record("ok", (t,), t) for t in (1.0, 2.0))
        job = Job(rows, Plan("auto", 2, 0), recorded=RecordedSpace(rows, records, "x", None))
        found = tune(job)
        seen = [
            replace(e, measurement=replace(e.measurement, device={"kind": kind}))
            for e in found.evaluations
        ]
        return document.document(Request(budget="100%"), job, replace(found, evaluations=seen), "")

    virtual, hardware = tuned("virtual"), tuned("hardware")
    assert virtual.modelled_error == model_errors().worst and hardware.modelled_error is None
    worst = f"at worst {100 * model_errors().worst:.1f} %"
    for show in (summary, page.render):
        assert worst in show(virtual) and "odelled" not in show(hardware)


def test_a_model_that_cannot_rank_does_not_prune_and_says_so() -> None:
    times = [1.0 + (7919 * i) % 101 / 100 for i in range(40)]
    found = result(list(times))
    assert not found.model.may_prune
    assert found.phases.predict.pruned == 0
    assert found.warning is not None and "does not prune" in found.warning


def test_samples_add_up_when_a_leader_is_measured_again() -> None:
    first = Measurement("ok", (1.0,))
    e = Evaluation(0, {}, "seed", "seed", first)
    assert e.with_more(Measurement("ok", (2.0, 3.0))).value == 2.0
    assert e.with_more(Measurement("timeout", reason="slow")).value is None
