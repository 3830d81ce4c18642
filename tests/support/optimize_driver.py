"""`rocm-perf` with two more proposers: `unrolls` unrolls every loop by hand-picked factors,
`catalogue` has every hostile or wrong proposal that is made of whole sources.

Run as a program, so that tests can kill it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib.metadata import EntryPoint
from unittest import mock

from rocm_perf_lab.cli import main as cli
from rocm_perf_lab.optimize.proposal import Context, Proposal
from rocm_perf_lab.optimize.proposers import GROUP
from support.catalogue import HOSTILE, entries

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


class Catalogue:
    """What belongs to the policy, all of it at once."""

    name = "catalogue"

    def propose(self, context: Context) -> Iterator[Proposal]:
        for entry in entries(*HOSTILE):
            if entry.policy == context.policy:
                yield Proposal(entry.source, entry.name, "", context.policy, self.name)

    def repair(
        self, context: Context, failed: Proposal, diagnostics: str, round_number: int
    ) -> Proposal | None:
        return None


def main() -> None:
    ours = [
        EntryPoint(made.name, f"{made.__module__}:{made.__name__}", GROUP)
        for made in (Unrolls, Catalogue)
    ]
    with mock.patch("importlib.metadata.entry_points", lambda group: ours):
        cli.main()


if __name__ == "__main__":
    main()
