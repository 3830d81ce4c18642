"""Modelled against published kernel times of an MI300A, row by row of a file.

The programs are those of times.hip. Measured is the fastest of 51 event-timed launches; modelled is
what two events around a warm launch (or sweep) would show.
"""

from __future__ import annotations

import csv
import re
import statistics
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from rocm_perf_lab import scratch
from rocm_perf_lab.arch.modelled_error import ERROR_CLASSES, model_errors
from rocm_perf_lab.errors import BadInput
from rocm_perf_lab.validate.build import build, recorded
from rocm_perf_lab.validate.costs import Costs, costs
from rocm_perf_lab.validate.probes import Compared, published

DEVICE = "virtual:mi300a"
WARM = 2  # launches; the last is taken
WHOLE_SWEEP = 512  # nodes up to which every launch of a sweep is run, and their mean taken
PROGRAMS = ("vectoradd", "relu", "fir", "floydwarshall")
COPIES = {"memcopy_h2d": "H2D", "memcopy_d2h": "D2H", "memcopy_d2d": "D2D"}
NAMES = (*PROGRAMS, *COPIES)
# Classes of which no kernel's time is published, and how names of probes begin that speak for them.
PROBED = {"compute": ("fma",), "lds": ("lds_read", "lds_stride"), "matrix": ("matrix_rate",)}
_BYTES = {"vectoradd": 12, "relu": 8}  # that an element moves


@dataclass(frozen=True)
class Row:
    program: str
    size: str
    measured_us: float

    @property
    def number(self) -> int:
        digits = re.match(r"\d+", self.size)
        return int(digits[0]) if digits else 0

    @property
    def elements(self) -> int:
        if self.program in COPIES:
            return self.number << 18  # of four bytes
        return self.number**2 if self.program == "floydwarshall" else self.number

    @property
    def whole_sweep(self) -> bool:
        return self.program == "floydwarshall" and self.number <= WHOLE_SWEEP

    @property
    def arguments(self) -> list[str]:
        taps = re.search(r"taps(\d+)", self.size)
        launches = self.number if self.whole_sweep else WARM
        return [str(self.number), str(launches), *([taps[1]] if taps else [])]


@dataclass(frozen=True)
class Result:
    program: str
    size: str
    measured_us: float
    modelled_us: float
    kernel_us: float
    seconds: float

    @property
    def error(self) -> float:
        return self.modelled_us / self.measured_us - 1


@dataclass(frozen=True)
class Errors:
    """Of several rows, without their signs."""

    rows: int
    median: float
    mean: float
    worst: float


def rows(path: Path) -> list[Row]:
    try:
        with path.open(encoding="utf-8") as text:
            found = [
                Row(row["kernel_name"], row["problem_size"], 1000 * float(row["min_ms"]))
                for row in csv.DictReader(text)
            ]
    except (OSError, KeyError, TypeError, ValueError) as error:
        hint = "a CSV file with kernel_name, problem_size and min_ms"
        raise BadInput(f"{path} has no kernel times: {error}", hint) from None
    for row in found:
        if row.program in NAMES and not (row.number > 0 and 0 < row.measured_us < float("inf")):
            raise BadInput(f"{path}: {row.program} has no possible size or time ({row.size!r})")
    return found


def left_out(found: Sequence[Row]) -> list[str]:
    """Programs of the file that are not here, and so cannot be run."""
    return sorted({row.program for row in found} - {*NAMES})


def around_sweep_ns(row: Row, costs: Costs) -> int:
    """What lies between the events around a sweep beside its launches.

    A sweep changes its two matrices in place, so its program (sarchlab/mgpusim, gpu_perf_scripts)
    copies them from the host before each, and waits for the device before the second event.
    """
    copy = costs.calls["hipMemcpy"]
    return (
        costs.from_event_ns(copy)
        + 2 * (costs.staged_ns("H2D", 4 * row.elements) + costs.copy_ns("H2D", 4 * row.elements))
        + costs.after_wait_ns(copy)
        + costs.after_wait_ns(costs.calls["hipLaunchKernel"])
        + costs.after_wait_ns(costs.calls["hipEventRecord"])
    )


def by_events(row: Row, kernel_us: float, costs: Costs) -> float:
    """What an event before and one after would be apart."""
    if row.program == "floydwarshall":
        on_host = costs["between_calls_ns"] + costs.calls["hipLaunchKernel"]
        each = max(1000 * kernel_us + costs["between_kernels_ns"], on_host)
        return (around_sweep_ns(row, costs) + row.number * each) / 1000
    return max(costs["event_least_ns"], 1000 * kernel_us + costs["event_pair_ns"]) / 1000


def copied(row: Row, costs: Costs) -> Result:
    """A copy is not simulated: the timeline gives it a start and a rate."""
    way = COPIES[row.program]
    took = costs.copy_ns(way, row.number << 20)
    around = costs.from_event_ns(costs.calls["hipMemcpy"]) + took
    around += costs.staged_ns(way, row.number << 20)
    if way != "D2D":  # the host waits for it
        around += costs.after_wait_ns(costs.calls["hipEventRecord"])
    return Result(row.program, row.size, row.measured_us, around / 1000, took / 1000, 0)


def measure(row: Row, program: Path, folder: Path, costs: Costs) -> Result:
    if row.program in COPIES:
        return copied(row, costs)
    began = time.perf_counter()
    d = recorded([program, row.program, *row.arguments], DEVICE, folder).dispatches
    seconds = time.perf_counter() - began
    durations = d.end_ns - d.start_ns
    taken = durations.mean() if row.whole_sweep else durations[d.start_ns.argmax()]
    kernel = float(taken) / 1000
    modelled = by_events(row, kernel, costs)
    return Result(row.program, row.size, row.measured_us, modelled, kernel, seconds)


def summary(results: Sequence[Result]) -> dict[str, Errors]:
    """By program, by class of error, and of all."""
    out = {}
    for name in (*NAMES, *ERROR_CLASSES, "all"):
        errors = [abs(r.error) for r in results if name in (r.program, error_class(r), "all")]
        if errors:
            out[name] = _errors(errors)
    return out


def probe_classes(compared: Sequence[Compared]) -> dict[str, Errors]:
    """By class of error, of those that probes speak for."""
    return {
        name: _errors([abs(line.time_error) for line in compared if line.name.startswith(begin)])
        for name, begin in PROBED.items()
    }


def _errors(errors: Sequence[float]) -> Errors:
    middle, mean = statistics.median(errors), statistics.fmean(errors)
    return Errors(len(errors), middle, mean, max(errors))


def too_far_off(totals: Mapping[str, Errors]) -> list[str]:
    """What of all rows together is further off than the documentation states."""
    stated, whole = published()["times"], totals.get("all")
    if whole is None:
        return []
    figures = {"median": whole.median, "mean": whole.mean}
    return [
        f"{name} error of the kernel times"
        for name, error in figures.items()
        if 100 * error > stated[f"{name}_percent"]
    ]


def error_class(result: Result) -> str | None:
    """The class of errors.toml that a row speaks for; None: a copy, which is no kernel."""
    if result.program in COPIES:
        return None
    if result.program == "floydwarshall":
        return "many_launches"
    if 1000 * result.kernel_us <= model_errors().launch_floor_ns:
        return "launch_bound"
    if result.program == "fir":
        return "latency"
    large = _BYTES[result.program] * int(result.size) > model_errors().large_bytes
    return "memory_large" if large else "memory"


def run_rows(wanted: Sequence[Row]) -> Iterator[Result]:
    """Program by program, smallest first."""
    with scratch.folder("rocm-perf-validate-") as folder:
        program = build("times", folder)
        ours = [row for row in wanted if row.program in NAMES]
        for row in sorted(ours, key=lambda row: (NAMES.index(row.program), row.elements)):
            yield measure(row, program, folder, costs())
