"""Which of the model's validated errors a modelled time carries: by what limits the kernel.

A class has a figure only where published times of such kernels were compared; the rest say so.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rocm_perf_lab.analyze.evidence import KernelAnalysis
from rocm_perf_lab.analyze.roofline import KernelRoofline
from rocm_perf_lab.analyze.rules import Label, RunLabel
from rocm_perf_lab.analyze.runtime import Runtime
from rocm_perf_lab.arch.modelled_error import ErrorClass, ModelErrors

# Verdicts that name a class. The others are looked at by their work.
_OF_VERDICT: dict[Label, ErrorClass] = {
    "memory_bandwidth_bound": "memory",
    "lds_bound": "lds",
    "barrier_bound": "lds",
    "vector_memory_issue_bound": "other",
    "instruction_fetch_bound": "other",
    "instruction_issue_bound": "other",
    "divergence_limited": "other",
    "communication_bound": "other",
}
# Traffic over the lowest ceiling behind the L2 (HBM's, or its own where there is but one). Start
# and end of a dispatch are part of its time, so the smallest published arrays that the launch does
# not hide reach 40 % of it; fir, whose loads hit, has 4 %.
_MOSTLY_MEMORY = 0.25


@dataclass(frozen=True)
class ErrorClasses:
    """Of one program's modelled times."""

    kernels: Mapping[str, ErrorClass]  # by name
    run: ErrorClass


def error_classes(
    times: Runtime, kernels: Sequence[KernelAnalysis], run: RunLabel | None, errors: ModelErrors
) -> ErrorClasses:
    judged = {kernel.name: kernel for kernel in kernels}
    found = {k.name: _kernel_class(judged.get(k.name), errors) for k in times.kernels}
    dominant = times.kernels[times.dominant].name if times.dominant is not None else None
    launches = sum(kernel.dispatches for kernel in times.kernels)
    return ErrorClasses(
        found, run_error_class(found.get(dominant or "", "other"), launches, run, errors)
    )


def error_class(
    median_ns: float, label: Label, roof: KernelRoofline | None, errors: ModelErrors
) -> ErrorClass:
    found = _by_limit(median_ns, label, roof, errors.launch_floor_ns)
    large = found == "memory" and roof is not None and _moved(roof) > errors.large_bytes
    return "memory_large" if large else found


def _by_limit(
    median_ns: float, label: Label, roof: KernelRoofline | None, launch_floor_ns: int
) -> ErrorClass:
    if median_ns <= launch_floor_ns:
        return "launch_bound"
    if label in _OF_VERDICT:
        return _OF_VERDICT[label]
    if roof is None or roof.roofline_position is None:
        return "other"  # nothing was counted: what it does is not known
    if (roof.compute_roof_pipe or "").startswith("mfma"):
        return "matrix"
    if label == "compute_throughput_limited":
        return "compute"
    if _memory_share(roof) >= _MOSTLY_MEMORY:
        return "memory"
    return "latency"  # counted, and no unit is near its limit: waves wait for results


def _memory_share(roof: KernelRoofline) -> float:
    fabric = roof.levels.get("fabric")
    if fabric is None or fabric.gbps is None or not fabric.ceilings:
        return 0.0
    return fabric.gbps / min(fabric.ceilings.values())


def _moved(roof: KernelRoofline) -> float:
    """Bytes of a launch behind the L2."""
    fabric = roof.levels.get("fabric")
    return (fabric.gbps or 0.0) * roof.mean_ns if fabric else 0.0


def _kernel_class(kernel: KernelAnalysis | None, errors: ModelErrors) -> ErrorClass:
    if kernel is None:
        return "other"
    median = kernel.launch.median_ns
    return error_class(median, kernel.verdict.label, kernel.roofline, errors)


def run_error_class(
    dominant: ErrorClass, launches: int, run: RunLabel | None, errors: ModelErrors
) -> ErrorClass:
    """The dominant kernel's, unless many launches, not their kernels' work, make up the run."""
    short = dominant == "launch_bound" or run == "launch_bound"
    return "many_launches" if short and launches >= errors.sweep_launches else dominant
