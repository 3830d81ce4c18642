"""Where a program is to run: on the machine's ROCm, or on a virtual GPU."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from rocm_perf_lab.errors import MissingTool, UsageError


@dataclass(frozen=True)
class Target:
    kind: Literal["hardware", "virtual"]
    name: str
    profiler: tuple[str, ...] | None = None  # None: the installed rocprofv3
    environment: Mapping[str, str] = field(default_factory=dict)


def choose(name: str, profiled: bool = True) -> Target:
    """`auto`, `rocm`, `virtual`, or a virtual GPU by name."""
    if name in ("auto", "rocm"):
        return Target("hardware", "rocm")
    if name == "virtual" or name.startswith("virtual:"):
        raise MissingTool(
            f"{name}: this version cannot profile on a virtual GPU",
            hint="use --device rocm on a machine with ROCm",
        )
    raise UsageError(
        f"no such device: {name}", hint="use auto, rocm, virtual, or a name like virtual:mi300x"
    )
