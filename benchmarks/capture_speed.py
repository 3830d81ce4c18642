"""How fast device memory gets to disk in a capture, against a plain write of as much memory.

    python benchmarks/capture_speed.py [--gigabytes 1] [--out FOLDER]

The program has device memory full of noise (nothing is zero, nothing is twice there) and launches a
kernel that changes one element, or, in a smaller buffer, all of them. The plain rate is one thread
that writes as much noise as the capture holds from memory to a new file in the same folder. Both
count to the moment when the data is on the disk; they take turns, and the best of each counts. The
capture's time is what it adds to the program's own: hashes and the manifest included.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

SOURCE = r"""
#include <hip/hip_runtime.h>
#include <cstdlib>
__global__ void touch_one(unsigned long long* data, size_t count) { data[count / 2] = 1; }
__global__ void touch_all(unsigned long long* data, size_t count) {
  const size_t step = gridDim.x * blockDim.x;
  for (size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += step) data[i] += 1;
}
int main(int, char** words) {
  const size_t count = strtoull(words[1], nullptr, 10) / 8;
  unsigned long long* data;
  if (hipMalloc(&data, count * 8) != hipSuccess) return 1;
  // The host makes the noise: it is quicker at it than a modelled GPU.
  unsigned long long* host = static_cast<unsigned long long*>(malloc(count * 8));
  for (size_t i = 0; i < count; ++i) host[i] = (i + 1) * 0x9e3779b97f4a7c15ull;
  if (hipMemcpy(data, host, count * 8, hipMemcpyHostToDevice) != hipSuccess) return 1;
  free(host);
  if (words[2][0] == 'a') touch_all<<<256, 256>>>(data, count);
  else touch_one<<<1, 1>>>(data, count);
  return hipDeviceSynchronize() != hipSuccess;
}
"""


def plain_seconds(folder: Path, size: int) -> float:
    block = os.urandom(64 << 20)
    path = folder / "plain"
    os.sync()
    started = time.perf_counter()
    with path.open("wb", buffering=0) as file:
        for at in range(0, size, len(block)):
            file.write(block[: size - at])
        os.fsync(file.fileno())
    seconds = time.perf_counter() - started
    path.unlink()
    return seconds


def command(*words: str | Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "rocm_perf_lab", *map(str, words)], capture_output=True, text=True
    )
    if done.returncode:
        sys.exit(done.stderr)


def run(program: Path, *words: str) -> float:
    started = time.perf_counter()
    command("run", "--device", "virtual", program, *words)
    return time.perf_counter() - started


def capture(program: Path, out: Path, *words: str) -> float:
    os.sync()
    started = time.perf_counter()
    to = ("--kernel", "touch", "--out", out)
    command("capture", "--device", "virtual", *to, "--", program, *words)
    os.sync()
    return time.perf_counter() - started


def measure(program: Path, folder: Path, size: int, what: str, rounds: int) -> dict[str, object]:
    plain, added = [], []
    stored = size
    for _ in range(rounds):
        alone = run(program, str(size), what)
        out = folder / "capture"
        added.append(capture(program, out, str(size), what) - alone)
        stored = sum(p.stat().st_size for p in out.rglob("*") if p.is_file())
        shutil.rmtree(out)
        plain.append(plain_seconds(folder, stored))
    return {
        "kernel": f"touch_{what}",
        "device_bytes": size,
        "stored_bytes": stored,
        "plain_gb_per_s": round(stored / min(plain) / 1e9, 3),
        "capture_gb_per_s": round(stored / min(added) / 1e9, 3),
        "ratio": round(min(plain) / min(added), 3),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--gigabytes", type=float, default=1.0)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--out", type=Path, help="a folder on the disk to measure")
    arguments = parser.parse_args()
    size = int(arguments.gigabytes * (1 << 30))
    with tempfile.TemporaryDirectory(dir=arguments.out) as temporary:
        folder = Path(temporary)
        (folder / "program.cpp").write_text(SOURCE)
        command("hipcc", "-O2", folder / "program.cpp", "-o", folder / "program")
        # A whole gigabyte changed takes the virtual GPU long: an eighth of it will do.
        results = [
            measure(folder / "program", folder, size, "one", arguments.rounds),
            measure(folder / "program", folder, size // 8, "all", arguments.rounds),
        ]
    print(json.dumps(results, indent=2))


if __name__ == "__main__":
    main()
