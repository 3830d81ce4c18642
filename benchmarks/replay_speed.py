"""Replay: how fast the write set is put back, against memcpy, and what an iteration costs.

    python benchmarks/replay_speed.py [MEGABYTES]

Needs `make native` and a HIP compiler. The capture is written here: one region that the kernel
writes whole. Rates are the best of several rounds, memcpy and restore in turn.
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from rocm_perf_lab.replay.session import ORIGINAL, ReplaySession
from support.kernel_captures import BASE, Memory, capture_kernel, compile_kernels

SOURCE = """
extern "C" __global__ void fill(unsigned* data, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    data[i] = i | 1u << 31;
}
"""
ROUNDS = 8


def memcpy_rate(size: int) -> float:
    """Bytes per second, both sides touched before."""
    source, target = np.ones(size, dtype=np.uint8), np.ones(size, dtype=np.uint8)
    started = time.perf_counter()
    np.copyto(target, source)
    return size / (time.perf_counter() - started)


def make(folder: Path, size: int) -> Path:
    folder.mkdir(exist_ok=True)
    code = compile_kernels(folder, SOURCE)
    count = size // 4
    before = np.arange(count, dtype="<u4")
    arguments = [BASE.to_bytes(8, "little"), count.to_bytes(4, "little")]
    memory = [Memory(BASE, before.tobytes(), (before | np.uint32(1 << 31)).tobytes())]
    return capture_kernel(
        folder / "capture", code, "fill", arguments, memory, grid=64 * 256, all_written=True
    )


def main() -> None:
    size = int(sys.argv[1] if len(sys.argv) > 1 else 128) << 20
    with tempfile.TemporaryDirectory() as temporary:
        capture = make(Path(temporary), size)
        with ReplaySession(capture) as replay:
            rates: list[tuple[float, float]] = []
            for _ in range(ROUNDS):
                plain = memcpy_rate(size)
                measured = replay.measure_restore(2)
                rates.append((plain, measured["bytes"] / measured["seconds"]))
            plain, restore = (max(column) for column in zip(*rates, strict=True))
            print(f"memcpy            {plain / 1e9:6.2f} GB/s")
            print(f"restore write set {restore / 1e9:6.2f} GB/s  ({restore / plain:.2f} of memcpy)")
            replay.run([ORIGINAL])
            result = replay.run([ORIGINAL] * 5)
        small = make(Path(temporary) / "small", 4096)
        with ReplaySession(small) as replay:
            replay.run([ORIGINAL])
            tiny = replay.run([ORIGINAL] * 200)
    for name, run in (("whole region", result), ("4 kB", tiny)):
        beside = run.wall_s - run.looked_s - sum(sample.wall_s for sample in run.samples)
        print(
            f"per iteration     {1e6 * beside / len(run.samples):8.0f} us beside the kernel: "
            f"restore, launch, compare ({name} written)"
        )
    if restore < plain / 2:
        sys.exit("the write set is restored at less than half of memcpy's rate")


if __name__ == "__main__":
    main()
