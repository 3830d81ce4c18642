"""The tables of modelled against published times are what the benchmark makes of its results."""

from __future__ import annotations

import importlib
import re
import sys
from pathlib import Path

import pytest

from rocm_perf_lab.arch.load import parse
from rocm_perf_lab.validate.probes import Compared
from rocm_perf_lab.validate.times import PROBED, Result, probe_classes, summary, too_far_off

REPOSITORY = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(REPOSITORY / "benchmarks"))

model_tables = importlib.import_module("model_tables")

PAGE = (REPOSITORY / "docs" / "virtual-model.md").read_text("utf-8")
ERRORS = REPOSITORY / "src" / "rocm_perf_lab" / "arch" / "data" / "virtual" / "errors.toml"
SHOWN = re.findall(
    r"^\| (\w+) ([\d,]+)(?:, taps (\d+)| (nodes))? \| ([\d.,]+) \| ([\d.,]+) \| [+-]\d+ % \|$",
    PAGE.partition(model_tables.SECTION)[2],
    re.MULTILINE,
)


def shown_results() -> list[Result]:
    """The rows of the page, as the benchmark would have given them."""
    found = []
    for program, number, taps, nodes, measured, modelled in SHOWN:
        size = number.replace(",", "") + (f"_taps{taps}" if taps else "_nodes" if nodes else "")
        us, ours = (float(text.replace(",", "")) for text in (measured, modelled))
        found.append(Result(program, size, us, ours, ours, 0.0))
    return found


def test_the_page_shows_rows_of_every_program_as_the_benchmark_writes_them() -> None:
    results = shown_results()
    assert {r.program for r in results} == {"vectoradd", "relu", "fir", "floydwarshall"}
    made = model_tables.page(PAGE, results, {})
    after = made.partition(model_tables.SECTION)[2].partition("| kernel |")[2]
    before = PAGE.partition(model_tables.SECTION)[2].partition("| kernel |")[2]
    wrong = [
        (old, new)
        for old, new in zip(before.splitlines(), after.splitlines(), strict=True)
        # The page's numbers are rounded: the last digit of the error may differ by one.
        if old != new and abs(_error(old) - _error(new)) > 1
    ]
    assert not wrong


def _error(line: str) -> int:
    return int(re.findall(r"([+-]\d+) % \|$", line)[0])


def test_other_results_give_other_tables_and_figures() -> None:
    results = [
        Result(r.program, r.size, r.measured_us, 1.5 * r.measured_us, 1e3, 0.0)
        for r in shown_results()
    ]
    results.append(Result("relu", "7", 1.0, 1.25, 0.5, 0.0))  # bound by its launch
    totals = summary(results)
    made = model_tables.page(PAGE, results, totals)
    assert "| fir | 4 | 50.0 % | 50.0 % | 50 % |" in made
    assert re.search(r"^\| relu 2,048 \| [\d.]+ \| [\d.]+ \| \+50 % \|$", made, re.MULTILINE)
    with pytest.raises(SystemExit, match="no row of the class compute"):
        model_tables.figures(ERRORS.read_text("utf-8"), totals)
    totals |= probe_classes(probed())
    figures = model_tables.figures(ERRORS.read_text("utf-8"), totals)
    launch = figures.partition("[classes.launch_bound]")[2].partition("[")[0]
    assert "median_percent = 25.0\nworst_percent = 25.0\nrows = 1\n" in launch
    assert figures.count("worst_percent = 50.0") == 4  # memory, large too, latency, many launches
    assert model_tables.figures(figures, totals) == figures


def test_a_page_without_the_rows_is_said() -> None:
    with pytest.raises(SystemExit, match="no row was run that the page shows: vectoradd 1,024"):
        model_tables.page(PAGE, shown_results()[1:], {})
    with pytest.raises(SystemExit, match="no section"):
        model_tables.page("nothing", [], {})


def probed() -> list[Compared]:
    def line(name: str, unit: str, modelled: float) -> Compared:
        return Compared(name, name, unit, (100.0,), modelled, 1.0, "somewhere")

    return [
        line("fma_f32", "GFLOP/s", 125.0),
        line("lds_stride_4", "cycles", 90.0),
        line("lds_read", "GB/s", 100.0),
        line("matrix_rate_f16", "GFLOP/s", 400.0),
        line("v_mfma_f32_32x32x8_f16", "cycles", 900.0),
    ]


def test_probes_speak_for_classes_without_published_kernels() -> None:
    found = probe_classes(probed())
    # At 125 % of the rate it takes 80 % of the time.
    assert {name: round(total.worst, 3) for name, total in found.items()} == {
        "compute": 0.2,
        "lds": 0.1,
        "matrix": 0.75,
    }
    assert found["lds"].rows == 2 and found["lds"].median == pytest.approx(0.05)
    stated = parse(ERRORS.read_text("utf-8"))["classes"]
    assert {name: tuple(stated[name]["programs"]) for name in PROBED} == PROBED


def test_the_table_of_probes_is_written_anew() -> None:
    line = Compared("hbm", "latency, HBM", "cycles", (890.0, 900.0), 909.0, 0.05, "somewhere")
    made = model_tables.probes(PAGE, {"virtual:mi300x": [line]})
    assert "| `virtual:mi300x` | latency, HBM, cycles | 890 to 900 | 909 | +1.0 % |\n\n" in made
    assert model_tables.probes(made, {"virtual:mi300x": [line]}) == made
    with pytest.raises(SystemExit, match="table of probes"):
        model_tables.probes("nothing", {})


def test_errors_beyond_what_the_page_states_are_named() -> None:
    def rows(error: float) -> list[Result]:
        return [Result("relu", "7", 1.0, 1 + error, 0.5, 0.0)]

    assert too_far_off(summary([])) == []
    assert too_far_off(summary(rows(0.0))) == []
    assert too_far_off(summary(rows(-0.9))) == [
        "median error of the kernel times",
        "mean error of the kernel times",
    ]
