"""How often the gate errs: the table of docs/optimize.md.

    python benchmarks/gate_error.py [RESAMPLINGS]

Simulated noise of ten kinds, and pairs recorded on a GPU, as they are and resampled (20 times each
unless told). Each experiment is asked as the optimiser asks: after more and more pairs, at the
default settings. The recorded pairs lie outside the repository; without them only the simulated
rows are printed.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from support.noisy_pairs import (
    NOISES,
    RECORDED,
    Recorded,
    experiment,
    recorded_pairs,
    verdict_of,
)

PER_NOISE, GAINS, SEED = 50, 500, 8
SHORT_US, LONG_US = 10.0, 15.0


def row(what: str, verdicts: Iterable[str]) -> None:
    seen = list(verdicts)
    count = seen.count("faster")
    print(f"| {what} | {count} of {len(seen)} | {count / len(seen):.1%} |", flush=True)


def asked(pairs: list[Recorded], resamplings: int) -> list[str]:
    """Every experiment as recorded and resampled; whole pairs are drawn, with replacement."""
    rng = np.random.default_rng(SEED)
    found = []
    for _, _, a, b in pairs:
        found.append(verdict_of(a, b))
        for _ in range(resamplings):
            rows = rng.integers(0, len(a), len(a))
            found.append(verdict_of(a[rows], b[rows]))
    return found


def main() -> None:
    resamplings = int(sys.argv[1]) if len(sys.argv) > 1 else 20
    print("| | accepted | |\n|---|---|---|")
    row(
        "identical, simulated, ten kinds of noise",
        (verdict_of(*experiment(n, s, 1.0)) for n in NOISES for s in range(PER_NOISE)),
    )
    row(
        "5 % faster, simulated, noise of 2 %",
        (verdict_of(*experiment("quiet", s, 1.05)) for s in range(GAINS)),
    )
    if not RECORDED.is_file():
        print(f"{RECORDED.name} is not on this machine", file=sys.stderr)
        return
    every = recorded_pairs()
    same = [p for p in every if p[1] == 1.0]
    short = [p for p in same if np.median(p[2]) < SHORT_US]
    less = [p for p in every if p[1] == 0.95 and np.median(p[2]) > LONG_US]
    groups = {
        f"identical, recorded ({len(same)} experiments)": same,
        f"of these, kernels below {SHORT_US:.0f} us ({len(short)})": short,
        f"5 % less work, recorded, kernels over {LONG_US:.0f} us ({len(less)})": less,
    }
    for what, pairs in groups.items():
        row(f"{what}, as they are", asked(pairs, 0))
        row(f"{what}, and {resamplings} times resampled", asked(pairs, resamplings))


if __name__ == "__main__":
    main()
