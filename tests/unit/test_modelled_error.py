"""Every modelled time carries the validated error of its class, or says that there is none."""

from __future__ import annotations

import io
import re
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from rocm_perf_lab.analyze.keys import KernelKey
from rocm_perf_lab.analyze.memory_levels import Level
from rocm_perf_lab.analyze.modelled_error import error_class, run_error_class
from rocm_perf_lab.analyze.roofline import KernelRoofline
from rocm_perf_lab.analyze.rules import LABELS, Label
from rocm_perf_lab.arch.load import files, products
from rocm_perf_lab.arch.modelled_error import ErrorClass, model_errors
from rocm_perf_lab.report.run_page import Pages, render
from rocm_perf_lab.report.text import summary
from rocm_perf_lab.trace.trace import Trace
from support.analysis import documents
from support.traces import TraceBuilder

PAGE = Path(__file__).resolve().parents[2] / "docs" / "virtual-model.md"
FLOOR = model_errors().launch_floor_ns
LONG = 100 * FLOOR


def roof(gbps: float = 0.0, pipe: str | None = "valu_f32") -> KernelRoofline:
    ceilings = {"hbm": 4000.0, "mall": 16000.0}
    return KernelRoofline(
        KernelKey("k", (64, 1, 1), (64, 1, 1), 0),
        dispatches=1,
        covered=1,
        mean_ns=LONG,
        levels={"fabric": Level("fabric", gbps=gbps, ceilings=ceilings)},
        compute_roof_pipe=pipe,
        roofline_position="memory_bound",
    )


@pytest.mark.parametrize(
    ("label", "found", "kind"),
    [
        ("memory_bandwidth_bound", roof(3900), "memory"),
        ("latency_bound", roof(1700), "memory"),  # of HBM's ceiling, though a tenth of the cache's
        ("latency_bound", roof(300), "latency"),
        ("under_occupied", roof(300), "latency"),
        ("launch_bound", roof(300), "latency"),
        ("latency_bound", roof(1700, "mfma_bf16"), "matrix"),
        ("compute_throughput_limited", roof(300, "mfma_bf16"), "matrix"),
        ("memory_bandwidth_bound", roof(3900, "mfma_bf16"), "memory"),
        ("compute_throughput_limited", roof(300), "compute"),
        ("lds_bound", roof(300), "lds"),
        ("barrier_bound", roof(300), "lds"),
        ("divergence_limited", roof(300), "other"),
        ("unknown", roof(300), "latency"),  # as fir with 64 taps: no unit is near its limit
        ("unknown", None, "other"),
        ("latency_bound", None, "other"),
    ],
)
def test_a_kernel_is_classed_by_what_limits_it(
    label: Label, found: KernelRoofline | None, kind: ErrorClass
) -> None:
    assert error_class(LONG, label, found, model_errors()) == kind


@pytest.mark.parametrize("label", LABELS)
def test_a_kernel_within_its_launch_is_launch_bound_whatever_it_does(label: Label) -> None:
    assert error_class(FLOOR, label, roof(3900, "mfma_f16"), model_errors()) == "launch_bound"
    assert error_class(FLOOR + 1, label, roof(3900), model_errors()) != "launch_bound"


def test_a_kernel_that_moves_more_than_hardware_does_at_full_rate_is_a_class_of_its_own() -> None:
    errors = model_errors()
    long = replace(roof(3900), mean_ns=errors.large_bytes / 3900 + 1)
    assert error_class(LONG, "memory_bandwidth_bound", long, errors) == "memory_large"
    short = replace(long, mean_ns=long.mean_ns - 2)
    assert error_class(LONG, "memory_bandwidth_bound", short, errors) == "memory"
    large, other = (errors.of(kind, "MI300X").worst or 0 for kind in ("memory_large", "memory"))
    assert large > other > 0


def test_a_run_of_many_short_launches_is_not_judged_as_one_launch() -> None:
    errors = model_errors()
    few, many = errors.sweep_launches - 1, errors.sweep_launches
    assert run_error_class("launch_bound", many, "kernel_bound", errors) == "many_launches"
    assert run_error_class("launch_bound", few, "kernel_bound", errors) == "launch_bound"
    assert run_error_class("memory", many, "launch_bound", errors) == "many_launches"
    assert run_error_class("memory", many, "kernel_bound", errors) == "memory"
    assert run_error_class("memory", many, None, errors) == "memory"


def test_a_class_has_figures_or_a_reason() -> None:
    for error in model_errors().classes.values():
        if error.validated:
            assert error.typical is not None and error.worst is not None
            assert 0 <= error.typical <= error.worst
            assert error.rows > 0 and error.source and error.reason is None
        else:
            assert (error.typical, error.worst, error.rows, error.source) == (None, None, 0, None)
            assert error.reason


def test_nothing_is_claimed_of_a_gpu_whose_times_were_not_compared() -> None:
    errors = model_errors()
    for product in ("MI325X", "MI210"):
        other = errors.of("memory", product)
        assert not other.validated and other.typical is None and product in (other.reason or "")
    assert errors.of("memory", "MI300X").validated
    one = errors.of("memory", "MI250X GCD")
    assert one.validated and one.rows == 1 and one.worst != errors.of("memory", "MI300A").worst
    assert not errors.of("latency", "MI250X GCD").validated


def test_products_are_those_of_the_architecture_files() -> None:
    errors = model_errors()
    known = {name for file in files().values() for name in products(file)}
    assert {*errors.products, *(product for product, _ in errors.others)} <= known


def test_the_figures_are_those_of_the_published_table() -> None:
    """Rows by class and by program are the same rows."""
    text = PAGE.read_text("utf-8")
    table = {
        name: (int(rows), float(median), float(worst))
        for name, rows, median, worst in re.findall(
            r"^\| (\w+) \| (\d+) \| ([\d.]+) % \| [\d.]+ % \| ([\d.]+) % \|$", text, re.MULTILINE
        )
    }
    by_class = model_errors().classes
    single = [table[name] for name in ("vectoradd", "relu", "fir")]
    kinds: tuple[ErrorClass, ...] = ("launch_bound", "memory", "memory_large", "latency")
    classes = [by_class[kind] for kind in kinds]
    assert sum(c.rows for c in classes) == sum(rows for rows, _, _ in single)
    assert round(100 * max(c.worst or 0 for c in classes)) == max(worst for *_, worst in single)
    sweeps, (rows, median, worst) = by_class["many_launches"], table["floydwarshall"]
    assert sweeps.typical is not None and sweeps.worst is not None
    assert (sweeps.rows, round(100 * sweeps.typical, 1)) == (rows, median)
    assert round(100 * sweeps.worst) == worst


def test_documents_terminal_and_page_carry_the_error_of_a_modelled_run_only() -> None:
    made = documents(TraceBuilder(virtual=True).dispatch("k", 0, 1000).build())
    virtual = made.profile
    assert virtual.modelled_error is not None
    assert virtual.modelled_error == virtual.kernels[0].modelled_error
    assert virtual.modelled_error.kind == "launch_bound"
    out = io.StringIO()
    Console(file=out, width=80).print(summary(virtual))
    assert "Model error" in out.getvalue() and "at worst" in " ".join(out.getvalue().split())
    assert "at worst" in render(Pages(virtual, timeline=made.timeline))
    hardware = documents(TraceBuilder().dispatch("k", 0, 1000).build())
    measured = hardware.profile
    assert measured.modelled_error is None and measured.kernels[0].modelled_error is None
    assert "Model error" not in render(Pages(measured, timeline=hardware.timeline))


def test_every_file_with_a_modelled_time_carries_the_error() -> None:
    def errors(trace: Trace) -> dict[str, list[object]]:
        found: dict[str, list[object]] = {}
        for name, document in documents(trace).files().items():
            data = document.model_dump()
            each = [data, *data.get("kernels", [])]
            found[name] = [d["modelled_error"] for d in each if "modelled_error" in d]
        return found

    virtual = errors(TraceBuilder(virtual=True).dispatch("k", 0, 1000).build())
    assert {"profile.json", "dag.json", "analysis.json", "timeline.json"} <= set(virtual)
    for name, carried in virtual.items():
        if name != "roofline.json":  # no kernel of it was counted
            assert carried and None not in carried, name
    for name, carried in errors(TraceBuilder().dispatch("k", 0, 1000).build()).items():
        assert set(carried) <= {None}, name


def test_a_kernel_of_no_known_kind_has_no_figure() -> None:
    virtual = documents(TraceBuilder(virtual=True).dispatch("k", 0, LONG).build()).profile
    assert virtual.modelled_error is not None and virtual.modelled_error.kind == "other"
    assert virtual.modelled_error.typical is None and virtual.modelled_error.reason
