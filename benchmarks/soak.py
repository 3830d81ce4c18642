"""Does memory come back? A long-lived program's allocations, streams, events, modules, graphs.

    python benchmarks/soak.py [--minutes N | --iterations N] [--reports N] [KIND ...]

A round makes and destroys some of everything (tests/native/hip/soak.hip); a minute stands for 600
of them, ten a second. Prints what the process holds over time, page tables included, and whether
the line is flat: the 95 % interval of its slope after a warm-up lies below 16 bytes a round, which
is half a megabyte in an hour. Exit code 1 where it is not.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from support.soak import FLAT_BYTES_PER_ROUND, WARM_UP, build, slope, soak

ROUNDS_PER_MINUTE = 600


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    length = parser.add_mutually_exclusive_group()
    length.add_argument("--minutes", type=float, default=60.0)
    length.add_argument("--iterations", type=int)
    parser.add_argument("--reports", type=int, default=30)
    parser.add_argument("kinds", nargs="*", metavar="KIND")
    chosen = parser.parse_args()
    rounds = chosen.iterations or int(chosen.minutes * ROUNDS_PER_MINUTE)
    reports = min(chosen.reports, rounds)
    if reports < 10:
        parser.error("a slope takes ten reports or more")
    with tempfile.TemporaryDirectory() as folder:
        lines = soak(build(Path(folder)), rounds, reports, chosen.kinds)
    print(f"{'rounds':>8} {'held MiB':>9} {'seconds':>8}")
    for line in lines:
        print(f"{line.rounds:8} {line.held_kib / 1024:9.2f} {line.seconds:8.1f}")
    found = slope(lines)
    print(
        f"after {WARM_UP:.0%} of the run: {found.bytes_per_round:+.2f} bytes a round "
        f"({found.low:+.2f} to {found.high:+.2f}, 95 %): "
        + ("flat" if found.flat else f"not flat, {FLAT_BYTES_PER_ROUND:.0f} is the bound")
    )
    return 0 if found.flat else 1


if __name__ == "__main__":
    sys.exit(main())
