"""What `rocm-perf run --timing model` costs: processor seconds of programs with and without.

    python benchmarks/modelled_time.py [--json]      # about two minutes on two cores

Each row is one program, run once with the emulation's time and once with modelled time; a launch
that repeats another is skipped in both, and simulated only until its time has settled.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
RUN = (sys.executable, "-m", "rocm_perf_lab")
STREAM = ROOT / "tests" / "native" / "hip" / "modelled_benchmark.hip"
# Name, source, arguments.
PROGRAMS = (
    ("stream kernels, 1 launch each", STREAM, ["1"]),
    ("stream kernels, 1,000 launches each", STREAM, ["1000"]),
    ("clocks in kernels", STREAM.with_name("modelled_clocks.hip"), []),
    ("gemm example", ROOT / "examples" / "gemm.cpp", []),
    ("softmax example", ROOT / "examples" / "softmax.cpp", []),
)


def seconds(program: Path, arguments: list[str], timing: str) -> float:
    """Of the processor, this process's children so far subtracted."""
    before = os.times()
    command = [*RUN, "run", "--timing", timing, str(program), *arguments]
    subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
    after = os.times()
    return (
        after.children_user + after.children_system
        - before.children_user - before.children_system
    )  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for index, (name, source, arguments) in enumerate(PROGRAMS):
            program = Path(folder) / str(index)
            flags = ["-O2", "-I", str(STREAM.parent), str(source), "-o", str(program)]
            subprocess.run([*RUN, "hipcc", *flags], check=True)
            emulation, model = (seconds(program, arguments, t) for t in ("emulation", "model"))
            rows.append({"program": name, "emulation_s": emulation, "model_s": model})
    if options.json:
        print(json.dumps(rows))
        return
    for row in rows:
        ratio = row["model_s"] / row["emulation_s"]
        cost = f"{row['emulation_s']:7.2f} s {row['model_s']:7.2f} s {ratio:6.1f} x"
        print(f"{row['program']:36} {cost}")


if __name__ == "__main__":
    main()
