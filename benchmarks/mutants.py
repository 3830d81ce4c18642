"""Is what is accepted right? Wrong kernels made of right ones, through the whole of `optimize`.

    python benchmarks/mutants.py [PROGRAM ...] [--most N] [--keep FOLDER] [--list]

The programs of tests/catalogue/programs hold a slow kernel, with a faster one beside it that does
the same. Of the faster one mutants are made by small edits (tests/support/mutate.py), always the
same, and all of a program's are proposed in one run of the command, the honest one last: so a
refusal is the mutant's fault. An accepted mutant ends its run, and the others go on in another.

Prints how many were refused at which stage, and the edits that were accepted. Exit code 1 where a
mutant was accepted that is not on the list of edits that change nothing (tests/catalogue/
mutants.toml), or where an honest kernel was refused. With --keep an interrupted benchmark goes on
where it stopped.
"""

from __future__ import annotations

import argparse
import contextlib
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from support.mutate import Mutant
from support.mutated_programs import PROGRAMS, Tally, chosen, tally

STAGES = (
    "static_guard", "promise_guard", "compile", "code_guard", "resource_guard", "result_check",
    "gate", "end_to_end", "output_check",
)  # fmt: skip


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("programs", nargs="*", metavar="PROGRAM", default=list(PROGRAMS))
    parser.add_argument("--most", type=int, default=30, help="mutants of each program")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="where runs are kept")
    parser.add_argument("--list", action="store_true", help="only say what would be proposed")
    asked = parser.parse_args()
    if unknown := set(asked.programs) - set(PROGRAMS):
        parser.error(f"no such program: {', '.join(sorted(unknown))}")
    if asked.list:
        for program in asked.programs:
            for mutant in chosen(program, asked.most):
                print(f"{program}: {mutant.name}")
        return 0
    tallies = []
    with _folder(asked.keep) as folder:
        for program in asked.programs:
            started = time.monotonic()
            tallies.append(tally(program, chosen(program, asked.most), folder / program))
            _show(tallies[-1], time.monotonic() - started)
    _sum(tallies)
    return 0 if all(t.sound for t in tallies) else 1


@contextlib.contextmanager
def _folder(kept: Path | None) -> Iterator[Path]:
    if kept is not None:
        kept.mkdir(parents=True, exist_ok=True)
        yield kept.resolve()
    else:
        with tempfile.TemporaryDirectory() as folder:
            yield Path(folder)


def _show(found: Tally, seconds: float) -> None:
    stages = Counter(fate.stage for fate in found.fates if not fate.accepted)
    told = ", ".join(f"{stages[s]} {s}" for s in STAGES if stages[s])
    print(
        f"{found.program:>10}: {len(found.fates)} mutants, refused {told or 'none'}; "
        f"accepted {len(found.accepted)}; honest {found.honest.stage}; {seconds:.0f} s",
        flush=True,
    )
    if not found.honest.accepted:
        print(f"  the honest kernel was refused: {found.honest.reason}")
    for fate in found.accepted:
        print(f"  accepted, {fate.speedup:.2f}x: {fate.title}")
        print(_indented(next(m for m in found.mutants if m.name == fate.title)))


def _indented(mutant: Mutant) -> str:
    return "\n".join(f"    {line}" for line in mutant.text.splitlines())


def _sum(tallies: list[Tally]) -> None:
    fates = [fate for found in tallies for fate in found.fates]
    stages = Counter(fate.stage for fate in fates)
    print(f"\n{len(fates)} mutants of {len(tallies)} kernels")
    for stage in (*STAGES, "accepted"):
        print(f"{stage:>16} {stages[stage]:5}")


if __name__ == "__main__":
    sys.exit(main())
