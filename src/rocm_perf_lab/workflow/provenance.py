"""Where a result came from: the tool, the command, the device, the input files."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from rocm_perf_lab import __version__
from rocm_perf_lab.arch.gpu import Gpu
from rocm_perf_lab.schema.common import DeviceInfo, InputFile, Provenance
from rocm_perf_lab.trace.trace import Agent, Source, Trace

_SECRET = re.compile(r"(token|secret|passw|api[-_]?key|credential)", re.IGNORECASE)
_GIVEN = re.compile(_SECRET.pattern + "[^=]*=", re.IGNORECASE)  # --token=, API_KEY=, --env=TOKEN=
_HIDDEN = "***"


def provenance(
    traces: Sequence[Trace],
    agent: Agent | None,
    gpu: Gpu | None,
    started: str | None = None,
    host: str | None = None,
    relative_to: Path | None = None,
    device: DeviceInfo | None = None,
) -> Provenance:
    """`started`, `host` and `device` are of a run made now; old files tell what they tell."""
    virtual = any(trace.virtual for trace in traces)
    chosen = device or DeviceInfo(
        kind="hardware" if traces else "unknown", name=None, architecture=None
    )
    hosts = sorted({p.hostname for t in traces for p in t.processes if p.hostname})
    return Provenance(
        tool_version=__version__,
        command=command_line(),
        started=started,
        host=host or (", ".join(hosts) if hosts else None),
        device=DeviceInfo(
            kind="virtual" if virtual else chosen.kind,
            name=gpu_name(agent, gpu) or chosen.name,
            architecture=(agent.architecture if agent else None)
            or chosen.architecture
            or (gpu.architecture if gpu else None),
        ),
        rocm=next((t.rocm_version for t in traces if t.rocm_version), None),
        inputs=_inputs((s for t in traces for s in t.sources), relative_to),
    )


def command_line() -> list[str]:
    return without_secrets(["rocm-perf", *sys.argv[1:]])


def gpu_name(agent: Agent | None, gpu: Gpu | None) -> str | None:
    recorded = (agent.product_name or agent.model_name) if agent else None
    return recorded or (gpu.product if gpu else None)


def without_secrets(command: Sequence[str]) -> list[str]:
    """The command line with the values of arguments that look like secrets left out."""
    shown: list[str] = []
    hide_next = False
    for argument in command:
        given = _GIVEN.search(argument)
        if hide_next:
            shown.append(_HIDDEN)
            hide_next = False
        elif given:
            shown.append(argument[: given.end()] + _HIDDEN)
        else:
            shown.append(argument)
            hide_next = argument.startswith("-") and bool(_SECRET.search(argument))
    return shown


def _inputs(sources: Iterable[Source], relative_to: Path | None) -> list[InputFile]:
    found = {}
    for source in sources:
        path = source.path
        if relative_to is not None and path.is_relative_to(relative_to):
            path = path.relative_to(relative_to)
        found[str(path)] = InputFile(path=str(path), sha256=source.sha256)
    return [found[path] for path in sorted(found)]
