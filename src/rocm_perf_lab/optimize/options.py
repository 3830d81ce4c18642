"""What `optimize` is asked for, what that stands for here, and how long it may take."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rocm_perf_lab import __version__
from rocm_perf_lab.collect.program import resolve
from rocm_perf_lab.device import discover
from rocm_perf_lab.errors import UsageError
from rocm_perf_lab.optimize.build import Recipe, default_recipe, parse_recipe
from rocm_perf_lab.optimize.find_source import find_source, has_lines
from rocm_perf_lab.optimize.included import own_files
from rocm_perf_lab.optimize.measure import Bar
from rocm_perf_lab.optimize.program_output import Rule
from rocm_perf_lab.optimize.proposal import Policy
from rocm_perf_lab.optimize.proposers import Wanted
from rocm_perf_lab.optimize.workspace import digest


@dataclass(frozen=True)
class OptimizeOptions:
    program: str
    arguments: tuple[str, ...]
    sources: tuple[Path, ...]  # none: they are looked for
    build: str | None
    proposer: Wanted
    policy: Policy
    kernel: str | None
    max_iterations: int
    budget_s: float
    bar: Bar
    apply: bool
    patch: Path | None
    bundle: Path | None
    report: Path | None
    out: Path
    device: str
    sandbox: bool
    output: Rule


@dataclass(frozen=True)
class Program:
    """The program, its texts as they were when the run began, and how it is built."""

    path: Path
    sources: Mapping[Path, str]
    files: Mapping[Path, str]  # the sources and what they include
    recipe: Recipe
    architecture: str


@dataclass
class Clock:
    budget_s: float
    started: float = field(default_factory=time.monotonic)

    @property
    def left_s(self) -> float:
        return self.budget_s - (time.monotonic() - self.started)

    def text(self) -> str:
        left = max(0, int(self.left_s))
        return f"{left // 60}m{left % 60:02d}s left"


def parse_time(text: str) -> float:
    match = re.fullmatch(r"(\d+(?:\.\d+)?)(s|m|h)", text.strip())
    seconds = float(match[1]) * {"s": 1, "m": 60, "h": 3600}[match[2]] if match else 0.0
    if seconds <= 0:
        raise UsageError(f"--budget {text} is not a time", hint="for example 90s, 10m or 2h")
    return seconds


def find_program(options: OptimizeOptions, tell: Callable[[str], None]) -> Program:
    path = Path(resolve(options.program)).resolve()
    sources, how = find_source(path, options.sources)
    tell(f"source: {', '.join(map(str, sources))} ({how})")
    architecture = discover.choose(options.device).architecture
    if options.build:
        recipe = parse_recipe(options.build)
    else:
        recipe = default_recipe(architecture, debug=has_lines(path))
    return Program(path, sources, own_files(sources, recipe.flags), recipe, architecture)


def settings_of(options: OptimizeOptions, program: Program) -> dict[str, Any]:
    """What makes two runs the same search; also the ledger's first entry."""
    texts = {str(path): digest(text) for path, text in program.files.items()}
    proposer = options.proposer
    return json.loads(  # type: ignore[no-any-return]
        json.dumps(
            {
                "program": str(program.path),
                "arguments": options.arguments,
                "tool": __version__,
                "sources": {str(path): texts[str(path)] for path in program.sources},
                "order": [str(path) for path in program.sources],
                "files": texts,
                "build": program.recipe.words,
                "proposer": [proposer.name, proposer.model, proposer.base_url],
                "policy": options.policy,
                "kernel": options.kernel,
                "min_speedup": options.bar.min_speedup,
                "confidence": options.bar.confidence,
                "device": options.device,
                "output": str(options.output),
            }
        )
    )
