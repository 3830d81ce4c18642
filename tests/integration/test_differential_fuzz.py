"""Random kernels leave the same memory on the virtual GPU as the same source does on the host."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.hip_build import build, need_virtual_gpu, run
from support.kernel_fuzzer import program


def check(folder: Path, seeds: list[int], optimise: str) -> None:
    # Contraction would round once where the host rounds twice.
    binary = build(folder, program(seeds), [optimise, "-ffp-contract=off", "-w"])
    done = run(binary)
    differing = [line for line in done.stdout.splitlines() if not line.endswith(" same")]
    assert done.returncode == 0 and not differing, done.stdout + done.stderr


@pytest.mark.parametrize("optimise", ["-O0", "-O3"])
def test_random_kernels(tmp_path: Path, optimise: str) -> None:
    need_virtual_gpu()
    check(tmp_path, list(range(6)), optimise)


@pytest.mark.slow
@pytest.mark.parametrize("batch", range(40))
def test_many_random_kernels(tmp_path: Path, batch: int) -> None:
    need_virtual_gpu()
    seeds = list(range(1000 + batch * 10, 1010 + batch * 10))
    check(tmp_path, seeds, ("-O0", "-O1", "-O2", "-O3")[batch % 4])
