"""How far the models' kernel times are from the published ones of an MI300A.

    python benchmarks/model_error.py [--times FILE] [--smallest N] [--largest N] [--programs a,b]
    python benchmarks/model_error.py --write     # every row and probe; then python docs/generate.py
    python benchmarks/model_error.py --write-probes

`rocm-perf device validate --times FILE` for a part of the rows, with the errors by program and by
class of arch/data/virtual/errors.toml. --write puts the figures there, and the tables into
docs/virtual-model.md. The file is not part of the repository: --times names it, else
ROCM_PERF_TIMES, else ../shared/data/mi300a_times.csv.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from dataclasses import asdict
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ERRORS = "src/rocm_perf_lab/arch/data/virtual/errors.toml"
DEVICES = ("virtual:mi300x", "virtual:mi300a", "virtual:mi210", "virtual:mi250x")
sys.path.insert(0, str(ROOT / "src"))

import model_tables  # noqa: E402
from rocm_perf_lab.cli.device import errors_line  # noqa: E402
from rocm_perf_lab.validate.probes import run_probes  # noqa: E402
from rocm_perf_lab.validate.times import (  # noqa: E402
    NAMES,
    Errors,
    probe_classes,
    rows,
    run_rows,
    summary,
)


def write_probes() -> dict[str, Errors]:
    """The table of probes, written; the errors of the classes that they speak for."""
    compared = {device: run_probes(device) for device in DEVICES}
    page = ROOT / "docs/virtual-model.md"
    page.write_text(model_tables.probes(page.read_text("utf-8"), compared), "utf-8")
    return probe_classes(compared[DEVICES[0]])


def main() -> int:
    parser = argparse.ArgumentParser(description="Modelled against published kernel times.")
    default = os.environ.get("ROCM_PERF_TIMES", ROOT.parent / "shared/data/mi300a_times.csv")
    parser.add_argument("--times", type=Path, default=Path(default))
    parser.add_argument("--largest", type=int, default=1 << 20, metavar="ELEMENTS")
    parser.add_argument("--smallest", type=int, default=0, metavar="ELEMENTS")
    parser.add_argument("--programs", default=",".join(NAMES))
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--write", action="store_true", help="every row, into docs and errors.toml")
    parser.add_argument("--write-probes", action="store_true", help="the table of probes alone")
    arguments = parser.parse_args()
    by_probes = write_probes() if arguments.write or arguments.write_probes else {}
    if arguments.write_probes:
        return 0
    if not arguments.times.is_file():
        print(f"no published times at {arguments.times}: name them with --times", file=sys.stderr)
        return 4
    wanted = [
        row
        for row in rows(arguments.times)
        if arguments.write
        or (
            arguments.smallest <= row.elements <= arguments.largest
            and row.program in arguments.programs.split(",")
        )
    ]
    results = []
    for result in run_rows(wanted):
        results.append(result)
        if not arguments.json:
            print(
                f"{result.program:<14} {result.size:>14} {result.measured_us:>11.1f} "
                f"{result.modelled_us:>11.1f} {result.error:>+7.0%} "
                f"{result.kernel_us:>9.2f} us {result.seconds:>6.1f} s",
                flush=True,
            )
    totals = summary(results) | by_probes
    if arguments.write:
        page, errors = ROOT / "docs/virtual-model.md", ROOT / ERRORS
        page.write_text(model_tables.page(page.read_text("utf-8"), results, totals), "utf-8")
        errors.write_text(model_tables.figures(errors.read_text("utf-8"), totals), "utf-8")
    if arguments.json:
        errors = {name: asdict(total) for name, total in totals.items()}
        print(json.dumps({"rows": [asdict(r) for r in results], "summary": errors}, indent=2))
        return 0
    for name, total in totals.items():
        print(errors_line(name, total))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
