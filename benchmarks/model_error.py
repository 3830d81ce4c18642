"""How far the models' kernel times are from the published ones of an MI300A.

    python benchmarks/model_error.py [--times FILE] [--smallest N] [--largest N] [--programs a,b]

Runs the rows of the file, smallest first, on virtual:mi300a and prints measured, modelled and
error of each, then the median and mean absolute error per program. The programs are those of
benchmarks/model_programs/times.cpp. Measured is the fastest of 51 event-timed launches; modelled is
what two events around a warm launch (or sweep) would show. The file is not part of the repository:
--times names it, else ROCM_PERF_TIMES, else ../shared/data/mi300a_times.csv.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "src"), str(ROOT / "tests")]

from rocm_perf_lab.arch.model_error import ERROR_CLASSES, model_errors  # noqa: E402
from rocm_perf_lab.virtual import native  # noqa: E402
from rocm_perf_lab.virtual.rocprofv3.costs import Costs, costs  # noqa: E402
from support.model_probe import build_probe  # noqa: E402

SOURCE = ROOT / "benchmarks" / "model_programs" / "times.cpp"
DEVICE = "virtual:mi300a"
WARM = 2  # launches; the last is taken
PROGRAMS = ("vectoradd", "relu", "fir", "floydwarshall")
COPIES = {"memcopy_h2d": "H2D", "memcopy_d2h": "D2H", "memcopy_d2d": "D2D"}
NAMES = (*PROGRAMS, *COPIES)


@dataclass(frozen=True)
class Row:
    program: str
    size: str
    measured_us: float

    @property
    def number(self) -> int:
        return int(re.match(r"\d+", self.size)[0])  # type: ignore[index]

    @property
    def elements(self) -> int:
        if self.program in COPIES:
            return self.number << 18  # of four bytes
        return self.number**2 if self.program == "floydwarshall" else self.number

    @property
    def arguments(self) -> list[str]:
        taps = re.search(r"taps(\d+)", self.size)
        return [str(self.number), str(WARM), *([taps[1]] if taps else [])]


@dataclass(frozen=True)
class Result:
    program: str
    size: str
    measured_us: float
    modelled_us: float
    kernel_us: float
    seconds: float

    @property
    def error(self) -> float:
        return self.modelled_us / self.measured_us - 1


def rows(path: Path) -> list[Row]:
    with path.open(encoding="utf-8") as text:
        found = [
            Row(row["kernel_name"], row["problem_size"], 1000 * float(row["min_ms"]))
            for row in csv.DictReader(text)
        ]
    return [row for row in found if row.program in NAMES]


def copies_ns(row: Row, costs: Costs) -> int:
    """A sweep changes its matrices in place, so they are copied from the host before each.

    That the copies are within what was timed is an inference: at 8 nodes and at 1024 the published
    sweeps are longer than their launches by what two such copies take, as the published times of
    copies give it.
    """
    if row.program != "floydwarshall":
        return 0
    return 2 * costs.copy_ns("H2D", 4 * row.elements)


def by_events(row: Row, kernel_us: float, costs: Costs) -> float:
    """What an event before and one after would be apart."""
    launches = row.number if row.program == "floydwarshall" else 1
    gaps = (launches - 1) * costs.between_kernels_ns
    around = launches * kernel_us + (gaps + copies_ns(row, costs) + costs.event_pair_ns) / 1000
    return max(costs.event_least_ns / 1000, around)


def copied(row: Row, costs: Costs) -> Result:
    """A copy is not simulated: the timeline gives it a start and a rate."""
    took = costs.copy_ns(COPIES[row.program], row.number << 20)
    around = max(costs.event_least_ns, took + costs.event_pair_ns)
    return Result(row.program, row.size, row.measured_us, around / 1000, took / 1000, 0)


def measure(row: Row, program: Path, probe: Path, costs: Costs) -> Result:
    if row.program in COPIES:
        return copied(row, costs)
    out = probe.parent / "probe.jsonl"
    environment = native.environment(DEVICE, os.environ)
    environment |= {"HSA_TOOLS_LIB": str(probe), "MODEL_PROBE_OUT": str(out)}
    environment["MODEL_PROBE_COUNTERS"] = "0"
    began = time.perf_counter()
    command = [str(program), row.program, *row.arguments]
    subprocess.run(command, env=environment, check=True)
    seconds = time.perf_counter() - began
    last = json.loads(out.read_text().splitlines()[-1])
    kernel = last["duration_ns"] / 1000
    return Result(
        row.program, row.size, row.measured_us, by_events(row, kernel, costs), kernel, seconds
    )


def summary(results: list[Result]) -> dict[str, dict[str, float]]:
    """By program, by class of error, and of all."""
    out = {}
    for name in (*NAMES, *ERROR_CLASSES, "all"):
        errors = [abs(r.error) for r in results if name in (r.program, error_class(r), "all")]
        if errors:
            out[name] = {
                "rows": len(errors),
                "median": statistics.median(errors),
                "mean": statistics.fmean(errors),
                "worst": max(errors),
            }
    return out


def error_class(result: Result) -> str | None:
    """The class of errors.toml that a row speaks for; None: a copy, which is no kernel."""
    if result.program in COPIES:
        return None
    if result.program == "floydwarshall":
        return "many_launches"
    if 1000 * result.kernel_us <= model_errors().launch_floor_ns:
        return "launch_bound"
    return "latency" if result.program == "fir" else "memory"


def main() -> int:
    parser = argparse.ArgumentParser(description="Modelled against published kernel times.")
    default = os.environ.get("ROCM_PERF_TIMES", ROOT.parent / "shared/data/mi300a_times.csv")
    parser.add_argument("--times", type=Path, default=Path(default))
    parser.add_argument("--largest", type=int, default=1 << 20, metavar="ELEMENTS")
    parser.add_argument("--smallest", type=int, default=0, metavar="ELEMENTS")
    parser.add_argument("--programs", default=",".join(NAMES))
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    if not arguments.times.is_file():
        print(f"no published times at {arguments.times}: name them with --times", file=sys.stderr)
        return 4
    wanted = [
        row
        for row in rows(arguments.times)
        if arguments.smallest <= row.elements <= arguments.largest
        and row.program in arguments.programs.split(",")
    ]
    known = costs()
    results = []
    with tempfile.TemporaryDirectory() as name:
        probe = build_probe(Path(name))
        program = Path(name) / "times"
        build = [sys.executable, "-m", "rocm_perf_lab", "hipcc", "-O3", str(SOURCE)]
        subprocess.run([*build, "-o", str(program)], check=True)
        for row in sorted(wanted, key=lambda row: (NAMES.index(row.program), row.elements)):
            result = measure(row, program, probe, known)
            results.append(result)
            if not arguments.json:
                print(
                    f"{result.program:<14} {result.size:>14} {result.measured_us:>11.1f} "
                    f"{result.modelled_us:>11.1f} {result.error:>+7.0%} "
                    f"{result.kernel_us:>9.2f} us {result.seconds:>6.1f} s",
                    flush=True,
                )
    totals = summary(results)
    if arguments.json:
        print(json.dumps({"rows": [asdict(r) for r in results], "summary": totals}, indent=2))
        return 0
    for name, total in totals.items():
        print(
            f"{name:<14} {total['rows']:>3} rows   median {total['median']:.1%}   "
            f"mean {total['mean']:.1%}   worst {total['worst']:.0%}"
        )
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
