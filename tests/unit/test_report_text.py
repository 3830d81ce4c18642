"""What a person reads: names that differ look different, and no sentence speaks in identifiers."""

from __future__ import annotations

import io
import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from rocm_perf_lab.analyze.bottleneck import KernelEvidence, Number, judge
from rocm_perf_lab.analyze.rules import rule_set
from rocm_perf_lab.report.names import short_name, short_names
from rocm_perf_lab.report.story import story
from rocm_perf_lab.report.text import summary
from rocm_perf_lab.report.units import spread
from rocm_perf_lab.schema.profile import ProfileDocument
from rocm_perf_lab.workflow.report import report_html
from support.analysis import documents
from support.cli import rocm_perf
from support.traces import TraceBuilder

TEMPLATE = (
    "void at::native::vectorized_elementwise_kernel<4, at::native::{}Functor<float>, "
    "std::array<char*, 3ul> >(int, at::native::{}Functor<float>, std::array<char*, 3ul>)"
)


def printed(document: ProfileDocument, width: int = 80, details: bool = False) -> str:
    out = io.StringIO()
    Console(file=out, width=width, highlight=False).print(summary(document, width, details))
    return out.getvalue()


def test_rows_that_differ_in_template_arguments_look_different() -> None:
    names = [TEMPLATE.format(op, op) for op in ("Add", "Mul", "AddMul", "Gelu")]
    short = short_names(names, 34)
    assert len(set(short)) == 4 and max(map(len, short)) <= 34
    assert all(op in text for op, text in zip(("Add", "Mul", "AddMul", "Gelu"), short, strict=True))


def test_a_short_name_is_left_alone_and_parameters_go_first() -> None:
    assert short_names(["gemm", "vecCopy(double*, double*, int)"], 20) == ["gemm", "vecCopy"]
    assert short_name("void k<1>(int)", 40) == "k<1>(int)"


@given(
    st.lists(st.text("ab<>:,( )", min_size=1, max_size=60), min_size=1, max_size=8, unique=True),
    st.integers(12, 40),
)
def test_no_two_names_look_alike_and_none_is_too_wide(names: list[str], width: int) -> None:
    short = short_names(names, width)
    assert all(len(text) <= width for text in short)
    printable = ["".join(c if c.isprintable() else "?" for c in n) for n in names]
    different = len({p.removeprefix("void ") for p in printable})
    assert len(set(short)) >= different or width < 16


def test_no_rules_or_metrics_identifier_stands_in_prose() -> None:
    rules = rule_set()
    identifiers = {*rules.units, *(r.name for r in rules.rules)}
    identifiers = {name for name in identifiers if "_" in name}
    numbers = {name: Number(0.9, "measured") for name in rules.units}
    for rule in rules.rules:
        for text in (rule.meaning, *(s.text for s in rule.next_steps), rule.counters_add or ""):
            assert not identifiers & set(re.findall(r"\w+", text)), text
    for metric in rules.units:
        found = judge(KernelEvidence({**numbers, metric: Number(None, "", "not counted")}))
        for text in (*map(str, found.evidence), *found.missing, *found.next_steps):
            assert not identifiers & set(re.findall(r"\w+", text)), text


def test_the_run_is_spoken_of_before_any_kernel() -> None:
    trace = TraceBuilder()
    for i in range(20):
        trace.dispatch("k", i * 1_000_000, i * 1_000_000 + 90_000)
    text = printed(documents(trace.build()).profile)
    assert text.index("The run") < text.index("Dominant") < text.index("Bottleneck")
    assert "the device is idle 90.6 %" in " ".join(text.split())
    assert max(map(len, text.splitlines())) <= 80


def test_an_impossible_size_is_null_with_a_reason_and_read_as_not_recorded() -> None:
    trace = TraceBuilder().dispatch("k", 0, 1000, grid=(-1, -1, -1), workgroup=(4096, 1, 1))
    found = documents(trace.build()).profile
    assert found.kernel is not None and (found.kernel.grid, found.kernel.block) == (None, None)
    assert "no launch size that is possible" in found.kernels[0].reasons["grid"]
    assert found.kernels[0].occupancy.theoretical is None
    assert "launch size not recorded" in printed(found)


def test_a_modelled_run_repeats_exactly_and_is_not_called_stable() -> None:
    runs = [TraceBuilder(virtual=True, pid=i).dispatch("k", 0, 1000).build() for i in (1, 2)]
    shifted = TraceBuilder(virtual=True, pid=3).dispatch("k", 5000, 6000).build()
    found = documents(runs[0], shifted).profile
    assert found.stability is not None and found.stability.repeats_exactly
    assert found.stability.classification is None and found.stability.reason
    text = printed(found)
    assert "modelled: repeats exactly" in text and "stable" not in text
    assert "2 runs repeat exactly" in story(found)[0]


def test_equal_times_deviate_by_nothing_whatever_rounding_makes_of_them() -> None:
    ns = 20834
    ms = ns / 1e6
    assert np.std([ms] * 3, ddof=1) > 0  # what rounding makes of them
    builders = [TraceBuilder(virtual=True, pid=i).dispatch("k", i * 10**6, i * 10**6 + ns)
                for i in (1, 2, 3)]  # fmt: skip
    found = documents(*(b.build() for b in builders)).profile
    assert found.stability is not None and found.stability.repeats_exactly
    assert (found.stability.cv, found.stability.mean_ms) == (0.0, ms)
    assert found.kernels[0].dispatch.stddev_ms == 0.0
    page = report_html(documents(*(b.build() for b in builders)))
    assert "it repeats exactly" in page and "CV 0" not in page


@pytest.mark.parametrize(
    ("cv", "shown"),
    [(0.0, "0 %"), (3.4e-17, "below 0.1 %"), (0.0004, "below 0.1 %"), (0.0012, "0.1 %"),
     (0.05, "5.0 %")],
)  # fmt: skip
def test_only_no_spread_is_shown_as_none(cv: float, shown: str) -> None:
    assert spread(cv) == shown


def test_the_details_give_every_metric_with_its_formula() -> None:
    counters = {"SQ_WAVES": 256.0, "TCC_HIT": 75.0, "TCC_MISS": 25.0, "GRBM_GUI_ACTIVE": 21000.0}
    found = documents(TraceBuilder().dispatch("k", 0, 10_000, counters=counters).build()).profile
    rows = {row.name: row for row in found.metrics}
    assert rows["l2_hit_rate"].value == 0.75
    assert rows["l2_hit_rate"].counters == ["TCC_HIT", "TCC_MISS"]
    assert rows["workgroups_per_cu"].value == pytest.approx(256 / 304)
    assert rows["last_round_fill"].value == pytest.approx(256 / (304 * 8))
    assert rows["coalescing"].value is None and rows["coalescing"].reason
    text = printed(found, 100, details=True)
    assert "L2 hit rate" in text and "TCC_HIT/(TCC_HIT + TCC_MISS)" in text
    assert "L2 hit rate" not in printed(found)


@pytest.mark.parametrize("encoding", ["latin-1", "ascii"])
def test_output_that_cannot_be_encoded_degrades(encoding: str, tmp_path: Path) -> None:
    (tmp_path / "x_kernel_trace.csv").write_text(
        "Kind,Agent_Id,Dispatch_Id,Kernel_Name,Start_Timestamp,End_Timestamp\n"
        + 'KERNEL_DISPATCH,1,1,"'
        + "κernel<"
        + "x" * 90
        + '>",1000,2000\n',
        encoding="utf-8",
    )
    done = rocm_perf("analyze", ".", cwd=tmp_path, env={"PYTHONIOENCODING": encoding})
    assert done.returncode == 0, done.stderr
    assert "\\u03baernel" in done.stdout and "~" in done.stdout
