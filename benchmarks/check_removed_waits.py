"""How many waits that a compiler put are missed when they are not there.

    python benchmarks/check_removed_waits.py PROGRAM [ARGUMENT ...]  # minutes

Each is taken out, and `rocm-perf check --tool hazards` run: one of each kernel at a time. Compilers
wait more than they must, so what was not found is listed, to be looked at.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
DEVICE = os.environ.get("ROCM_PERF_DEVICE", "virtual")
sys.path[:0] = [str(ROOT / "src"), str(ROOT / "tests")]

from support.cli import rocm_perf  # noqa: E402
from support.removed_waits import removals, rounds, without  # noqa: E402


def with_findings(program: Path, arguments: Sequence[str]) -> set[str]:
    """Its kernels in which something was found."""
    command = ("check", "--json", "--tool", "hazards", "--device", DEVICE, program)
    done = rocm_perf(*command, "--", *arguments)
    if done.returncode not in (0, 1):
        sys.exit(f"{program}: {done.stderr}")
    findings = json.loads(done.stdout)["findings"]
    return {side["kernel"] for finding in findings for side in finding["sides"]}


def main(program: Path, arguments: Sequence[str]) -> None:
    if with_findings(program, arguments):
        sys.exit("it has findings as it is")
    found, tried = 0, 0
    with tempfile.TemporaryDirectory() as folder:
        for taken_out in rounds(removals(program)):
            changed = without(program, taken_out, Path(folder) / program.name)
            kernels = with_findings(changed, arguments)
            tried += len(taken_out)
            for one in taken_out:
                if one.kernel in kernels:
                    found += 1
                else:
                    where = f"{one.kernel.split('(')[0]} {one.address:#x} {one.instruction}"
                    print(f"not found: {where}: {one.what}", flush=True)
    print(f"{found} of {tried} found")


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    main(Path(sys.argv[1]).resolve(), sys.argv[2:])
