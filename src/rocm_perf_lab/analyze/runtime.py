"""Which kernels ran, for how long, how steadily, and which one dominates.

Time is dispatch time from the trace, never host time: runtime = sum of (end - start). A kernel's
figures are over the runs that launched it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np
import numpy.typing as npt

from rocm_perf_lab.analyze.kernel_class import KernelClass, kernel_class
from rocm_perf_lab.analyze.kernel_pattern import kernel_pattern
from rocm_perf_lab.analyze.keys import kernel_keys
from rocm_perf_lab.errors import BadInput
from rocm_perf_lab.statistics import (
    coefficient_of_variation,
    mean_and_deviation,
    mean_interval95,
)
from rocm_perf_lab.trace.trace import Agent, KernelSymbol, Trace

# What makes a kernel the dominant one: its part of the critical path (its total time where there
# is no path), its total time, or its longest single dispatch.
Select = Literal["path", "total", "longest"]

Steadiness = Literal["stable", "moderate", "unstable"]
STABLE_CV = 0.05
MODERATE_CV = 0.10


@dataclass(frozen=True)
class Stability:
    """Of the runtime, over runs."""

    runs: int
    mean_ms: float
    median_ms: float
    stddev_ms: float | None
    cv: float | None
    ci95_ms: tuple[float, float] | None
    classification: Steadiness | None
    repeats_exactly: bool = field(
        default=False,
        metadata={"description": "a deterministic model: spread says nothing about hardware"},
    )
    reason: str | None = None


@dataclass(frozen=True)
class KernelTimes:
    """One kernel by name, over all timing runs."""

    name: str
    kind: KernelClass
    selected: bool  # may be the dominant one, and counts for the runtime
    symbol: KernelSymbol
    agent: Agent | None
    grid: tuple[int, int, int]  # of its longest dispatch, as are workgroup and lds_bytes
    workgroup: tuple[int, int, int]
    lds_bytes: int
    scratch_bytes: int
    launch_shapes: int
    dispatches: int  # in the first run that has it
    total_ms: float  # per run, median over the runs that have it
    share: float | None  # of the time of all kernels listed, the runtime's own included
    longest_ns: int
    min_ms: float
    median_ms: float
    mean_ms: float
    max_ms: float
    stddev_ms: float | None
    stability: Stability


@dataclass(frozen=True)
class Runtime:
    kernels: tuple[KernelTimes, ...]  # longest total first
    scope: str  # which kernels were to choose from
    dominant: int | None  # index into kernels
    selection: str  # how it was chosen, in words
    runtime_ms: float | None
    stability: Stability | None
    notes: tuple[str, ...]


def measure(runs: Sequence[Trace], pattern: str | None = None) -> Runtime:
    """Statistics over timing runs of the same program; `pattern` narrows to matching kernels."""
    wanted = kernel_pattern(pattern)
    names = sorted({kernel.name for run in runs for kernel in run.kernels})
    index = {name: i for i, name in enumerate(names)}
    kinds = [kernel_class(name) for name in names]
    helper = np.array([kind == "runtime" for kind in kinds], dtype=bool)
    matches = np.array([wanted is None or bool(wanted.search(n)) for n in names], dtype=bool)

    columns = [_columns(run, index) for run in runs]
    if not any(len(duration) for _, duration in columns):
        return Runtime((), "", None, "no kernel was launched", None, None, ())
    totals = np.array(
        [np.bincount(ids, duration, minlength=len(names)) for ids, duration in columns]
    )
    counts = np.array([np.bincount(ids, minlength=len(names)) for ids, _ in columns])
    launched = counts.sum(axis=0) > 0

    selected, scope = launched & matches & ~helper, "the user's kernels"
    if pattern is not None:
        scope = f"the kernels matching {pattern!r}"
    if not selected.any():
        selected = launched & matches
        scope = "all kernels: only runtime helpers (__amd_rocclr_*) ran"
        if not selected.any():
            raise BadInput(
                f"no launched kernel matches {pattern!r}",
                hint="launched were: "
                + ", ".join(n for n, on in zip(names, launched, strict=True) if on)[:300],
            )
    has_some = counts[:, selected].sum(axis=1) > 0
    scope_ms = totals[:, selected].sum(axis=1)[has_some] / 1e6

    ids = np.concatenate([ids for ids, _ in columns])
    durations = np.concatenate([duration for _, duration in columns])
    first_row = np.cumsum([0, *(len(run.dispatches) for run in runs)])
    by_name = np.argsort(ids, kind="stable")
    bounds = np.searchsorted(ids[by_name], np.arange(len(names) + 1))
    shapes = [Counter(key.name for key in kernel_keys(run)[0]) for run in runs]
    kernels = []
    for k in map(int, np.flatnonzero(launched & matches)):
        rows = by_name[bounds[k] : bounds[k + 1]]
        run = int(np.searchsorted(first_row, rows[0], side="right")) - 1
        in_run = rows[rows < first_row[run + 1]] - first_row[run]
        kernels.append(
            _kernel(
                name=names[k],
                kind=kinds[k],
                selected=bool(selected[k]),
                run=runs[run],
                rows=in_run,
                shapes=shapes[run][names[k]],
                durations=durations[rows],
                per_run_ms=totals[counts[:, k] > 0, k] / 1e6,
            )
        )
    kernels.sort(key=lambda kernel: (-kernel.total_ms, kernel.name))
    whole = sum(kernel.total_ms for kernel in kernels)
    if whole > 0:
        kernels = [replace(kernel, share=kernel.total_ms / whole) for kernel in kernels]
    found = Runtime(
        tuple(kernels),
        scope,
        None,
        "",
        float(np.median(scope_ms)),
        stability(scope_ms),
        _notes(runs, counts, names, selected),
    )
    return dominated(found, "total")


_RULES = {
    "path": "largest part of the critical path",
    "total": "largest total time",
    "longest": "longest single dispatch",
}


def dominated(
    found: Runtime,
    by: Select,
    path_ns: Mapping[str, int] | None = None,
    no_path: str = "no critical path was asked for",
) -> Runtime:
    """The same with its dominant kernel chosen. `path_ns`: time on the critical path by name."""
    pool = [i for i, kernel in enumerate(found.kernels) if kernel.selected]
    if not pool:
        return found
    rule = by
    because = ""
    if by == "path" and not any((path_ns or {}).get(found.kernels[i].name) for i in pool):
        rule = "total"
        because = f"; {no_path if path_ns is None else 'none of them is on the critical path'}"
    on_path = path_ns or {}

    def rank(i: int) -> tuple[float, float, str]:
        kernel = found.kernels[i]
        first = {
            "path": on_path.get(kernel.name, 0),
            "total": kernel.total_ms,
            "longest": kernel.longest_ns,
        }[rule]
        return (-first, -kernel.total_ms, kernel.name)

    return replace(
        found,
        dominant=min(pool, key=rank),
        selection=f"{_RULES[rule]} among {found.scope}{because}",
    )


def stability(per_run_ms: npt.NDArray[np.float64]) -> Stability:
    n = len(per_run_ms)
    mean, median = float(np.mean(per_run_ms)), float(np.median(per_run_ms))
    if n < 2:
        reason = "one run: spread needs at least two (--runs)"
        return Stability(n, mean, median, None, None, None, None, reason=reason)
    (mean, stddev), interval = mean_and_deviation(per_run_ms), mean_interval95(per_run_ms)
    if interval is not None:
        interval = (max(interval[0], 0.0), interval[1])  # no time is negative
    cv = coefficient_of_variation(per_run_ms)
    if cv is None:
        return Stability(n, mean, median, stddev, None, interval, None, reason="the mean is zero")
    label: Steadiness = (
        "stable" if cv <= STABLE_CV else "moderate" if cv <= MODERATE_CV else "unstable"
    )
    return Stability(n, mean, median, stddev, cv, interval, label)


def _columns(
    run: Trace, index: dict[str, int]
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Per dispatch: the kernel's index by name over all runs, and its duration in ns."""
    names = np.array([index[kernel.name] for kernel in run.kernels] or [0], dtype=np.int64)
    d = run.dispatches
    return names[d.kernel], d.end_ns - d.start_ns


def _kernel(
    name: str,
    kind: KernelClass,
    selected: bool,
    run: Trace,
    rows: npt.NDArray[np.int64],
    shapes: int,
    durations: npt.NDArray[np.int64],
    per_run_ms: npt.NDArray[np.float64],
) -> KernelTimes:
    d = run.dispatches
    ns = d.end_ns[rows] - d.start_ns[rows]
    row = int(rows[np.argmax(ns)])
    ms = durations / 1e6
    return KernelTimes(
        name=name,
        kind=kind,
        selected=selected,
        symbol=run.kernels[d.kernel[row]],
        agent=run.agents[d.agent[row]] if d.agent[row] >= 0 else None,
        grid=_triple(d.grid[row]),
        workgroup=_triple(d.workgroup[row]),
        lds_bytes=int(d.lds_bytes[row]),
        scratch_bytes=int(d.scratch_bytes[row]),
        launch_shapes=shapes,
        dispatches=len(rows),
        total_ms=float(np.median(per_run_ms)),
        share=None,
        longest_ns=int(durations.max()),
        min_ms=float(ms.min()),
        median_ms=float(np.median(ms)),
        mean_ms=float(ms.mean()),
        max_ms=float(ms.max()),
        stddev_ms=mean_and_deviation(ms)[1] if len(ms) > 1 else None,
        stability=stability(per_run_ms),
    )


def _triple(row: npt.NDArray[np.integer]) -> tuple[int, int, int]:
    return int(row[0]), int(row[1]), int(row[2])


def _notes(
    runs: Sequence[Trace],
    counts: npt.NDArray[np.int64],
    names: list[str],
    selected: npt.NDArray[np.bool_],
) -> tuple[str, ...]:
    notes = []
    if len(runs) > 1:
        unequal = np.flatnonzero((counts != counts[0]).any(axis=0) & selected)
        if len(unequal):
            examples = ", ".join(names[i] for i in unequal[:3])
            notes.append(
                f"the runs did not launch the same kernels equally often ({examples}); "
                "a kernel's figures are medians over the runs that launched it"
            )
    empty = int(sum((run.dispatches.end_ns == run.dispatches.start_ns).sum() for run in runs))
    if empty:
        notes.append(f"{empty} dispatches have zero length in the trace; they count as 0 ms")
    return tuple(notes)
