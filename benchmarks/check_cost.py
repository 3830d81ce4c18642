"""What `rocm-perf check` costs: processor seconds and memory of programs, checked and not.

    python benchmarks/check_cost.py [--json]      # about a minute on two cores

Each row is one program, run plainly and with each tool; every launch is run. Starting the program
and its host's own work are part of all of them.
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

ROOT = Path(__file__).resolve().parents[1]
RUN = (sys.executable, "-m", "rocm_perf_lab")
# Example, arguments.
PROGRAMS: tuple[tuple[str, list[str]], ...] = (
    ("gemm", ["-n", "512"]),
    ("histogram", ["-n", "20000000"]),
    ("saxpy", ["-n", "30000000"]),
    ("softmax", ["-r", "4096", "-c", "4000"]),
    ("attention", ["-h", "4", "-s", "512"]),
    ("nbody", ["-n", "8192"]),
)
TOOLS = ("memory", "init", "race", "sync", "hazards")


def cost(program: Path, arguments: list[str], tool: str | None) -> dict[str, float]:
    """Of one run: processor seconds, and the most memory it held."""
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "ROCM_PERF_VIRTUAL_REPEATS": "run"}
        if tool is not None:
            environment |= {"ROCM_PERF_CHECK": tool, "ROCM_PERF_CHECK_LOG": folder}
        if tool == "memory":
            environment["ROCM_PERF_VIRTUAL_BOUNDS"] = "report"
        child = subprocess.Popen(
            [*RUN, "run", str(program), *arguments],
            env=environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        _, status, used = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        sys.exit(f"{program.name} ended with {child.returncode}")
    return {"seconds": used.ru_utime + used.ru_stime, "mebibytes": used.ru_maxrss / 1024}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    rows: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as folder:
        for name, arguments in PROGRAMS:
            program = Path(folder) / name
            source = ROOT / "examples" / f"{name}.cpp"
            subprocess.run([*RUN, "hipcc", "-O2", str(source), "-o", str(program)], check=True)
            row: dict[str, Any] = {"program": " ".join([name, *arguments])}
            row["plain"] = cost(program, arguments, None)
            row |= {tool: cost(program, arguments, tool) for tool in TOOLS}
            rows.append(row)
    if options.json:
        print(json.dumps(rows))
        return
    for row in rows:
        plain = row["plain"]
        told = "  ".join(
            f"{tool} {row[tool]['seconds'] / plain['seconds']:.1f}x "
            f"{row[tool]['mebibytes'] / plain['mebibytes']:.1f}x memory"
            for tool in TOOLS
        )
        print(
            f"{row['program']:<28} {plain['seconds']:6.2f} s {plain['mebibytes']:6.0f} MiB  {told}"
        )


if __name__ == "__main__":
    main()
