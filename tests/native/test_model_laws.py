"""The model's sampling: what it knows of all workgroups, and parts of launches against wholes."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from support.native_build import code_object, programs


@dataclass(frozen=True)
class Launch:
    seed: int
    instructions: int
    whole_ns: int
    part_ns: int
    stated: float  # standard error of the part, as a share of its time
    simulated: float

    @property
    def error(self) -> float:
        return abs(self.part_ns / self.whole_ns - 1)


def laws(*words: str | Path) -> str:
    command = [str(programs() / "model_laws"), *map(str, words)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=3600)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr
    return done.stdout


def launches(folder: Path, device: str, arch: str, first: int, count: int) -> list[Launch]:
    lines = laws(device, code_object(folder, arch), str(first), str(count)).splitlines()
    rows = [line.split() for line in lines]
    return [Launch(*map(int, row[:4]), *map(float, row[4:])) for row in rows]


def hold(found: list[Launch], count: int) -> None:
    assert len(found) == count
    sampled = [launch for launch in found if launch.simulated < 1]
    assert len(sampled) > 0.8 * count
    # So small a part is a harder case than any that the limit in use makes.
    far = [launch for launch in sampled if launch.error > 3 * launch.stated + 0.35]
    assert len(far) <= 0.02 * len(sampled)
    assert all(1 / 3 < launch.part_ns / launch.whole_ns < 3 for launch in far)
    beyond = [launch for launch in sampled if launch.error > 3 * launch.stated + 0.05]
    assert len(beyond) < 0.15 * len(sampled)
    assert all(launch.part_ns == launch.whole_ns for launch in found if launch.simulated == 1)


def test_what_is_known_of_workgroups_that_are_not_simulated() -> None:
    laws()


def test_a_part_of_any_launch_is_near_the_whole(tmp_path: Path) -> None:
    hold(launches(tmp_path, "virtual:mi300a", "gfx942", 1000, 50), 50)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("device", "arch"), [("virtual:mi300a", "gfx942"), ("virtual:mi210", "gfx90a")]
)
def test_a_part_of_thousands_of_launches_is_near_the_whole(
    device: str, arch: str, tmp_path: Path
) -> None:
    hold(launches(tmp_path, device, arch, 10_000, 2000), 2000)
