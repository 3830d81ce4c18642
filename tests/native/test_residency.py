"""How many workgroups fit: the native function and the Python one are the same function."""

from __future__ import annotations

import random
import subprocess

from rocm_perf_lab.arch import load
from rocm_perf_lab.arch.occupancy import occupancy
from support.native_build import programs

ARCHITECTURES = ("gfx942", "gfx90a")


def cases() -> list[tuple[str, int, int, int, int]]:
    """Every register count and group size by itself, the edges of LDS, and a mixture of all."""
    found = [
        (arch, threads, vgprs, 32, 0)
        for arch in ARCHITECTURES
        for threads in range(32, 1025, 32)
        for vgprs in range(1, 513, 1 if threads in (64, 256, 1024) else 37)
    ]
    found += [(arch, 64, 16, sgprs, 0) for arch in ARCHITECTURES for sgprs in range(113)]
    lds = sorted({65536 // n + d for n in range(1, 40) for d in (-513, -512, -1, 0, 1, 511, 512)})
    found += [
        (arch, threads, 24, 48, bytes_)
        for arch in ARCHITECTURES
        for threads in (64, 65, 256)
        for bytes_ in lds
        if bytes_ >= 0
    ]
    draw = random.Random(5)
    for _ in range(20_000):
        arch = draw.choice(ARCHITECTURES)
        found.append(
            (arch, draw.randint(1, 1024), draw.randint(1, 512), draw.randint(0, 112),
             draw.choice((0, draw.randint(0, 70_000))))
        )  # fmt: skip
    return found


def test_both_say_the_same_over_the_whole_space() -> None:
    asked = cases()
    lines = "\n".join(" ".join(map(str, case)) for case in asked)
    done = subprocess.run(
        [programs() / "residency"], input=lines, capture_output=True, text=True, check=True
    )
    gpus = {name: load.gpu(name) for name in ARCHITECTURES}
    for case, answer in zip(asked, done.stdout.split(), strict=True):
        arch, threads, vgprs, sgprs, lds_bytes = case
        expected = occupancy(
            gpus[arch],
            threads=threads,
            vgprs=vgprs,
            total_vgprs=vgprs,
            sgprs=sgprs,
            lds_bytes=lds_bytes,
        )
        assert (expected.workgroups_per_domain or 0) == int(answer), case
