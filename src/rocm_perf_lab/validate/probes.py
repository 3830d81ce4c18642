"""Latencies, bandwidths, cycles: what a program measures on the model beside published values."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

from rocm_perf_lab import scratch
from rocm_perf_lab.arch.load import parse
from rocm_perf_lab.errors import UsageError
from rocm_perf_lab.validate.build import build, output
from rocm_perf_lab.virtual import native

DEVICES = ("virtual:mi300x", "virtual:mi300a")  # those with published numbers


@dataclass(frozen=True)
class Compared:
    name: str
    words: str
    unit: str
    measured: tuple[float, ...]  # one value, or the least and the most
    modelled: float
    bound: float  # of the error, as a share
    source: str

    @property
    def error(self) -> float:
        """Of the nearest measured value; 0 between the least and the most."""
        low, high = min(self.measured), max(self.measured)
        nearest = min(max(self.modelled, low), high)
        return self.modelled / nearest - 1

    @property
    def ok(self) -> bool:
        return abs(self.error) <= self.bound


@cache
def published() -> dict[str, Any]:
    path = resources.files("rocm_perf_lab.validate") / "published.toml"
    return parse(path.read_text(encoding="utf-8"))


def known(device: str) -> str:
    """The device's whole name; one of which nothing is published is refused."""
    asked = os.environ.get("ROCM_PERF_DEVICE", "") if device in ("", "auto") else device
    name = DEVICES[0] if asked in ("", "auto", "virtual") else asked
    if name not in DEVICES:
        raise UsageError(
            f"there are no published numbers to hold {name} against",
            f"--device is one of {', '.join(DEVICES)}",
        )
    return name


def compare(text: str, device: str) -> list[Compared]:
    """What the probes printed, in the order of published.toml."""
    modelled = {name: float(value) for name, value in map(str.split, text.splitlines())}
    sources = published()["sources"]
    return [
        Compared(
            name,
            entry["words"],
            entry["unit"],
            tuple(entry["measured"]),
            modelled[name],
            entry["bound_percent"] / 100,
            sources[entry["source"]],
        )
        for name, entry in published()["probes"].items()
        if name in modelled and device in entry.get("devices", DEVICES)
    ]


def run_probes(device: str, quick: bool = False) -> Sequence[Compared]:
    environment = native.environment(device, os.environ) | {"ROCM_PERF_VIRTUAL_TIMING": "model"}
    with scratch.folder("rocm-perf-validate-") as folder:
        program = build("probes", folder)
        return compare(output([program, *(["quick"] if quick else [])], environment), device)
