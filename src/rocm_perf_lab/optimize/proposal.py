"""What a proposer is asked and what it answers: plain data and one small interface.

A proposer sees a `Context` and yields `Proposal`s, each a whole new text of the one source file.
It is never trusted: what it yields goes through every guard, whoever it is.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from rocm_perf_lab.optimize.promises import Seen, broken
from rocm_perf_lab.schema.prompt import Policy, PromptDocument

MAX_REPAIRS = 3

__all__ = ["MAX_REPAIRS", "Context", "Extent", "Policy", "Proposal", "Proposer"]


@dataclass(frozen=True)
class Extent:
    """Where the kernel's definition stands in the source, as offsets into its UTF-8 bytes."""

    begin: int  # of `template`, or of the first token of the declaration
    body: int  # of the opening brace
    end: int  # past the closing brace

    def text(self, source: str) -> str:
        return source.encode()[self.begin : self.end].decode()

    def splice(self, source: str, kernel: str) -> str:
        data = source.encode()
        return (data[: self.begin] + kernel.encode() + data[self.end :]).decode()


@dataclass(frozen=True)
class Context:
    """Everything a proposer may look at. Only `prompt` may leave the machine."""

    prompt: PromptDocument
    path: Path  # of the source file; proposers do not write to it
    source: str  # its text as it stands: the best accepted so far
    kernel: str  # the function's own name, without namespace and parameters
    extent: Extent
    flags: tuple[str, ...]  # hipcc's compile flags of the build
    architecture: str  # gfx942
    # What the recorded launches have in common; None: they were not recorded.
    seen: Seen | None = None

    def broken_promise(self, source: str) -> str | None:
        """What the kernel in a new text of the file promises that some launch does not keep."""
        if self.seen is None:
            return None
        tail = len(self.source.encode()) - self.extent.end
        data = source.encode()
        after = data[self.extent.begin : len(data) - tail].decode()
        return broken(self.seen, self.kernel, self.extent.text(self.source), after)

    @property
    def policy(self) -> Policy:
        return self.prompt.policy


@dataclass(frozen=True)
class Proposal:
    source: str  # the new text of the whole file
    title: str
    rationale: str
    policy: Policy
    proposer: str
    # Where it came from: the rule and its parameters, or the model and the recorded exchange.
    provenance: Mapping[str, str] = field(default_factory=dict)
    # Floating-point results may differ in the last places; the result check's tolerance decides.
    changes_rounding: bool = False


class Proposer(Protocol):
    @property
    def name(self) -> str: ...

    def propose(self, context: Context) -> Iterable[Proposal]:
        """Proposals for this kernel, best first; none where it has nothing (more) to say.

        Asked again after each accepted proposal and once all of a round were refused:
        `context.prompt.attempts` says what was tried, and what became of it.
        """
        ...

    def repair(
        self, context: Context, failed: Proposal, diagnostics: str, round_number: int
    ) -> Proposal | None:
        """The same idea so that it compiles; None gives it up. `round_number` is 1 to 3."""
        ...
