"""The `rules` proposer: transformations over the syntax tree. No network, no chance."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from rocm_perf_lab.optimize.proposal import Context, Proposal
from rocm_perf_lab.optimize.rules import body, edits, head, unroll
from rocm_perf_lab.optimize.rules.idea import Idea, hot_share
from rocm_perf_lab.optimize.rules.kernel_tree import KernelTree, read_kernel
from rocm_perf_lab.optimize.rules.registers import keeps_occupancy


class RulesProposer:
    name = "rules"

    def propose(self, context: Context) -> Iterable[Proposal]:
        tree = read_kernel(context)
        tried = {attempt.title for attempt in context.prompt.attempts}
        for idea, source in _new_texts(tree, context):
            if idea.title in tried:
                continue
            if idea.rule == "unroll" and not keeps_occupancy(context, source):
                continue
            yield Proposal(
                source=source,
                title=idea.title,
                rationale=idea.rationale,
                policy=context.policy,
                proposer=self.name,
                provenance={"rule": idea.rule, **idea.details},
                changes_rounding=idea.changes_rounding,
            )

    def repair(
        self, context: Context, failed: Proposal, diagnostics: str, round_number: int
    ) -> Proposal | None:
        """A rule has no second idea about the same edit."""
        return None


def ideas_for(context: Context) -> list[Idea]:
    """All that the policy of `context` permits, tried or not."""
    return [idea for idea, _ in _new_texts(read_kernel(context), context)]


def _new_texts(tree: KernelTree, context: Context) -> Iterator[tuple[Idea, str]]:
    """Each idea that makes another text than those before it, and its text."""
    seen = {context.source}
    for idea in _ideas(tree, context):
        source = edits.apply(tree.text, idea.edits).encode("latin-1").decode()
        if source not in seen:
            seen.add(source)
            yield idea, source


def _ideas(tree: KernelTree, context: Context) -> Iterator[Idea]:
    prompt = context.prompt
    if prompt.policy == "unroll":
        yield from unroll.ideas(tree, prompt)
        return
    restrict = head.restrict(tree, context)
    unrolled = list(unroll.ideas(tree, prompt))
    hot = sorted(tree.loops, key=lambda loop: -hot_share(prompt, loop))
    # What helps most often comes first: independent loads, then wider ones.
    if restrict is not None and unrolled:
        yield restrict.joined(unrolled[0])
    for loop in hot:
        yield from body.loop_ideas(tree, loop)
    yield from unrolled
    for idea in (
        restrict,
        head.launch_bounds(tree, context),
        body.padding(tree, prompt),
        body.non_temporal(tree, prompt),
    ):
        if idea is not None:
            yield idea
