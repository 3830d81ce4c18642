"""Triton on the virtual GPU: import and first launch, launches a second, tuning 64 configurations.

    python benchmarks/triton_programs.py            # needs Triton (make triton); about a minute

Each number is one process's own; compile caches are new, so that compiling counts.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FIRST = """
import time; start = time.perf_counter()
import triton, triton.language as tl
import rocm_perf_lab.triton as rpt
print("import_s", time.perf_counter() - start)
sys = __import__("sys"); sys.path.insert(0, sys.argv[1])
from vector_add import add
x, y, out = rpt.zeros(1024), rpt.zeros(1024), rpt.empty(1024)
start = time.perf_counter()
add[(1,)](x, y, out, 1024, BLOCK=1024); rpt.synchronize()
print("first_launch_s", time.perf_counter() - start)
count = 2000
start = time.perf_counter()
for _ in range(count):
    add[(1,)](x, y, out, 1024, BLOCK=1024)
rpt.synchronize()
print("launches_per_s", count / (time.perf_counter() - start))
"""
SPACE = {
    "parameters": {
        "BLOCK_M": [32, 64],
        "BLOCK_N": [32, 64],
        "BLOCK_K": [32, 64],
        "num_warps": [2, 4],
        "num_stages": [1, 2],
        "matrix_instr_nonkdim": [16, 32],
    }
}


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        environment = {
            **os.environ,
            "ROCM_PERF_DEVICE": "virtual:mi300x",
            "TRITON_CACHE_DIR": str(folder / "cache"),
            "PYTHONWARNINGS": "ignore",
        }
        (folder / "first.py").write_text(FIRST)
        said = subprocess.run(
            [sys.executable, str(folder / "first.py"), str(ROOT / "examples" / "triton")],
            env=environment, check=True, capture_output=True, text=True,
        )  # fmt: skip
        found = {key: float(value) for key, value in map(str.split, said.stdout.splitlines())}
        (folder / "space.json").write_text(json.dumps(SPACE))
        start, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
        done = subprocess.run(
            [sys.executable, "-m", "rocm_perf_lab", "autotune", "--triton",
             f"{ROOT / 'examples' / 'triton' / 'matmul.py'}:matmul", "--space",
             str(folder / "space.json"), "--device", "virtual", "--json"],
            env=environment, check=True, capture_output=True, text=True,
        )  # fmt: skip
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        tuned = json.loads(done.stdout)
        found["tuning_64_s"] = time.perf_counter() - start
        found["tuning_64_cpu_s"] = (
            after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        )
        found["ruled_out"] = tuned["ruled_out"]
    sys.stdout.write(json.dumps({k: round(v, 3) for k, v in found.items()}, indent=2) + "\n")


if __name__ == "__main__":
    main()
