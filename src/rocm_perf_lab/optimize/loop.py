"""The search: propose, try, keep what is proved, until nothing improves or the budget ends."""

from __future__ import annotations

import platform
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from rocm_perf_lab import beneath
from rocm_perf_lab.arch.gpu import Gpu
from rocm_perf_lab.collect.run_folder import write_file
from rocm_perf_lab.errors import BadInput, MissingTool, PerfLabError
from rocm_perf_lab.optimize import baseline, measure, program_output
from rocm_perf_lab.optimize.attempt import Attempt, Best, Outcome
from rocm_perf_lab.optimize.build import Builder, BuildFailed, Built
from rocm_perf_lab.optimize.claims import capture_of, keep_images, kept_launch, taken
from rocm_perf_lab.optimize.context import architecture_of, build_context
from rocm_perf_lab.optimize.further import further, withheld
from rocm_perf_lab.optimize.kernel_source import Located, locate_among
from rocm_perf_lab.optimize.layout import Debug, no_debug
from rocm_perf_lab.optimize.options import Clock, OptimizeOptions, Program
from rocm_perf_lab.optimize.patch import limits, make_patch
from rocm_perf_lab.optimize.program_guard import instructions
from rocm_perf_lab.optimize.program_output import Expected, Rule
from rocm_perf_lab.optimize.proposal import Context, Proposal, Proposer
from rocm_perf_lab.optimize.record import kernel_outcome, measured_before, told
from rocm_perf_lab.optimize.sandbox import Sandbox
from rocm_perf_lab.optimize.speed import measure_on
from rocm_perf_lab.optimize.target import NO_LARGER, Target, make_target, ranked
from rocm_perf_lab.optimize.whole_program import WholeTime, whole_time
from rocm_perf_lab.optimize.workspace import Workspace, digest
from rocm_perf_lab.replay.launches import Launches
from rocm_perf_lab.schema.common import Provenance, to_json
from rocm_perf_lab.schema.optimize import (
    EndToEnd,
    Iteration,
    KernelOutcome,
    OptimizeDocument,
    ProgramOutput,
    Withheld,
)
from rocm_perf_lab.schema.profile import KernelProfile, ProfileDocument
from rocm_perf_lab.schema.prompt import PromptAttempt
from rocm_perf_lab.schema.verification import Claim

Tell = Callable[[str], None]


@dataclass(frozen=True)
class Work:
    """One kernel to improve, in the program as it was."""

    target: Target
    path: Path
    profile: ProfileDocument
    original: Built
    builder: Builder
    before: Before


@dataclass(frozen=True)
class Before:
    """The program as it was, as a whole."""

    time: WholeTime
    output: Expected | None  # None: the user wants no comparison


class Search:
    """One run. Everything it decides is in the ledger before anything rests on it."""

    def __init__(
        self,
        options: OptimizeOptions,
        program: Program,
        proposer: Proposer,
        box: Sandbox,
        space: Workspace,
        tell: Tell,
    ) -> None:
        self.options, self.program, self.proposer = options, program, proposer
        self.box, self.space = box, space
        self._tell, self.clock = tell, Clock(options.budget_s)
        self.iterations: list[Iteration] = []
        self.outcomes: list[KernelOutcome] = []
        self.notes: list[str] = []
        self.claims: list[Claim] = []
        self.withheld: list[Withheld] = []
        self.stopped = "nothing more to try"
        self._gain = 1.0
        self._debug: Debug = no_debug
        self._known = {
            (e.data["symbol"], e.data["base"], e.data["proposed"]): e.data
            for e in space.ledger.entries
            if e.kind == "attempt"
        }

    def tell(self, text: str) -> None:
        best = f"best {self._gain:.2f}x" if self._gain > 1 else "nothing yet"
        self._tell(f"{text} ({best}, {self.clock.text()})")

    # ---- the whole of it

    def run(self) -> OptimizeDocument:
        started = datetime.now(timezone.utc).isoformat(timespec="seconds")
        options, program = self.options, self.program
        sources = tuple(program.sources)
        builder = Builder(program.recipe, self.box, sources, program.architecture)
        self.tell("building the program as it is")
        first = (sources[0], program.sources[sources[0]])
        original = baseline.build(builder, *first, self.space.builds / "original")
        self.tell("profiling it")
        profile = baseline.profile(original, options, self.space.folder, self.tell)
        gpu = baseline.gpu_of(profile)
        self.tell("recording its launches")
        recorded = baseline.launches(original, options, self.tell)
        self._debug = baseline.debug_types(builder, *first, self.space.builds / "debug")
        bests = {path: Best(text, original) for path, text in program.sources.items()}
        before: Before | None = None
        for number, kernel in enumerate(ranked(profile, options.kernel)):
            if self._spent():
                break
            try:
                texts = {path: best.source for path, best in bests.items()}
                place = self._locate(texts, kernel.kernel.name, profile)
                target = self._target(number, kernel, original, recorded, gpu)
            except MissingTool:
                raise
            except PerfLabError as error:
                self._note(f"{kernel.kernel.name} is left alone: {error.message}")
                continue
            if target.plan.blocked:
                self._note(f"{kernel.kernel.name} is left alone: {target.plan.blocked}")
                continue
            before = before or self._before(original.program)
            work = Work(target, place.path, profile, original, builder, before)
            bests[place.path], place = self._improve(work, bests[place.path], place)
            self._look_further(work, place)
        changed = {p: b for p, b in bests.items() if b.source != program.sources[p]}
        final = self._together(builder, changed, before) if before is not None else None
        return self._document(started, profile, changed, before, final)

    def _look_further(self, work: Work, place: Located) -> None:
        name = work.target.name
        try:
            self.withheld += withheld(self._context(work, place, ()), name)
        except PerfLabError as error:
            self._note(f"{name}: what more another policy would try is not known: {error.message}")

    def _target(
        self,
        number: int,
        kernel: KernelProfile,
        original: Built,
        recorded: Launches,
        gpu: Gpu | None,
    ) -> Target:
        target = make_target(
            kernel,
            original,
            self.options.arguments,
            recorded,
            number + 1,
            (
                capture_of(self.space.folder, number + 1),
                self.space.folder / "launches" / str(number + 1),
            ),
            self.options.device,
            gpu,
            self.box,
            self.tell,
            self._debug,
        )
        not_grown = target.family.not_grown
        sizes = [NO_LARGER.format(why) for why in not_grown.values()]
        for note in (*target.plan.notes, *sizes):
            self._note(f"{kernel.kernel.name}: {note}")
        return target

    def _before(self, program: Path) -> Before:
        options, expected = self.options, None
        if options.output.mode != "ignore":
            self.tell("running it twice for its output")
            expected = program_output.expect(self.box, program, options.arguments, options.device)
            for text in expected.masked():
                self._note(f"not compared: {text}")
        return Before(self._whole(program), expected)

    def _output_differs(self, program: Path, before: Before) -> str | None:
        """What the program prints and writes, against the original's."""
        if before.output is None:
            return None
        options = self.options
        try:
            got = program_output.run(self.box, program, options.arguments, options.device)
        except PerfLabError as error:
            return error.message
        return program_output.differs(before.output, got, options.output)

    def _whole(self, program: Path) -> WholeTime:
        return whole_time(self.box, program, self.options.arguments, self.options.device)

    # ---- one kernel

    def _locate(self, texts: Mapping[Path, str], name: str, profile: ProfileDocument) -> Located:
        return locate_among(texts, name, self.program.recipe.flags, architecture_of(profile))

    def _context(self, work: Work, place: Located, attempts: Sequence[PromptAttempt]) -> Context:
        return build_context(
            place,
            kernel=work.target.name,
            profile=work.profile,
            policy=self.options.policy,
            flags=self.program.recipe.flags,
            attempts=attempts,
            seen=work.target.family.seen,
        )

    def _improve(self, work: Work, best: Best, place: Located) -> tuple[Best, Located]:
        """The best of the kernel's file, and where the kernel stands in it."""
        start, target = (best, place), work.target
        attempts: list[PromptAttempt] = []
        accepted: list[Outcome] = []
        tried: set[str] = set()
        while not self._spent():
            context = self._context(work, place, attempts)
            progressed = False
            for proposal in self._proposals(context, tried):
                progressed = True
                outcome = self._tried(work, proposal, context, best)
                attempts.append(told(outcome))
                if outcome.accepted:
                    assert outcome.built is not None
                    accepted.append(outcome)
                    best = Best(outcome.proposal.source, outcome.built)
                    place = self._locate({work.path: best.source}, target.name, work.profile)
                    break
                if self._spent():
                    break
            if not progressed:
                break
        if not accepted:
            self.outcomes.append(kernel_outcome(target, 0, None))
            return start
        try:
            found = self._final(work, best, accepted)
        except PerfLabError as error:
            self._note(f"{target.name}: the result could not be measured: {error.message}")
            found = None
        if found is None or found.gate.verdict != "faster" or found.implausible:
            # Each step was proved, the whole was not: then nothing is.
            self.claims = [c for c in self.claims if c.number != target.number]
            if found is not None:
                self._note(f"{target.name}: dropped, original against result: {found.gate.reason}")
            self.outcomes.append(kernel_outcome(target, 0, None))
            return start
        self.outcomes.append(kernel_outcome(target, len(accepted), found))
        return best, place

    def _proposals(self, context: Context, tried: set[str]) -> Iterator[Proposal]:
        """Each text once: a proposer that repeats itself has nothing more to say."""
        for proposal in self.proposer.propose(context):
            name = digest(proposal.source)
            if name not in tried:
                tried.add(name)
                yield proposal

    def _tried(self, work: Work, proposal: Proposal, context: Context, best: Best) -> Outcome:
        target = work.target
        index = len(self.iterations) + 1
        base, proposed = digest(best.source), digest(proposal.source)
        folder = self.space.builds / f"{index:04d}"
        known = self._known.get((target.symbol, base, proposed))
        if known is not None:
            outcome = self._remembered(proposal, context, known, work.builder, folder)
        else:
            outcome = Attempt(
                proposal, context, self.proposer, target, work.original, best, work.builder, folder,
                self.options.bar,
                lambda stage, title: self.tell(f"{_short(target.name)}: {stage}: {title}"),
            ).run()  # fmt: skip
            if outcome.accepted:
                outcome = self._end_to_end(outcome, work.before)
            self._record(outcome, index, target, base, proposed)
        self.iterations.append(outcome.iteration(index, target.name))
        if outcome.accepted and outcome.measured is not None:
            self._gain *= outcome.measured.gate.speedup
        if not outcome.accepted:
            beneath.remove(folder.parent, folder.name)
        return outcome

    def _end_to_end(self, outcome: Outcome, before: Before) -> Outcome:
        """A kernel that is faster alone may slow others down, or the program may notice."""
        assert outcome.built is not None
        self.tell(f"end_to_end: {outcome.proposal.title}")
        try:
            after = self._whole(outcome.built.program)
        except PerfLabError as error:
            return replace(outcome, stage="end_to_end", reason=error.message)
        if reason := after.worse_than(before.time):
            return replace(outcome, stage="end_to_end", reason=reason)
        self.tell(f"output_check: {outcome.proposal.title}")
        if reason := self._output_differs(outcome.built.program, before):
            return replace(outcome, stage="output_check", reason=reason)
        return outcome

    def _record(
        self, outcome: Outcome, index: int, target: Target, base: str, proposed: str
    ) -> None:
        # A repaired proposal is another text than the one proposed.
        final = self.space.keep_source(outcome.proposal.source)
        iteration = outcome.iteration(index, target.name)
        self.space.ledger.append(
            "attempt",
            {
                "symbol": target.symbol,
                "base": base,
                "proposed": proposed,
                "source": final,
                **iteration.model_dump(mode="json"),
                **outcome.record(),
            },
        )

    def _remembered(
        self,
        proposal: Proposal,
        context: Context,
        known: Mapping[str, Any],
        builder: Builder,
        folder: Path,
    ) -> Outcome:
        """A decision of the run that was interrupted stands; an accepted one is built again."""
        text = self.space.source(known["source"])
        found = replace(proposal, source=text)
        outcome = Outcome(
            found, known["stage"], known["reason"], known["diff"], known["repairs"],
            seconds=known["seconds"], measured=measured_before(known),
        )  # fmt: skip
        if not outcome.accepted:
            return outcome
        try:
            return replace(outcome, built=builder.build(context.path, text, folder))
        except BuildFailed as error:
            raise BadInput(f"what was accepted before no longer builds: {error.reason}") from None

    def _final(self, work: Work, best: Best, accepted: Sequence[Outcome]) -> measure.Measured:
        """The claim: original against final, compared once more on everything, and measured as
        such and not multiplied together."""
        target = work.target
        if len(accepted) > 1:
            self.tell(f"{_short(target.name)}: comparing the result once more")
            changed = target.family.changed(work.original, best.built)
            if reason := target.check(changed, best.built).reason:
                raise BadInput(reason)
        self.tell(f"{_short(target.name)}: measuring the original against the result")
        rules = [o.proposal.provenance.get("rule") for o in accepted]
        rule = max(rules, key=measure.error_of)  # the widest margin one of the changes asks for
        before = work.original.code_of(target.symbol).elf.data
        after = best.built.code_of(target.symbol).elf.data
        bar = self.options.bar
        with target.open_session() as session:
            a, b = session.load(before), session.load(after)
            found = measure_on(session, target.plan, a, b, bar, rule, target.floor_ns)
            timing = session.timing
        hashes = keep_images(self.space.folder, target.number, before, after)
        launches = target.family.of_code(work.original, best.built)
        self.claims.append(
            Claim(
                number=target.number, kernel=target.name, symbol=target.symbol, rule=rule,
                speedup=found.gate.speedup, min_speedup=bar.min_speedup,
                confidence=bar.confidence, floor_ns=target.floor_ns, timing=timing,
                samples_ns=taken(found), file=str(work.path), source=digest(best.source),
                places=(str(work.original.program.parent), str(best.built.program.parent)),
                before=hashes[0], after=hashes[1], capture=hashes[2],
                launches=[kept_launch(each.folder) for each in launches],
                compared=target.family.launches_compared,
            )
        )  # fmt: skip
        return found

    def _together(
        self, builder: Builder, changed: Mapping[Path, Best], before: Before
    ) -> WholeTime | None:
        """How long the program takes with everything that was accepted, which is what a user gets;
        None, and nothing is accepted any more, where it is not what its parts promised."""
        if not changed:
            return None
        self.tell("the result as a whole")
        reason = None
        built = next(iter(changed.values())).built
        try:
            if len(changed) > 1:
                texts = {path: best.source for path, best in changed.items()}
                built = builder.build_all(texts, self.space.builds / "final")
                reason = _other_code(built, changed, self.claims)
            reason = reason or self._output_differs(built.program, before)
            if reason is None:
                after = self._whole(built.program)
                reason = after.worse_than(before.time)
                if reason is None:
                    return after
        except BuildFailed as error:
            reason = f"it does not build: {error.reason}"
        except BadInput as error:
            reason = error.message
        self._note(f"dropped, all changes together: {reason}")
        self.claims = []
        self.outcomes = [
            o.model_copy(update={"accepted": 0, "speedup": None, "launches": None})
            for o in self.outcomes
        ]
        return None

    # ---- bookkeeping

    def _spent(self) -> bool:
        if len(self.iterations) >= self.options.max_iterations:
            self.stopped = f"{self.options.max_iterations} iterations were made"
            return True
        if self.clock.left_s <= 0:
            self.stopped = "the budget is spent"
            return True
        return False

    def _note(self, text: str) -> None:
        if text not in self.notes:
            self.notes.append(text)

    def _document(
        self,
        started: str,
        profile: ProfileDocument,
        changed: Mapping[Path, Best],
        before: Before | None,
        final: WholeTime | None,
    ) -> OptimizeDocument:
        texts = self.program.sources
        changed = changed if final is not None else {}
        patch = "".join(make_patch(p, texts[p], b.source) for p, b in sorted(changed.items()))
        patch = limits(o.launches.holds for o in self.outcomes if o.launches) + patch
        won = [o for o in self.outcomes if o.accepted and o.speedup is not None]
        top = max(won, key=lambda o: o.baseline_ms or 0.0, default=None)
        first = top or (self.outcomes[0] if self.outcomes else None)
        whole = None
        if before is not None and final is not None:
            was = before.time.ms
            whole = EndToEnd(baseline_ms=was, final_ms=final.ms, speedup=was / final.ms)
        claim = {
            "accepted": bool(changed),
            "speedup": top.speedup if top else 1.0,
            "sources": {
                str(p): {"before": self.space.keep_source(texts[p]),
                         "after": self.space.keep_source(b.source)}
                for p, b in changed.items()
            },
            "claims": [c.model_dump(mode="json") for c in self.claims],
        }  # fmt: skip
        device = profile.provenance.device
        document = OptimizeDocument(
            provenance=_provenance(profile, started),
            speedup=(top.speedup or 1.0) if top else 1.0,
            confidence_interval=top.confidence_interval if top else None,
            accepted=bool(changed),
            baseline_ms=first.baseline_ms if first else None,
            final_ms=first.final_ms if first else None,
            iterations=self.iterations,
            patch=patch,
            device=device,
            timing="modelled" if device.kind == "virtual" else "measured",
            program=str(self.program.path),
            source=", ".join(str(path) for path in texts),
            kernels=self.outcomes,
            end_to_end=whole,
            proposer=self.proposer.name,
            policy=self.options.policy,
            further=further(self.withheld),
            min_speedup=self.options.bar.min_speedup,
            confidence=self.options.bar.confidence,
            sandbox=self.box.kind,
            stopped=self.stopped,
            resumed=self.space.resumed,
            ledger=str(self.space.ledger.path),
            ledger_head="",  # of the end, which follows
            notes=self.notes,
            output=_output(self.options.output, before, final is not None),
        )
        write_file(self.space.outcome, to_json(document))
        self.space.ledger.append("end", claim)
        return document.model_copy(update={"ledger_head": self.space.ledger.head})


def _provenance(profile: ProfileDocument, started: str) -> Provenance:
    from rocm_perf_lab.workflow.provenance import command_line

    return profile.provenance.model_copy(
        update={"command": command_line(), "started": started, "host": platform.node()}
    )


def _other_code(built: Built, changed: Mapping[Path, Best], claims: Sequence[Claim]) -> str | None:
    """A kernel whose code in the whole is not the one that was measured, with its file alone
    changed."""
    for claim in claims:
        part = changed[Path(claim.file)].built
        whole, measured = (instructions(b.kernel(claim.symbol).code) for b in (built, part))
        if whole != measured:
            return f"the code of {claim.kernel} is not the one that was measured"
    return None


def _output(rule: Rule, before: Before | None, accepted: bool) -> ProgramOutput | None:
    if before is None:
        return None
    expected = before.output
    return ProgramOutput(
        rule=str(rule),
        agrees=True if accepted and expected is not None else None,
        compared=sorted(expected.first.parts) if expected is not None else [],
        masked=expected.masked() if expected is not None else [],
    )


def _short(name: str) -> str:
    return name.partition("(")[0].removeprefix("void ")[-60:]
