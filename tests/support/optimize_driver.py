"""`rocm-perf` with one more proposer, `unrolls`: unrolls every loop by hand-picked factors.

Run as a program, so that tests can kill it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from rocm_perf_lab.cli import main as cli
from rocm_perf_lab.optimize import run
from rocm_perf_lab.optimize.proposal import Context, Proposal, Proposer
from rocm_perf_lab.optimize.proposers import Wanted

WRONG = "leave half of it out"


class Unrolls:
    name = "unrolls"

    def propose(self, context: Context) -> Iterator[Proposal]:
        kernel = context.extent.text(context.source)
        if "#pragma unroll" in kernel:
            return
        yield self._proposal(context, WRONG, kernel.replace("c < columns;", "c < columns / 2;"))
        for factor in (4, 2):
            text = re.sub(r"(?m)^(\s*)for ", rf"#pragma unroll {factor}\n\1for ", kernel)
            yield self._proposal(context, f"unroll by {factor}", text)

    def _proposal(self, context: Context, title: str, kernel: str) -> Proposal:
        source = context.extent.splice(context.source, kernel)
        return Proposal(source, title, "", context.policy, self.name, {"rule": "unroll"})

    def repair(
        self, context: Context, failed: Proposal, diagnostics: str, round_number: int
    ) -> Proposal | None:
        return None


def main() -> None:
    usual = run.make_proposer

    def make(wanted: Wanted, *more: object) -> Proposer:
        return Unrolls() if wanted.name == "unrolls" else usual(wanted, *more)  # type: ignore[arg-type]

    run.make_proposer = make  # type: ignore[assignment]
    cli.main()


if __name__ == "__main__":
    main()
