"""tests/native/hip/soak.hip, and whether the memory it reports stays level."""

from __future__ import annotations

import math
import os
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from rocm_perf_lab.statistics import student_t95
from support.hip_build import REPOSITORY, hipcc

SOURCE = REPOSITORY / "tests" / "native" / "hip" / "soak.hip"
# The first part of a run fills caches and the list of freed addresses that has names.
WARM_UP = 0.3
FLAT_BYTES_PER_ROUND = 16.0


@dataclass(frozen=True)
class Report:
    rounds: int
    held_kib: int  # resident, with the page tables
    seconds: float


@dataclass(frozen=True)
class Slope:
    bytes_per_round: float
    low: float
    high: float  # the 95 % interval

    @property
    def flat(self) -> bool:
        return self.high < FLAT_BYTES_PER_ROUND


def build(folder: Path) -> tuple[Path, Path]:
    """The program and the code object it loads."""
    program, module = folder / "soak", folder / "soak.co"
    hipcc("-O2", SOURCE, "-o", program)
    hipcc("--genco", SOURCE, "-o", module)
    return program, module


def soak(
    built: tuple[Path, Path],
    rounds: int,
    reports: int,
    kinds: Sequence[str] = (),
    environment: Mapping[str, str] | None = None,
) -> list[Report]:
    program, module = built
    done = subprocess.run(
        [str(program), str(rounds), str(reports), str(module), *kinds],
        env={**os.environ, **(environment or {})},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(f"soak: exit code {done.returncode}\n{done.stdout}{done.stderr}")
    return [
        Report(int(turn), int(held), float(seconds))
        for turn, held, seconds in (line.split() for line in done.stdout.splitlines())
    ]


def slope(reports: Sequence[Report]) -> Slope:
    """Of a straight line through the reports after the warm-up."""
    kept = [report for report in reports if report.rounds > WARM_UP * reports[-1].rounds]
    x = np.array([report.rounds for report in kept], dtype=np.float64)
    y = np.array([report.held_kib * 1024 for report in kept], dtype=np.float64)
    centred = x - x.mean()
    spread = float(centred @ centred)
    rise = float(centred @ y) / spread
    residuals = y - y.mean() - rise * centred
    error = math.sqrt(float(residuals @ residuals) / (len(x) - 2) / spread)
    half = student_t95(len(x) - 2) * error
    return Slope(rise, rise - half, rise + half)
