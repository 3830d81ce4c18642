"""What the virtual GPU wrote down of one process that was checked (`native/gpu/check/`).

A process that was killed leaves a log without an end, perhaps with half a line; what is whole
counts, and that it has no end is said.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rocm_perf_lab.errors import BadInput, plain

_MOST_LINES = 1_000_000


@dataclass
class ProcessLog:
    command: str = ""
    ended: bool = False
    findings: list[dict[str, Any]] = field(default_factory=list)
    counts: dict[int, int] = field(default_factory=dict)  # by a finding's id
    launches: list[dict[str, Any]] = field(default_factory=list)
    repeated: dict[str, int] = field(default_factory=dict)  # launches, by kernel
    stacks: dict[int, list[dict[str, Any]]] = field(default_factory=dict)  # by base address
    sizes: dict[int, int] = field(default_factory=dict)
    live: list[int] = field(default_factory=list)
    refused: list[dict[str, Any]] = field(default_factory=list)
    approximate: list[dict[str, Any]] = field(default_factory=list)
    not_covered: list[str] = field(default_factory=list)


def read_logs(folder: Path) -> list[ProcessLog]:
    return [_read(file) for file in sorted(folder.glob("*.log"))]


def _read(file: Path) -> ProcessLog:
    log = ProcessLog()
    for record in _records(file):
        match record["r"]:
            case "process":
                log.command = text(record["command"]).replace("\0", " ").strip()
            case "end":
                log.ended = True
            case "finding":
                log.findings.append(record)
            case "count":
                log.counts[record["id"]] = record["count"]
            case "elsewhere":
                log.not_covered.append(f"{record['count']} more findings, in too many places")
            case "launch":
                log.launches.append(record)
            case "repeated":
                log.repeated[text(record["kernel"])] = record["launches"]
            case "allocation":
                log.stacks[record["base"]] = record["stack"]
                log.sizes[record["base"]] = record["size"]
            case "live":
                log.live.append(record["base"])
            case "refused":
                log.refused.append(record)
            case "approximate":
                log.approximate.append(record)
            case "not_covered":
                log.not_covered.append(text(record["what"]))
    return log


def _records(file: Path) -> Iterator[dict[str, Any]]:
    with file.open(encoding="ascii", errors="replace") as lines:
        for number, line in enumerate(lines):
            if number == _MOST_LINES:
                raise BadInput(f"{file.name}: more than {_MOST_LINES} records")
            if not line.endswith("\n"):
                return
            try:
                record = json.loads(line)
            except json.JSONDecodeError:
                raise BadInput(f"{file.name}: line {number + 1} is no record") from None
            if not isinstance(record, dict) or "r" not in record:
                raise BadInput(f"{file.name}: line {number + 1} is no record")
            yield record


def text(value: str) -> str:
    """Bytes were written as Latin-1; names in them may not steer a terminal."""
    return plain(value.encode("latin-1", "replace").decode("utf-8", "replace").replace("\0", " "))
