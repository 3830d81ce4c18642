"""What simulating a part of a kernel costs in accuracy and saves in time.

    python benchmarks/sampling_error.py [--groups N] [--steps N] [--device NAME] [shape ...]

Kernels of ten shapes (tests/native/hip/sampled_shapes.hip), each simulated whole and in part: time
modelled, the error of the part, the standard error it was said to have, and processor time.
`--steps`: wave-instructions simulated of the part, by default as many as in use.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "src"))

from rocm_perf_lab.virtual.native import environment, library_dir  # noqa: E402

SHAPES = (
    "uniform growing shrinking rare late early one phases gather stencil"  # as the program has them
).split()
WHOLE = 1 << 40


def profiled(program: Path, shape: str, groups: int, device: str, steps: int) -> dict[str, Any]:
    with tempfile.NamedTemporaryFile(suffix=".jsonl") as out:
        settings = {
            "HSA_TOOLS_LIB": str(library_dir() / "libmodel_probe.so"),
            "MODEL_PROBE_OUT": out.name,
            "MODEL_PROBE_TIME": "1",
            "MODEL_PROBE_COUNTERS": "0",
            **({"MODEL_PROBE_STEPS": str(steps)} if steps else {}),
        }
        words = [str(program), shape, str(groups)]
        subprocess.run(words, env={**environment(device, os.environ), **settings}, check=True)
        found: dict[str, Any] = json.loads(Path(out.name).read_text().splitlines()[-1])
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description="Sampled against whole simulation.")
    parser.add_argument("shapes", nargs="*", metavar="SHAPE", help=" ".join(SHAPES))
    parser.add_argument("--groups", type=int, default=65536)
    parser.add_argument("--steps", type=int, default=0)
    parser.add_argument("--device", default="virtual:mi300x")
    arguments = parser.parse_args()
    architecture = "gfx90a" if arguments.device in ("virtual:mi210", "virtual:mi250x") else "gfx942"
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "shapes"
        source = ROOT / "tests" / "native" / "hip" / "sampled_shapes.hip"
        hipcc = [sys.executable, "-m", "rocm_perf_lab", "hipcc", f"--offload-arch={architecture}"]
        subprocess.run([*hipcc, "-O3", str(source), "-o", str(program)], check=True)
        print(
            f"{'shape':<10} {'whole us':>9} {'part us':>9} {'error':>7} {'stated':>7} {'part':>6}"
        )
        for shape in arguments.shapes or SHAPES:
            job = (program, shape, arguments.groups, arguments.device)
            whole, part = profiled(*job, WHOLE), profiled(*job, arguments.steps)
            print(
                f"{shape:<10} {whole['duration_ns'] / 1e3:>9.1f} {part['duration_ns'] / 1e3:>9.1f} "
                f"{part['duration_ns'] / whole['duration_ns'] - 1:>+7.1%} "
                f"{part['sampling_error']:>7.1%} {part['detailed_fraction']:>6.1%} "
                f"{whole['seconds']:>6.1f} s {part['seconds']:>5.1f} s",
                flush=True,
            )
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
