"""What a search is asked for, and how long it may take."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rocm_perf_lab import __version__
from rocm_perf_lab.optimize.attempt import Bar
from rocm_perf_lab.optimize.build import Recipe
from rocm_perf_lab.optimize.program_output import Rule
from rocm_perf_lab.optimize.proposal import Policy
from rocm_perf_lab.optimize.proposers import Wanted
from rocm_perf_lab.optimize.workspace import digest


@dataclass(frozen=True)
class Options:
    program: Path
    arguments: tuple[str, ...]
    sources: tuple[Path, ...]
    recipe: Recipe
    policy: Policy
    kernel: str | None
    max_iterations: int
    budget_s: float
    bar: Bar
    device: str
    output: Rule = field(default_factory=Rule)


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


def settings_of(options: Options, proposer: Wanted, files: Mapping[Path, str]) -> dict[str, Any]:
    """What makes two runs the same search; also the ledger's first entry. `files`: the sources
    and what they include."""
    texts = {str(path): digest(text) for path, text in files.items()}
    program = options.program.resolve()
    return json.loads(  # type: ignore[no-any-return]
        json.dumps(
            {
                "program": str(program),
                "arguments": options.arguments,
                "tool": __version__,
                "sources": {str(path): texts[str(path)] for path in options.sources},
                "order": [str(path) for path in options.sources],
                "files": texts,
                "build": options.recipe.words,
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
