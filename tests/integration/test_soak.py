"""Memory comes back: the short form of benchmarks/soak.py."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.hip_build import need_virtual_gpu
from support.soak import Report, build, slope, soak

ROUNDS = 1000


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    need_virtual_gpu()
    return build(tmp_path_factory.mktemp("soak"))


def test_rounds_of_everything_leave_little_behind(built: tuple[Path, Path]) -> None:
    """15 KiB a round once: page tables of freed memory and streams of threads that had ended."""
    first, *_, last = soak(built, ROUNDS, 5)
    grown = (last.held_kib - first.held_kib) / (last.rounds - first.rounds)
    assert grown < 5, f"{grown:.1f} KiB a round"


def test_a_rising_line_is_not_flat() -> None:
    def line(step: float) -> list[Report]:
        noise = (0, 8, -4, 4, -8)
        return [Report(i * 100, int(9000 + step * i + noise[i % 5]), i) for i in range(1, 31)]

    assert slope(line(0)).flat
    assert not slope(line(10)).flat
    found = slope(line(10))
    assert found.low < 10 * 1024 / 100 < found.high
