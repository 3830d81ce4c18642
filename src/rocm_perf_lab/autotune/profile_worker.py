"""One profile in a process of its own: it can be limited, killed and placed on a GPU.

It profiles into FOLDER/run and answers with the metric's value, or which error there was.
"""

from __future__ import annotations

import contextlib
import sys
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from rocm_perf_lab.autotune.metric import Metric
from rocm_perf_lab.collect import process
from rocm_perf_lab.collect.worker_line import Line
from rocm_perf_lab.errors import PerfLabError
from rocm_perf_lab.workflow.analyze import Choices
from rocm_perf_lab.workflow.documents import Documents
from rocm_perf_lab.workflow.profile import ProfileOptions, profile_program

RUN = "run"


@dataclass(frozen=True)
class WorkerRequest:
    command: list[str]
    metric: str
    counters: list[str]
    timeout_s: float
    device: str
    kernel: str | None = None  # a pattern


@dataclass(frozen=True)
class Answer:
    value: float | None = None
    features: dict[str, Any] = field(default_factory=dict)
    device: dict[str, Any] = field(default_factory=dict)
    error: str | None = None  # the class of errors.py
    message: str = ""
    hint: str = ""  # with the program's last words


def command(into: int, out: int, folder: Path) -> list[str]:
    return [*process.python(__name__), str(into), str(out), str(folder)]


def _profile(request: WorkerRequest, folder: Path) -> Answer:
    program, *arguments = request.command
    metric = Metric(request.metric, profiled=True, counters=tuple(request.counters))
    options = ProfileOptions(
        program=program,
        arguments=tuple(arguments),
        runs=1,
        counters=bool(metric.counters),
        want=metric.counters,
        timeout_s=request.timeout_s,
        device=request.device,
        choices=Choices(kernel=request.kernel),
    )
    (folder / RUN).mkdir()
    try:
        documents = profile_program(options, folder / RUN)
        return Answer(metric.of(documents), _features(documents), _device(documents))
    except PerfLabError as error:
        return Answer(error=type(error).__name__, message=error.message, hint=error.hint or "")


def _features(documents: Documents) -> dict[str, Any]:
    resources, occupancy = documents.profile.resources, documents.profile.occupancy
    return {
        "vgpr_per_thread": resources.vgpr_per_thread if resources else None,
        "lds_bytes": resources.lds_bytes if resources else None,
        "scratch_bytes": resources.scratch_bytes if resources else None,
        "occupancy": occupancy.theoretical if occupancy else None,
    }


def _device(documents: Documents) -> dict[str, Any]:
    origin = documents.profile.provenance
    return {**origin.device.model_dump(), "rocm": origin.rocm}


def main() -> None:
    into, out, folder = sys.argv[1:]
    line = Line(int(into), int(out))
    with contextlib.suppress(KeyboardInterrupt):
        line.write(asdict(_profile(WorkerRequest(**line.read()), Path(folder))))
