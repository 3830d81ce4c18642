"""One profile in a process of its own: it can be limited, killed and placed on a GPU.

    python -m rocm_perf_lab.autotune.profile_worker FOLDER

reads FOLDER/request.json, profiles into FOLDER/run and writes FOLDER/answer.json: the metric's
value, or which error there was.
"""

from __future__ import annotations

import json
import sys
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from rocm_perf_lab.autotune.metric import Metric
from rocm_perf_lab.errors import PerfLabError
from rocm_perf_lab.workflow.documents import Documents
from rocm_perf_lab.workflow.profile import Options, profile_program

REQUEST, ANSWER, RUN = "request.json", "answer.json", "run"


@dataclass(frozen=True)
class Request:
    command: list[str]
    metric: str
    counters: list[str]
    timeout_s: float
    device: str


@dataclass(frozen=True)
class Answer:
    value: float | None = None
    features: dict[str, Any] = field(default_factory=dict)
    device: dict[str, Any] = field(default_factory=dict)
    error: str | None = None  # the class of errors.py
    message: str = ""
    hint: str = ""  # with the program's last words


def ask(folder: Path, request: Request) -> list[str]:
    """The command that answers it."""
    (folder / REQUEST).write_text(json.dumps(asdict(request)), "utf-8")
    return [sys.executable, "-m", "rocm_perf_lab.autotune.profile_worker", str(folder)]


def answer(folder: Path) -> Answer | None:
    """None where the worker did not come to its end."""
    try:
        return Answer(**json.loads((folder / ANSWER).read_text("utf-8")))
    except (OSError, ValueError, TypeError):
        return None


def _profile(request: Request, folder: Path) -> Answer:
    program, *arguments = request.command
    metric = Metric(request.metric, profiled=True, counters=tuple(request.counters))
    options = Options(
        program=program,
        arguments=tuple(arguments),
        runs=1,
        counters=bool(metric.counters),
        want=metric.counters,
        timeout_s=request.timeout_s,
        device=request.device,
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


def main(folder: Path) -> int:
    request = Request(**json.loads((folder / REQUEST).read_text("utf-8")))
    try:
        answered = _profile(request, folder)
    except KeyboardInterrupt:
        return 130
    partial = folder / f".{ANSWER}"
    partial.write_text(json.dumps(asdict(answered)), "utf-8")
    partial.replace(folder / ANSWER)
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
