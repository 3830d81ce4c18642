"""Findings that somebody has looked at and lets pass: a file with a pattern on each line.

A pattern is a regular expression, searched for in `KIND KERNEL SOURCE` of each side (for a finding
without one: of the call). Empty lines and those that begin with # say nothing.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

from rocm_perf_lab.errors import BadInput, UsageError
from rocm_perf_lab.schema.check import Finding


@dataclass
class Suppressions:
    patterns: list[re.Pattern[str]] = field(default_factory=list)

    def match(self, finding: Finding) -> bool:
        lines = _lines(finding)
        return any(pattern.search(line) for pattern in self.patterns for line in lines)


def _lines(finding: Finding) -> list[str]:
    sides = [f"{finding.kind} {side.kernel} {side.source or side.code}" for side in finding.sides]
    called = [f"{finding.kind} {f.function} {f.file}:{f.line}" for f in finding.called if f.file]
    return [*sides, *called] or [finding.kind]


def read(file: Path | None) -> Suppressions:
    if file is None:
        return Suppressions()
    try:
        lines = file.read_text("utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"{file} cannot be read: {error}") from None
    patterns = []
    for number, line in enumerate(lines, 1):
        if not line.strip() or line.startswith("#"):
            continue
        try:
            patterns.append(re.compile(line.strip()))
        except re.error as error:
            raise UsageError(f"{file}, line {number}: no regular expression: {error}") from None
    return Suppressions(patterns)
