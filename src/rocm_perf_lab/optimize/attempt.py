"""One proposal through every stage; the first that objects ends it."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from rocm_perf_lab import beneath
from rocm_perf_lab.errors import PerfLabError
from rocm_perf_lab.optimize import code_guard, promises, reached, result_check, static_guard
from rocm_perf_lab.optimize.build import Builder, BuildFailed, Built
from rocm_perf_lab.optimize.measure import Bar, Measured
from rocm_perf_lab.optimize.patch import make_patch
from rocm_perf_lab.optimize.program_guard import check_program, instructions
from rocm_perf_lab.optimize.proposal import MAX_REPAIRS, Context, Proposal, Proposer
from rocm_perf_lab.optimize.speed import measure_on
from rocm_perf_lab.optimize.target import Target
from rocm_perf_lab.schema.optimize import Interval, Iteration, KernelResources, Stage
from rocm_perf_lab.statistics import Interval as Bounds

_LOG_KEPT = 20_000  # characters of a compiler's output that go into the ledger

Tell = Callable[[Stage, str], None]


@dataclass(frozen=True)
class Best:
    """The best so far: the source as it stands and what it compiles to."""

    source: str
    built: Built


@dataclass(frozen=True)
class Outcome:
    proposal: Proposal
    stage: Stage
    reason: str
    diff: str
    repairs: int = 0
    log: str = ""
    built: Built | None = None
    resources: KernelResources | None = None
    checked: result_check.CheckResult | None = None
    measured: Measured | None = None
    seconds: float = 0.0
    extra: Mapping[str, Any] = field(default_factory=dict)

    @property
    def accepted(self) -> bool:
        return self.stage == "accepted"

    def iteration(self, index: int, kernel: str) -> Iteration:
        gate = self.measured.gate if self.measured else None
        return Iteration.of(
            self,
            index=index,
            kernel=kernel,
            proposal=self.proposal.title,
            rationale=self.proposal.rationale,
            proposer=self.proposal.proposer,
            rule=rule_of(self.proposal),
            decision="accepted" if self.accepted else "refused",
            speedup=gate.speedup if gate else None,
            confidence_interval=finite(gate.interval) if gate else None,
            exact=self.checked.exact if self.checked and not self.checked.reason else None,
            input_sets=[s.name for s in self.checked.sets] if self.checked else [],
            seconds=round(self.seconds, 3),
        )

    def record(self) -> dict[str, Any]:
        """What the ledger keeps beside the iteration: everything a decision rests on."""
        found: dict[str, Any] = {
            "diff": self.diff,
            "provenance": dict(self.proposal.provenance),
            "compiler": self.log[-_LOG_KEPT:],
            "sets": [asdict(s) for s in self.checked.sets] if self.checked else [],
        }
        if self.measured is not None:
            found["samples_ns"] = {
                "a": self.measured.a_ns, "b": self.measured.b_ns,
                "cold_a": self.measured.cold_a_ns, "cold_b": self.measured.cold_b_ns,
            }  # fmt: skip
            found["gate"] = {
                "verdict": self.measured.gate.verdict, "reason": self.measured.gate.reason,
                "modelled": self.measured.gate.modelled,
            }  # fmt: skip
        return found


def finite(interval: Bounds) -> Interval:
    """JSON knows no infinity: an end that is not known is null."""
    low, high = interval
    return (low if low > 0 else None, high if high < math.inf else None)


def rule_of(proposal: Proposal) -> str | None:
    return proposal.provenance.get("rule") or proposal.provenance.get("model")


@dataclass(frozen=True)
class Attempt:
    """One proposal and all it is tried with."""

    proposal: Proposal
    context: Context
    proposer: Proposer
    target: Target
    original: Built
    best: Best
    builder: Builder
    folder: Path
    bar: Bar
    tell: Tell

    def run(self) -> Outcome:
        started = time.monotonic()
        outcome = self._stages()
        return replace(outcome, seconds=time.monotonic() - started)

    def _stages(self) -> Outcome:
        outcome = self._compiled()
        if outcome.built is None:
            return outcome
        built, target = outcome.built, self.target
        symbol, title = target.symbol, outcome.proposal.title

        self.tell("code_guard", title)
        try:
            refused = self._code_refused(built)
        except BuildFailed as error:
            refused = ("code_guard", error.reason)
        except Exception as error:  # whatever a compiled proposal can do to those who read it
            refused = ("code_guard", f"what it compiles to cannot be read: {error}"[:400])
        if refused:
            return replace(outcome, stage=refused[0], reason=refused[1])

        kernel, changed = built.kernel(symbol), target.family.changed(self.original, built)
        launch = (target.gpu, target.threads, target.dynamic_lds_bytes)
        outcome = replace(outcome, resources=code_guard.resources(kernel, *launch))
        if reason := code_guard.check_resources(self.original.kernel(symbol), kernel, *launch):
            return replace(outcome, stage="resource_guard", reason=reason)

        self.tell("result_check", title)
        checked = target.check(changed, built)
        outcome = replace(outcome, checked=checked)
        if checked.reason:
            return replace(outcome, stage="result_check", reason=checked.reason)

        self.tell("gate", title)
        image = built.code_of(symbol).elf.data
        outcome = _gated(outcome, target, self.best, image, self.bar)
        if not outcome.accepted:
            return outcome
        self.tell("result_check", f"{title}: which lines the inputs reach")
        if reason := self._unreached(changed, built, outcome.proposal.source):
            return replace(outcome, stage="result_check", reason=reason)
        return self._built_again(outcome)

    def _unreached(self, changed: Sequence[str], built: Built, text: str) -> str | None:
        """A line that no input of the result check reached, and that is not in both builds. Late,
        because it takes two more builds, and runs of both on everything. None also where that
        cannot be had: on hardware, and where --build does not say where options go."""
        if not self.builder.can_show_lines:
            return None
        path, folder = self.context.path, self.folder.with_name(f"{self.folder.name}-lines")
        sources, lines = [], list[Built]()
        try:
            for name, source in (("before", self.context.source), ("after", text)):
                own = folder / name
                found = self.builder.lines_build(path, source, own)
                if found is None:
                    return f"{reached.UNSEEN}: it does not build for that"
                sources.append(reached.Source(own / path.name, source))
                lines.append(found)
            pieces = self.target.pieces(changed, built, (lines[0], lines[1]))
            return reached.differs(sources[0], sources[1], pieces)
        finally:
            beneath.remove(folder.parent, folder.name)

    def _built_again(self, outcome: Outcome) -> Outcome:
        """Last, because it is wanted of few: the same text must give the same code."""
        assert outcome.built is not None
        texts = {self.context.path: outcome.proposal.source}
        try:
            built = self.builder.built_again(outcome.built, texts, self.folder)
        except BuildFailed as error:
            return replace(outcome, stage="compile", reason=error.reason, log=error.log)
        return replace(outcome, built=built)

    def _code_refused(self, built: Built) -> tuple[Stage, str] | None:
        """What the code says against it before it runs, and at which stage."""
        symbol, family = self.target.symbol, self.target.family
        kernel, previous = built.kernel(symbol), self.best.built.kernel(symbol)
        before, after = self.original.code_of(symbol), built.code_of(symbol)
        if reason := code_guard.check_interface(before, after, symbol):
            return "code_guard", reason
        if reason := check_program(self.best.built.program, built.program, symbol):
            return "code_guard", reason
        if not kernel.code:
            return "code_guard", "the compiler makes no instruction of it"
        if instructions(kernel.code) == instructions(previous.code):
            return "code_guard", "the compiler makes the same instructions of it"
        if reason := family.unchecked(family.changed(self.original, built)):
            return "code_guard", reason
        if reason := promises.bounds_broken(family.launches, family.of(built)):
            return "promise_guard", reason
        return None

    def _compiled(self) -> Outcome:
        """Static guard and compiler; what does not compile may be repaired a few times."""
        context, proposal = self.context, self.proposal
        log = ""
        for repairs in range(MAX_REPAIRS + 1):
            diff = make_patch(context.path, context.source, proposal.source)
            outcome = Outcome(proposal, "static_guard", "", diff, repairs)
            self.tell("static_guard", proposal.title)
            if proposal.source == context.source:
                return replace(outcome, reason="the proposal changes nothing")
            verdict = static_guard.check(context, proposal.source, self.builder.box)
            if verdict.findings:
                return replace(outcome, reason=verdict.reason)
            if reason := context.broken_promise(proposal.source):
                return replace(outcome, stage="promise_guard", reason=reason)
            if verdict.allowed:
                self.tell("compile", proposal.title)
                try:
                    built = self.builder.build(
                        context.path, proposal.source, self.folder, again=False
                    )
                    return replace(outcome, stage="compile", log=built.log, built=built)
                except BuildFailed as error:
                    reason, log = error.reason, error.log
            else:
                reason, log = verdict.reason, "\n".join(verdict.diagnostics)
            outcome = replace(outcome, stage="compile", reason=_first(reason, log), log=log)
            if repairs == MAX_REPAIRS:
                break
            repaired = self.proposer.repair(context, proposal, log, repairs + 1)
            if repaired is None:
                break
            proposal = repaired
        return outcome


def _first(reason: str, log: str) -> str:
    line = next((x.strip() for x in log.splitlines() if "error:" in x), "")
    return f"{reason}: {line}"[:400] if line and line not in reason else reason[:400]


def _gated(outcome: Outcome, target: Target, best: Best, image: bytes, bar: Bar) -> Outcome:
    try:
        with target.open_session() as session:
            a = session.load(best.built.code_of(target.symbol).elf.data)
            b = session.load(image)
            rule = rule_of(outcome.proposal)
            found = measure_on(session, target.plan, a, b, bar, rule, target.floor_ns)
    except PerfLabError as error:
        return replace(outcome, stage="gate", reason=f"it could not be timed: {error.message}")
    outcome = replace(outcome, measured=found)
    if found.gate.verdict != "faster":
        return replace(outcome, stage="gate", reason=f"{found.gate.verdict}: {found.gate.reason}")
    if found.implausible:
        return replace(outcome, stage="gate", reason=f"implausible: {found.implausible}")
    return replace(outcome, stage="accepted", reason=found.gate.reason)
