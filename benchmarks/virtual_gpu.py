"""How fast the virtual GPU is, on this machine.

    python benchmarks/virtual_gpu.py [--json] [--seconds N]

Whole dispatches through loader, launch and scheduler, counters on: wave-instructions per second
and core (processor time, so that a busy machine does not blur it), how they scale over the cores,
the same with caches and time modelled as under a profiler, kernels of sixteen kinds translated to
host code against interpreted in the same run, the start-up of the HSA library, and 1024^3 matrix
products built from examples/gemm.cpp.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "src"), str(ROOT / "tests")]

from rocm_perf_lab.device import translation  # noqa: E402
from rocm_perf_lab.virtual import native  # noqa: E402
from support import native_build  # noqa: E402

KERNELS = ("mixed", "registers", "copy")
KINDS = (
    "mixed", "registers", "hashing", "product", "tiled", "stencil", "bodies", "divisions",
    "divergent", "gather", "counting", "lanes", "matrices", "random", "halves", "copy",
)  # fmt: skip
GROUPS = 512
GOAL = 10e6  # wave-instructions per second and core, mixed kernel
MODEL_GOAL = 3e6  # the same, every instruction of every kernel through the models
MODEL_GROUPS = 256  # few enough that nothing is sampled


def compiled(folder: Path) -> Path:
    toolchain = native_build.device_compiler()
    source = native_build.SOURCES / "speed_kernels.c"
    obj, target = folder / "speed.o", folder / "speed.co"
    flags = ["-target", "amdgcn-amd-amdhsa", "-mcpu=gfx942", "-nogpulib", "-O2", "-Wno-everything"]
    subprocess.run([*toolchain.clang, *flags, "-c", str(source), "-o", str(obj)], check=True)
    subprocess.run([*toolchain.lld, "-shared", str(obj), "-o", str(target)], check=True)
    return target


def speed(
    programs: Path, code: Path, kernel: str, threads: int, seconds: float, models: bool = False
) -> dict[str, Any]:
    groups = MODEL_GROUPS if models else GROUPS
    words = ["virtual:mi300x", str(code), kernel, str(groups), str(seconds)]
    words += ["models"] * models
    done = subprocess.run(
        [str(programs / "gpu_speed"), *words],
        env={**os.environ, "ROCM_PERF_VIRTUAL_THREADS": str(threads)},
        capture_output=True,
        text=True,
        check=True,
    )
    measured: dict[str, Any] = json.loads(done.stdout)
    return {
        "kernel": kernel,
        "threads": threads,
        "detailed": measured["detailed"] if models else None,
        "per_core": measured["wave_instructions"] / measured["cpu_seconds"],
        "per_second": measured["wave_instructions"] / measured["seconds"],
    }


def translated(
    programs: Path, code: Path, kernel: str, seconds: float, folder: Path
) -> dict[str, Any]:
    """The kernel interpreted and as host code: instructions per second of processor time."""
    words = ["virtual:mi300x", str(code), kernel, str(GROUPS), str(seconds)]
    given = {**os.environ, "ROCM_PERF_CACHE_DIR": str(folder), "ROCM_PERF_VIRTUAL_THREADS": "1"}
    given |= translation.environment(given)
    found: dict[str, dict[str, Any]] = {}
    for wish in ("off", "always"):
        begun = time.perf_counter()
        done = subprocess.run(
            [str(programs / "gpu_speed"), *words],
            env={**given, translation.WISH: wish},
            capture_output=True,
            text=True,
            check=True,
        )
        found[wish] = json.loads(done.stdout)
        found[wish]["begin"] = time.perf_counter() - begun - found[wish]["seconds"]
    if found["off"]["left"] != found["always"]["left"]:
        raise SystemExit(f"{kernel}: translated, it leaves something else")
    speeds = [f["wave_instructions"] / f["cpu_seconds"] for f in found.values()]
    return {
        "kernel": kernel,
        "interpreted": speeds[0],
        "translated": speeds[1],
        "ratio": speeds[1] / speeds[0],
        "translating_s": found["always"]["begin"] - found["off"]["begin"],
    }


def start_up_ms(programs: Path) -> float:
    """The shortest hsa_init of five processes."""
    times = []
    for _ in range(5):
        out = subprocess.run(
            [str(programs / "hsa_runtime"), "start_up"], capture_output=True, text=True, check=True
        ).stdout
        found = re.search(r"start-up ([\d.]+) ms", out)
        assert found is not None
        times.append(float(found[1]))
    return min(times)


def gemm_seconds(folder: Path, size: int) -> dict[str, float] | None:
    """Seconds of the three products of examples/gemm.cpp, or None where it cannot be built."""
    rocm_perf = [sys.executable, "-m", "rocm_perf_lab"]
    program = folder / "gemm"
    source = ROOT / "examples" / "gemm.cpp"
    build = [*rocm_perf, "hipcc", "-O3", str(source), "-o", str(program)]
    if subprocess.run(build, check=False).returncode:
        return None
    times = {}
    environment = native.environment("virtual:mi300x", os.environ)
    environment["ROCM_PERF_VIRTUAL_REPEATS"] = "run"
    for variant in ("naive", "tiled", "mfma"):
        start = time.perf_counter()
        done = subprocess.run(
            [str(program), "-n", str(size), "-k", variant],
            env=environment,
            capture_output=True,
            check=False,
        )
        if done.returncode == 0:
            times[variant] = time.perf_counter() - start
    return times


def main() -> int:
    parser = argparse.ArgumentParser(description="Speed of the virtual GPU on this machine.")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--seconds", type=float, default=3.0, help="per measurement")
    parser.add_argument("--gemm", type=int, default=1024, metavar="N", help="0: leave it out")
    arguments = parser.parse_args()
    programs = native_build.programs()
    cores = os.cpu_count() or 1
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        code = compiled(folder)
        rows = [
            speed(programs, code, kernel, threads, arguments.seconds)
            for kernel in KERNELS
            for threads in dict.fromkeys((1, cores))
        ]
        modelled = [
            speed(programs, code, kernel, 1, arguments.seconds, models=True) for kernel in KERNELS
        ]
        hot = [translated(programs, code, kind, arguments.seconds, folder) for kind in KINDS]
        result = {
            "modelled": modelled,
            "translated": hot,
            "translated_geometric_mean": statistics.geometric_mean(row["ratio"] for row in hot),
            "start_up_ms": start_up_ms(programs),
            "kernels": rows,
            "gemm_seconds": gemm_seconds(folder, arguments.gemm) if arguments.gemm else None,
        }
    if arguments.json:
        print(json.dumps(result, indent=2))
        return 0
    print(f"start-up of the HSA library   {result['start_up_ms']:.2f} ms")
    for row in rows:
        print(
            f"{row['kernel']:<10} {row['threads']:>3} threads   "
            f"{row['per_core'] / 1e6:7.1f} M wave-instructions/s per core   "
            f"{row['per_second'] / 1e6:7.1f} M/s in all"
        )
    for row in modelled:
        print(
            f"{row['kernel']:<10} modelled      "
            f"{row['per_core'] / 1e6:7.1f} M wave-instructions/s per core   "
            f"{row['detailed']:.0%} in detail"
        )
    for row in hot:
        speeds = f"{row['interpreted'] / 1e6:7.1f}, translated {row['translated'] / 1e6:7.1f}"
        after = f"after {row['translating_s']:.1f} s"
        print(f"{row['kernel']:<10} interpreted {speeds} M/s: {row['ratio']:.2f}x, {after}")
    print(f"translated, geometric mean    {result['translated_geometric_mean']:.2f}x")
    for variant, seconds in (result["gemm_seconds"] or {}).items():
        print(f"gemm {variant:<6} {arguments.gemm}^3   {seconds:.2f} s, start to end")
    mixed = next(row for row in rows if row["kernel"] == "mixed")
    met = all(row["per_core"] >= MODEL_GOAL for row in modelled)
    return 0 if met and mixed["per_core"] >= GOAL else 1


if __name__ == "__main__":
    raise SystemExit(main())
